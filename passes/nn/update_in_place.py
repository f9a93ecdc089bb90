"""Marking of network outputs that share the memory of an input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import nn
from ...dialects.nn.in_place import mark_in_place
from ...errors import CacheSizeError, CloptError
from .program.body import returned_values


@dataclass(frozen=True)
class NNUpdateInPlacePass(ModulePass):
    """Mark an output that overwrites an input, with `nn.in_place`.

    Both are a tensor of one shape, or the output appends to the input, such as a key-value cache.
    The network then takes and returns a cache with room for further elements, `room` along the axis
    at which it appends: `nn.insert_slice` replaces the concatenation, and `nn.shape` is the shape
    of what callers see of the output. `room` has a number for each axis, 0 where it is unknown.

    `cl-check-in-place` refuses networks that read the input after the output is written.
    """

    name: ClassVar[str] = "nn-update-in-place"
    output: str = ""
    input: str = ""
    room: tuple[int, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        (network,) = nn.entries_of(op)
        names = nn.parameter_names(network)
        arguments = network.body.block.args
        ends = returned_values(network)
        if self.input not in names[: len(arguments)] or self.output not in names[len(arguments) :]:
            raise CloptError(
                f'in_place says that the output "{self.output}" overwrites the input '
                f'"{self.input}", but the network has the inputs '
                f"{_listed(names[: len(arguments)])} and the outputs "
                f"{_listed(names[len(arguments) :])}."
            )
        source = arguments[names.index(self.input)]
        position = names.index(self.output, len(arguments)) - len(arguments)
        shape = None
        if source.type != ends[position].type:
            shape = nn.shape_of(ends[position])
            self._make_room(network, source, ends[position], position)
        mark_in_place(network, position, self.input, shape)

    def _make_room(
        self, network: func.FuncOp, cache: BlockArgument, result: SSAValue, position: int
    ) -> None:
        """Let a network take and return a cache with room, to which it appends."""
        append = result.owner
        if not isinstance(append, nn.ConcatOp) or append.inputs[0] is not cache:
            raise CloptError(
                f'The output "{self.output}" is {result.type}, which neither has the type of '
                f'"{self.input}" nor appends to it; leave it out of in_place.'
            )
        axis, block = append.axis.value.data, network.body.block
        shape = list(nn.shape_of(cache))
        shape[axis] = self._room(append, axis)
        larger = block.insert_arg(nn.with_shape(nn.tensor_type(cache), shape), cache.index)
        larger.name_hint = cache.name_hint
        whole, seen = _inserted(append, larger)
        last = block.last_op
        assert last is not None
        last.operands[position] = whole
        result.replace_all_uses_with(seen)
        Rewriter.erase_op(append)
        if cache.uses:
            past = nn.SliceOp(larger, [0] * len(shape), nn.shape_of(cache))
            Rewriter.insert_op(past, InsertPoint.at_start(block))
            cache.replace_all_uses_with(past.result)
        block.erase_arg(cache)
        network.update_function_type()

    def _room(self, append: nn.ConcatOp, axis: int) -> int:
        """Return the elements of the larger cache along the axis."""
        room = self.room[axis] if axis < len(self.room) else 0
        size = nn.shape_of(append.result)[axis]
        if size > room:
            known = f"has room for {room}" if room else "has no stated largest size"
            raise CacheSizeError(
                f'The output "{self.output}" has {size} elements along axis {axis}, but the cache '
                f'"{self.input}" {known}; leave that dimension open, and state a larger range in '
                "dims."
            )
        return room


def _inserted(append: nn.ConcatOp, cache: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Append to a cache with room; return all of it, and the elements that are in use."""
    axis, new = append.axis.value.data, append.inputs[1:]
    shape = nn.shape_of(append.result)
    joined = [nn.ConcatOp(new, axis)] if len(new) > 1 else []
    start = nn.ConstantOp.from_array(np.array(nn.shape_of(append.inputs[0])[axis], np.int32))
    source = joined[0].result if joined else new[0]
    whole = nn.InsertSliceOp(cache, source, start.result, axis)
    seen = nn.SliceOp(whole.result, [0] * len(shape), shape)
    ops = [*joined, start, whole, seen]
    for op in ops:
        op.location = append.location
    Rewriter.insert_op(ops, InsertPoint.before(append))
    whole.result.name_hint = seen.result.name_hint = append.result.name_hint
    return whole.result, seen.result


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names) or "none"
