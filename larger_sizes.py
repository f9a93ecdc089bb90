"""The search for programs that also serve smaller sizes than their own."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TypeAlias

from .errors import CloptError
from .messages.open_dimensions import OpenModelError
from .restriction import Change, Restriction, changes_text
from .size_range import SizeRange
from .static_compilation import StaticCompilation
from .tensor_info import TensorInfo

_ANY = SizeRange()

_CLOSE_SHARES = 16
"""An image in such steps takes 13 % more work than its own at most, along each axis."""
_SEQUENCE_SHARES = 4
"""A program of fewer tokens leaves out work-items, but each of the others visits all tokens."""

_Sizes: TypeAlias = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class LargerSizes:
    """The sizes and changes of a program whose results contain those for smaller sizes."""

    dims: Mapping[str, int]
    restriction: Restriction
    value: int | None
    """The value of the ranged dimension for which fewer work-items suffice; None if all are needed.
    """

    @cached_property
    def key(self) -> Hashable:
        """The program among those of a model; one without changes is the one for its sizes."""
        changes = self.restriction.changes
        return tuple(self.dims.items()), changes_text(changes) if changes else ()


class LargerSizesSearch:
    """Rounds sizes up where the results for the larger sizes contain the wanted ones."""

    def __init__(self, ranges: Mapping[str, SizeRange], inputs: Sequence[TensorInfo]) -> None:
        self._ranges = ranges
        self._inputs = inputs
        self._exact: set[str] = set()
        """The dimensions that no proof could round up; it is not tried again."""
        self._changes: dict[_Sizes, Sequence[Change] | None] = {}
        """The changes of the program for each set of rounded sizes; None if there is no proof."""
        self._found: dict[_Sizes, LargerSizes | None] = {}
        self._whole: tuple[_Sizes, StaticCompilation] | None = None
        """The last rounded sizes; their network is imported once for the proofs of many sizes."""

    def check(self, dims: Mapping[str, int]) -> None:
        """Raise CloptError for a size outside of its range."""
        for name, size in dims.items():
            if name in self._ranges:
                self._ranges[name].check(name, size)

    def ranged(self, dims: Mapping[str, int]) -> tuple[str, int] | None:
        """Return the dimension whose smaller values take fewer work-items, and the least of them.

        The least is the smallest size that is rounded up to that in `dims`.
        """
        name = self._outermost(dims)
        if name is None:
            return None
        sizes = self._ranges.get(name, _ANY)
        return name, sizes.least_rounded(dims[name], self._shares(name, dims))

    def _outermost(self, dims: Mapping[str, int]) -> str | None:
        """Return the outermost dimension above 1."""
        for port in self._inputs:
            sizes = zip(port.symbols, port.shape_at(dims), strict=False)
            name = next((name for name, size in sizes if size != 1), "")
            if name and dims[name] > 1:
                return name
        return None

    def find(self, compilation: StaticCompilation, dims: Mapping[str, int]) -> LargerSizes | None:
        """Return the rounded sizes for the open dimensions of a model; None for the sizes alone.

        Raises OpenModelError if values of inputs decide shapes.
        """
        key = tuple(dims.items())
        if key not in self._found:
            exact = compilation.bound(dims, {})
            found = self._search(compilation, exact, dims)
            if found is None and compilation.options.in_place:
                found = LargerSizes(dims, exact.alone(), None)
            self._found[key] = found
        return self._found[key]

    def key(self, dims: Mapping[str, int], larger: LargerSizes | None) -> Hashable:
        """Return the key of the program for what `find` returned."""
        return (tuple(dims.items()), ()) if larger is None else larger.key

    def program(
        self, compilation: StaticCompilation, dims: Mapping[str, int], larger: LargerSizes | None
    ) -> StaticCompilation:
        """Return the compilation of the program for what `find` returned."""
        if larger is None:
            return compilation.bound(dims, {}, self.ranged(dims))
        ranged, changes = self.ranged(larger.dims), larger.restriction.changes
        return compilation.bound(larger.dims, {}, ranged, changes)

    def keep_exact(self, dims: Mapping[str, int]) -> None:
        """Return None for these sizes from now on."""
        self._found[tuple(dims.items())] = None

    def _shares(self, name: str, dims: Mapping[str, int]) -> int:
        """Return into how many shares powers of two are divided for the sizes of a dimension."""
        if name != self._outermost(dims):
            return _CLOSE_SHARES
        is_batch = any(port.symbols[:1] == (name,) for port in self._inputs)
        return 1 if is_batch else _SEQUENCE_SHARES

    def _search(
        self, compilation: StaticCompilation, exact: StaticCompilation, dims: Mapping[str, int]
    ) -> LargerSizes | None:
        """Return larger sizes that a proof allows; `exact` is the compilation for `dims`."""
        rounded = {
            name: self._ranges.get(name, _ANY).rounded(size, self._shares(name, dims))
            for name, size in dims.items()
        }
        # A program for all lengths of a cache, whose memory they share.
        room = exact.room_left().items()
        rounded |= {name: dims[name] + left for name, left in room if name in dims}
        names = [name for name in dims if rounded[name] > 1 and name not in self._exact]
        if not names:
            return None

        @cache
        def proved(*names: str) -> LargerSizes | None:
            larger = {**dims, **{name: rounded[name] for name in names}}
            try:
                return self._proved(exact, self._whole_for(compilation, larger), larger, names)
            except OpenModelError:
                raise
            except CloptError:  # the larger sizes are not possible
                return None

        if found := proved(*names):
            return found
        possible = [name for name in names if proved(name)]
        for name in names:
            # A size may be special, such as 1, while others can be rounded up.
            if self._changes[tuple({**dims, name: rounded[name]}.items())] is None:
                self._exact.add(name)
        while possible:
            if found := proved(*possible):
                return found
            possible.pop()
        return None

    def _whole_for(
        self, compilation: StaticCompilation, larger: Mapping[str, int]
    ) -> StaticCompilation:
        key = tuple(larger.items())
        if self._whole is None or self._whole[0] != key:
            self._whole = key, compilation.bound(larger, {})
        return self._whole[1]

    def _proved(
        self,
        exact: StaticCompilation,
        whole: StaticCompilation,
        larger: Mapping[str, int],
        names: Sequence[str],
    ) -> LargerSizes | None:
        """Return a restriction to the sizes of a program for larger ones, shared if possible."""
        key = tuple(larger.items())
        if key not in self._changes:
            self._changes[key] = self._typical_changes(whole, names)
        changes = self._changes[key]
        found = None if changes is None else exact.restriction(whole, changes)
        # Sizes with changes of their own have a program of their own.
        found = found or exact.restriction(whole, None)
        if found is None:
            return None
        return LargerSizes(larger, found, self._value(found, exact.options.dims or {}, larger))

    def _value(
        self, restriction: Restriction, dims: Mapping[str, int], larger: Mapping[str, int]
    ) -> int | None:
        """Return the smaller value of the ranged dimension, if all masks are those for it."""
        name = self._outermost(larger)
        if name is None or dims[name] == larger[name]:
            return None
        is_known = restriction.masks_end_at(dims[name], larger[name])
        return dims[name] if is_known else None

    @staticmethod
    def _typical_changes(whole: StaticCompilation, names: Sequence[str]) -> Sequence[Change] | None:
        """Return the changes for sizes that differ from larger ones as much as possible.

        Other sizes need the same or fewer changes. Return None if these sizes are impossible.
        """
        larger = whole.options.dims or {}
        typical = {**larger, **{name: larger[name] // 2 + 1 for name in names}}
        try:
            found = whole.bound(typical, {}).restriction(whole, None)
        except OpenModelError:
            raise
        except CloptError:
            return None
        return None if found is None else found.changes
