"""Elementwise bodies, and the terms of reductions, as elementwise nn operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import tensor
from xdsl.dialects.linalg.ops import IndexOp
from xdsl.ir import Block, BlockArgument, SSAValue

from ...dialects.nn.types import shape_of
from ..builder import Builder
from . import gathers, scalars
from .bodies import Structured
from .views import NotNamedError, Operand, TensorView, aligned, in_frame, in_order

Frame = Sequence[int | None]


def frame_of(builder: Builder, operands: Sequence[Operand], extents: Sequence[int]) -> Frame:
    """Return the order of loops in which operands are combined.

    It is the order of the computed operand with the most loops, so that the largest tensor is not
    transposed.
    """

    def rank(operand: Operand) -> tuple[bool, int]:
        walked = sum(extents[loop] > 1 for loop in operand.places())
        return builder.known(operand.view.value) is None, walked

    frame: list[int | None] = []
    if operands:
        frame = [*max(operands, key=rank).frame()]
    for loop, extent in enumerate(extents):
        if loop in frame or extent == 1:
            continue
        before = [i for i, other in enumerate(frame) if other is not None and other < loop]
        frame.insert(before[-1] + 1 if before else 0, loop)
    return frame


class ScalarBody:
    """The scalars of a body, each computed for all iterations at once.

    The axes of their values are the last ones of `frame`.
    """

    def __init__(
        self,
        builder: Builder,
        operands: Mapping[BlockArgument, Operand],
        extents: Sequence[int],
        view_of: Mapping[SSAValue, TensorView],
    ):
        self._builder = builder
        self._operands = operands
        self._extents = extents
        self._views = view_of
        self._values: dict[SSAValue, SSAValue] = {}
        self.frame = frame_of(builder, list(operands.values()), extents)

    def value(self, scalar: SSAValue) -> SSAValue:
        """Return the nn value of a scalar."""
        if scalar not in self._values:
            self._values[scalar] = self._value(scalar)
        return self._values[scalar]

    def _value(self, scalar: SSAValue) -> SSAValue:
        if isinstance(scalar, BlockArgument) and scalar in self._operands:
            return aligned(self._builder, self._operands[scalar], self.frame)
        if scalar in self._views:
            view = self._views[scalar]
            return aligned(self._builder, Operand(view, ()), self.frame)
        op = scalar.owner
        match op:
            case Block():
                raise NotNamedError
            case IndexOp():
                return self._positions(op.dim.value.data)
            case tensor.ExtractOp():
                table = self._views.get(op.tensor)
                if table is None:
                    raise NotNamedError
                indices = [self.value(index) for index in op.indices]
                return gathers.gather(self._builder, table, indices, len(self.frame))
            case _:
                return scalars.compute(self._builder, op, [self.value(v) for v in op.operands])

    def _positions(self, loop: int) -> SSAValue:
        count = self._extents[loop]
        if loop not in self.frame:
            return self._builder.positions(count, 0, 0)
        axis = self.frame.index(loop)
        return self._builder.positions(count, 0, len(self.frame) - axis)


def elementwise(
    builder: Builder, op: Structured, view_of: Mapping[SSAValue, TensorView]
) -> list[TensorView]:
    """Import an operation without reduction loops. Return its results."""
    results: list[TensorView] = []
    operands = {
        argument: Operand.of(read.view, read.index)
        for argument, read in zip(op.block.args, [*op.inputs, *op.outputs], strict=True)
        if argument.uses
    }
    body = ScalarBody(builder, operands, op.extents, view_of)
    for yielded, output in zip(op.yielded, op.outputs, strict=True):
        loops = output.operand.loops
        if isinstance(yielded, BlockArgument) and yielded in operands:
            view = moved(operands[yielded], loops, output.view.shape)
            results.append(transposed(builder, view))
        else:
            results.append(in_frame(body.value(yielded), body.frame, loops, output.view.shape))
    return results


def transposed(builder: Builder, view: TensorView) -> TensorView:
    """Return a tensor with the axes of its value in order.

    A transpose that the text states is kept: its author wants that order.
    """
    axes = [axis for axis in view.axes if axis is not None]
    if axes == sorted(axes):
        return view
    value = in_order(builder, view.value, axes, 1)
    first = len(shape_of(value)) - len(axes)
    order = iter(range(first, first + len(axes)))
    return TensorView(
        value, view.shape, tuple(None if i is None else next(order) for i in view.axes)
    )


def moved(operand: Operand, loops: Sequence[int | None], shape: Sequence[int]) -> TensorView:
    """Return the operand as a tensor with the axes `loops`: a transpose or broadcast."""
    axes = [
        operand.loops.index(loop) if loop is not None and loop in operand.loops else None
        for loop in loops
    ]
    return operand.view.at(axes, shape)
