"""The search for programs that also serve smaller sizes than their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .errors import CloptError
from .messages.open_dimensions import OpenModelError
from .size_range import SizeRange
from .static_compilation import StaticCompilation

_ANY = SizeRange()


@dataclass(frozen=True)
class LargerSizes:
    """The sizes of a program whose results contain those for smaller sizes."""

    dims: Mapping[str, int]
    shapes: Mapping[str, Sequence[int]]
    """The shapes of the outputs for the smaller sizes."""


class LargerSizesSearch:
    """Rounds sizes up where the results for the larger sizes contain the wanted ones."""

    def __init__(self, ranges: Mapping[str, SizeRange]) -> None:
        self._ranges = ranges
        self._exact: set[str] = set()
        """The dimensions that no proof could round up; it is not tried again."""
        self._found: dict[tuple[tuple[str, int], ...], LargerSizes | None] = {}

    def check(self, dims: Mapping[str, int]) -> None:
        """Raise CloptError for a size outside of its range."""
        for name, size in dims.items():
            if name in self._ranges:
                self._ranges[name].check(name, size)

    def find(self, compilation: StaticCompilation, dims: Mapping[str, int]) -> LargerSizes | None:
        """Return the rounded sizes for the open dimensions of a model; None for the sizes alone.

        Raises OpenModelError if values of inputs decide shapes.
        """
        key = tuple(dims.items())
        if key not in self._found:
            self._found[key] = self._search(compilation, dims)
        return self._found[key]

    def keep_exact(self, dims: Mapping[str, int]) -> None:
        """Return None for these sizes from now on."""
        self._found[tuple(dims.items())] = None

    def _search(
        self, compilation: StaticCompilation, dims: Mapping[str, int]
    ) -> LargerSizes | None:
        exact = compilation.bound(dims, {})
        rounded = {n: self._ranges.get(n, _ANY).rounded(size) for n, size in dims.items()}
        names = [name for name in dims if rounded[name] != dims[name] and name not in self._exact]

        def proved(names: Sequence[str]) -> LargerSizes | None:
            larger = {**dims, **{name: rounded[name] for name in names}}
            try:
                shapes = exact.shapes_within(larger)
            except OpenModelError:
                raise
            except CloptError:  # the larger sizes are not possible
                return None
            return None if shapes is None else LargerSizes(larger, shapes)

        if names and (found := proved(names)):
            return found
        possible = [name for name in names if len(names) > 1 and proved([name])]
        self._exact.update(set(names) - set(possible))
        while possible:
            if found := proved(possible):
                return found
            possible.pop()
        return None
