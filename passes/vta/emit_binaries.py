"""Turns each stream into a command: its buffers become tensors, its arrays weights.

Buffers named `input0`, ... are the graph's inputs, and `output0`, ... its outputs. All others lie
side by side in one scratch tensor. No two of them share bytes, because the tokens of a stream order
only accesses to the same buffer. Constants of one kind become one array.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...context import weights_of
from ...dialects.vta import BinaryOp, DramKind, Memory, StreamOp, VTAStreamError
from ...dialects.vta.stream_file import Symbol, side_by_side, stream_file
from ...weights import Array, Weights
from .assembling import GraphTensors, Listing, assemble

_ROLE = re.compile(r"(input|output)(\d+)")
_SCRATCH = "layers"


@dataclass(frozen=True)
class VTAEmitBinariesPass(ModulePass):
    """Replace each `vta.stream` by the `vta.binary` that a command of the queue runs."""

    name = "vta-emit-binaries"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for stream in list(op.body.block.ops):
            if isinstance(stream, StreamOp):
                binary = emit_binary(stream, weights_of(ctx, op))
                binary.location = stream.location
                binary.attributes |= stream.attributes
                op.body.block.insert_op_before(binary, stream)
                stream.detach()
                stream.erase()


def emit_binary(stream: StreamOp, weights: Weights) -> BinaryOp:
    """Return the graph of a stream. Raise VTAStreamError for constants of the wrong size."""
    file = stream_file(stream)
    buffers = [each for each in file.symbols if each.kind is DramKind.ACT]
    inputs, outputs = (_with_role(role, buffers) for role in ("input", "output"))
    others = [each for each in buffers if each not in (*inputs, *outputs)]
    constants = [
        [each for each in file.symbols if each.kind is kind]
        for kind in (DramKind.WGT, DramKind.ACC)
    ]
    numbers = {each.name: n for n, each in enumerate((*inputs, *outputs))}
    shared = (each for each in file.symbols if each.name not in numbers)
    places = dict.fromkeys(numbers, 0) | side_by_side(shared)
    numbers |= dict.fromkeys((each.name for each in others), len(numbers))
    count = range(len(file.instructions))
    named = [file.symbol_of(n) for n in count]
    scratch = sum(each.elements for each in others)
    shapes = (stream.config.element_shape(memory) for memory in (Memory.WGT, Memory.ACC))
    wgt, acc = (
        _joined(group, shape, weights) for group, shape in zip(constants, shapes, strict=True)
    )
    return assemble(
        stream.sym_name.data,
        stream.config,
        GraphTensors(
            {each.name: each.elements for each in inputs},
            {each.name: each.elements for each in outputs},
            {_SCRATCH: scratch} if scratch else {},
        ),
        Listing(
            file.linked(places),
            [0 if each is None else numbers.get(each.name, 0) for each in named],
            file.uops,
            wgt,
            acc,
        ),
        weights,
    )


def _with_role(role: str, buffers: Iterable[Symbol]) -> list[Symbol]:
    """Return the buffers of a role, sorted by number."""
    found = ((match, each) for each in buffers if (match := _ROLE.fullmatch(each.name)))
    numbered = [(int(match[2]), each) for match, each in found if match[1] == role]
    return [each for _, each in sorted(numbered, key=lambda pair: pair[0])]


def _joined(symbols: list[Symbol], shape: tuple[int, int], weights: Weights) -> Array | None:
    """Return the concatenated constants of a kind."""
    arrays = [weights.get(symbol.name) for symbol in symbols]
    for symbol, array in zip(symbols, arrays, strict=True):
        if array.shape != (symbol.elements, *shape):
            raise VTAStreamError(
                f'The weight "{symbol.name}" must have the shape '
                f"{[symbol.elements, *shape]}, not {list(array.shape)}; pass this module's weights."
            )
    return np.concatenate(arrays) if arrays else None
