"""Elementwise layers without a product before them, computed a run of tiles at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue

from ....dialects.vta import Memory
from .emitter import ActivationBox, Emitter, Results, TensorAddress
from .steps import AddTensor, Step


def write_elementwise(
    emitter: Emitter,
    source: TensorAddress,
    steps: Sequence[Step],
    result: TensorAddress,
    places: Mapping[SSAValue, TensorAddress],
    tiles: int,
    threads: int,
) -> None:
    """Load `source` into the accumulator, apply `steps`, and store the result."""
    operands = 1 + any(isinstance(step, AddTensor) for step in steps)
    room = emitter.config.depth(Memory.ACC) // threads
    size = min(room // operands, -(-tiles // threads))
    for number, start in enumerate(range(0, tiles, size)):
        count = min(size, tiles - start)
        base = number % threads * room
        box = ActivationBox(start, 1, 1, count, 0, count, 0)
        results = Results(base, 1, 1, count, 0, 0)
        emitter.load_acc8(base, source, box)
        emitter.steps(steps, results, {}, base + size, places, box)
        emitter.store(base, result, box)
