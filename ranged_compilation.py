"""The compilation of a model for all sizes of its ranges."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

from .compiled_model import CompiledModel
from .errors import CacheSizeError, CloptError
from .larger_sizes import LargerSizes, LargerSizesSearch
from .open_model import symbols_of
from .ranged_model import RangedModel
from .size_range import SizeRange
from .size_table import ServedSizes, Sizes, SizeTable
from .static_compilation import StaticCompilation
from .tensor_info import TensorInfo
from .weights import Weights

MOST_SIZES = 2048
"""Each set of sizes takes a proof of .05 to .3 s."""

_MOST_BYTES = 256 << 20


@dataclass(frozen=True)
class RangedCompilation:
    """The arguments of a compilation for all sizes of ranges."""

    compilation: StaticCompilation
    search: LargerSizesSearch
    inputs: Sequence[TensorInfo]
    outputs: Sequence[TensorInfo]
    ranges: Mapping[str, SizeRange]
    compile: Callable[[Hashable, StaticCompilation], CompiledModel]
    """Returns the program for a compilation, which it may have under a key."""

    def run(self) -> RangedModel:
        """Return the model; raise CloptError if it has too many sizes or programs."""
        ranges = {name: self._range(name) for name in symbols_of(self.inputs)}
        weights, rows = Weights(), dict[Sizes, ServedSizes]()
        programs: dict[Hashable, StaticCompilation] = {}
        for sizes in _all_sizes(ranges):
            dims = dict(zip(ranges, sizes, strict=True))
            try:
                larger = self.search.find(self.compilation, dims)
            except CacheSizeError:  # a cache of this size has no room for a further element
                continue
            key = self.search.key(dims, larger)
            if key not in programs:
                programs[key] = self.search.program(self.compilation, dims, larger)
            rows[sizes] = _row([*programs].index(key), larger, weights)
        _check(weights)
        made = [partial(self.compile, *each) for each in programs.items()]
        arrays = {key: weights.get(key) for key in weights.keys()}
        return RangedModel(SizeTable(self.inputs, self.outputs, ranges, rows, arrays), made)

    def _range(self, name: str) -> SizeRange:
        """Return the range of a dimension; raise CloptError if it has no end."""
        found = self.ranges.get(name)
        if found is None or found.most is None:
            dims = json.dumps({name: (1, 64)}).replace("[", "(").replace("]", ")")
            raise CloptError(
                f"A model is saved for sizes up to the largest one; compile it with dims={dims}, "
                "or with fixed sizes."
            )
        return found


def _all_sizes(ranges: Mapping[str, SizeRange]) -> Iterator[Sizes]:
    """Return all sets of sizes, the largest first."""
    counts = [range(each.most or 0, each.least - 1, -1) for each in ranges.values()]
    if (number := math.prod(map(len, counts))) > MOST_SIZES:
        raise CloptError(
            f"The ranges have {number} sets of sizes, and a saved model has at most {MOST_SIZES}; "
            "narrow them, or fix a size."
        )
    return product(*counts)


def _row(program: int, larger: LargerSizes | None, weights: Weights) -> ServedSizes:
    if larger is None:
        return ServedSizes(program)
    arrays = tuple(map(weights.add, larger.restriction.arrays))
    return ServedSizes(program, larger.value, larger.restriction.shapes, arrays)


def _check(weights: Weights) -> None:
    """Raise CloptError for arrays that are too large."""
    size = sum(weights.get(key).nbytes for key in weights.keys())
    if size > _MOST_BYTES:
        raise CloptError(
            f"Arrays that depend on the sizes take {size >> 20} MiB, and a saved model has at most "
            f"{_MOST_BYTES >> 20} MiB; narrow the ranges."
        )
