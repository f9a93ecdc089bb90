"""Names of the tensors and constants of a `vta.binary`, and their locations in a core's memory."""

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
    """Return the names of its tensors in order: `input0`, ..., `output0`, ..., `scratch0`, ...."""
    counts = vars(op.counts)
    roles = {"inputs": "input", "outputs": "output", "scratch": "scratch"}
    return [f"{roles[key]}{n}" for key, count in counts.items() for n in range(count)]


def symbols_of(op: BinaryOp) -> tuple[Symbol, ...]:
    """Return its tensors, then its constants."""
    tensors = zip(tensor_names(op), op.tensor_types, strict=True)
    constants = op.code.arrays.items()
    return (
        *(Symbol(name, DramKind.ACT, type_.elements) for name, type_ in tensors),
        *(Symbol(name, _KINDS[name], array.count) for name, array in constants if name in _KINDS),
    )


@dataclass(frozen=True)
class MemoryLayout:
    """The locations of a graph's tensors and constants, for a kernel with a pointer per memory.

    The activations share a buffer. Constants are in other buffers, or in the same one, an arena.
    """

    places: Mapping[str, int]
    """The first element of each, as addresses count them."""
    offsets: Mapping[str, int]
    """The first byte of each in the shared buffer, without symbols in other buffers."""
    bytes: int
    """The size of the shared buffer in bytes."""


def layout_of(op: BinaryOp, memory: str) -> MemoryLayout:
    """Return the layout of a graph in one of `PLACEMENTS`."""
    symbols, sizes = symbols_of(op), _element_bytes(op.config)
    if memory == ARENA:
        unit = math.lcm(*sizes.values())  # every symbol starts at a multiple of its element size
        ends, end = dict[str, int](), 0
        for symbol in symbols:
            ends[symbol.name] = end
            end += -(-symbol.elements * sizes[symbol.kind] // unit) * unit
        places = {s.name: ends[s.name] // sizes[s.kind] for s in symbols}
        return MemoryLayout(places, ends, end)
    places = side_by_side(symbols)
    tensors = [s for s in symbols if s.kind is DramKind.ACT]
    size = sizes[DramKind.ACT]
    offsets = {s.name: places[s.name] * size for s in tensors}
    return MemoryLayout(places, offsets, sum(s.elements for s in tensors) * size)


def _element_bytes(config: Config) -> dict[DramKind, int]:
    return {kind: config.element_bytes(memory) for memory, kind in KINDS.items()}
