"""The tensors and constants of a `vta.binary` by name, and their places in a core's memory."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .arguments import ARENA
from .attributes import KINDS, DramKind
from .config import Config
from .stream_file import UOPS_SYMBOL, Symbol, side_by_side

if TYPE_CHECKING:
    from .binary import BinaryOp

WEIGHTS = "weights"
BIASES = "biases"
UOPS = UOPS_SYMBOL
_KINDS = {WEIGHTS: DramKind.WGT, BIASES: DramKind.ACC, UOPS: DramKind.UOP}


def tensor_names(op: BinaryOp) -> list[str]:
    """`input0`, ..., `output0`, ..., `scratch0`, ...: the names of its tensors in their order."""
    counts = vars(op.counts)
    roles = {"inputs": "input", "outputs": "output", "scratch": "scratch"}
    return [f"{roles[key]}{n}" for key, count in counts.items() for n in range(count)]


def symbols_of(op: BinaryOp) -> tuple[Symbol, ...]:
    """Its tensors, then its constants."""
    tensors = zip(tensor_names(op), op.tensor_types, strict=True)
    constants = op.code.arrays.items()
    return (
        *(Symbol(name, DramKind.ACT, type_.elements) for name, type_ in tensors),
        *(Symbol(name, _KINDS[name], array.count) for name, array in constants if name in _KINDS),
    )


@dataclass(frozen=True)
class MemoryLayout:
    """Where the tensors and constants of a graph lie for a kernel with a pointer for each memory.

    The activations share a buffer. Constants have others, or lie in the same one, an arena.
    """

    places: Mapping[str, int]
    """The first element of each, as addresses count them."""
    offsets: Mapping[str, int]
    """The first byte of each in the shared buffer, without those in others."""
    bytes: int
    """The size of the shared buffer."""


def layout_of(op: BinaryOp, memory: str) -> MemoryLayout:
    """The layout of a graph in one of `PLACEMENTS`."""
    symbols, sizes = symbols_of(op), _element_bytes(op.config)
    if memory == ARENA:
        unit = math.lcm(*sizes.values())  # each starts at a whole element of its memory
        ends, end = dict[str, int](), 0
        for symbol in symbols:
            ends[symbol.name] = end
            end += -(-symbol.elements * sizes[symbol.kind] // unit) * unit
        places = {each.name: ends[each.name] // sizes[each.kind] for each in symbols}
        return MemoryLayout(places, ends, end)
    places = side_by_side(symbols)
    tensors = [each for each in symbols if each.kind is DramKind.ACT]
    size = sizes[DramKind.ACT]
    offsets = {each.name: places[each.name] * size for each in tensors}
    return MemoryLayout(places, offsets, sum(each.elements for each in tensors) * size)


def _element_bytes(config: Config) -> dict[DramKind, int]:
    return {kind: config.element_bytes(memory) for memory, kind in KINDS.items()}
