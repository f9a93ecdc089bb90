"""Assemble VTA instructions and constants into a `vta.binary`, whose arrays are weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...dialects.vta import (
    BinaryOp,
    Code,
    Config,
    DramKind,
    DramType,
    Gemm,
    Instruction,
    StoredArray,
    TensorCounts,
    Uop,
    encode,
    encode_uops,
)
from ...weights import Array, Weights


@dataclass(frozen=True)
class Listing:
    """A stream, with the tensors that its DRAM addresses are relative to."""

    instructions: Sequence[Instruction]
    tensors: Sequence[int]
    """For each instruction, the number of the tensor that it moves, or 0."""
    uops: Sequence[Uop] = ()
    weights: Array | None = None
    """int8 (n, block_out, block_in)"""
    biases: Array | None = None
    """int32 (n, batch, block_out)"""


@dataclass(frozen=True)
class GraphTensors:
    """The sizes of a graph's tensors in elements, by name; tensors between layers are scratch."""

    inputs: Mapping[str, int]
    outputs: Mapping[str, int]
    scratch: Mapping[str, int] = field(default_factory=dict[str, int])


def assemble(
    name: str, config: Config, tensors: GraphTensors, listing: Listing, weights: Weights
) -> BinaryOp:
    """Return the graph `@name`, and add its arrays to `weights`.

    Raises VTAStreamError if a value does not fit into its instruction field.
    """
    arrays = {
        "instructions": encode(listing.instructions, config),
        "relocations": np.array(listing.tensors, np.uint8),
        "uops": encode_uops(listing.uops, config),
        "weights": listing.weights,
        "biases": listing.biases,
    }
    stored = {
        key: StoredArray(weights.add(array, f"{name}.{key}"), len(array))
        for key, array in arrays.items()
        if array is not None and len(array)
    }
    groups = (tensors.inputs, tensors.outputs, tensors.scratch)
    op = BinaryOp(
        name,
        config,
        [DramType(DramKind.ACT, size) for group in groups for size in group.values()],
        TensorCounts(*map(len, groups)),
        Code(**stored),
        _multiply_adds(listing.instructions, config),
    )
    names = [each for group in groups for each in group]
    for value, hint in zip(op.all_tensors, names, strict=True):
        value.name_hint = hint
    return op


def _multiply_adds(instructions: Iterable[Instruction], config: Config) -> int:
    gemms = (each for each in instructions if isinstance(each, Gemm) and not each.reset)
    tiles = sum((gemm.uop_end - gemm.uop_bgn) * gemm.iter_out * gemm.iter_in for gemm in gemms)
    return tiles * config.batch * config.block_in * config.block_out
