"""Moving of reshapes after elementwise operations, so that kernels and epilogues are adjacent."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import nn


def regroup(shape: Sequence[int], old: Sequence[int], new: Sequence[int]) -> list[int] | None:
    """Return the shape of an operand that broadcasts to `old` once `old` is reshaped to `new`.

    Return None if no reshape of the operand is correct, because it broadcasts some of the
    dimensions that the reshape merges or splits together.
    """
    if 0 in old:
        return None
    aligned = [1] * (len(old) - len(shape)) + list(shape)
    result: list[int] = []
    for before, after in nn.matching_groups(old, new):
        run = [aligned[i] for i in before]
        if run == [old[i] for i in before]:
            result += [new[i] for i in after]
        elif all(n == 1 for n in run):
            result += [1] * len(after)
        else:
            return None
    return result


def sink(op: nn.NNOp) -> bool:
    """Compute an elementwise `op` before the reshape of its operand; return whether it moved.

    The reshape must be the only use of a computed value. The other operands get reshapes of their
    own, which cancel others or cost nothing.
    """
    (result,) = op.results
    shape = nn.shape_of(result)
    for operand in op.operands:
        view = operand.owner
        if not isinstance(view, nn.ReshapeOp) or not _worth_sinking(view, op):
            continue
        if nn.shape_of(view.result) != shape:
            continue
        before = nn.shape_of(view.x)
        shapes = [regroup(nn.shape_of(value), shape, before) for value in op.operands]
        if any(s is None for s in shapes):
            continue
        operands = [
            view.x if value is view.result else _reshaped(value, new, op)
            for value, new in zip(op.operands, shapes, strict=True)
            if new is not None
        ]
        types = type(op).inferred_types(
            [nn.tensor_type(value) for value in operands], op.properties
        )
        inner = type(op).create(
            operands=operands,
            properties=dict(op.properties),
            attributes=dict(op.attributes),
            result_types=types,
        )
        inner.location = op.location
        outer = nn.ReshapeOp(inner.results[0], shape)
        outer.location = op.location
        Rewriter.insert_op([inner, outer], InsertPoint.before(op))
        outer.result.name_hint = result.name_hint
        result.replace_all_uses_with(outer.result)
        op.detach()
        op.erase()
        if view.result.first_use is None:
            Rewriter.erase_op(view)
        _cancel(outer)
        return True
    return False


def _cancel(view: nn.ReshapeOp) -> None:
    """Let reshapes back to the shape before `view` use its operand, and erase what is unused."""
    for use in list(view.result.uses):
        back = use.operation
        if isinstance(back, nn.ReshapeOp) and back.result.type == view.x.type:
            back.result.replace_all_uses_with(view.x)
            Rewriter.erase_op(back)
    if view.result.first_use is None:
        Rewriter.erase_op(view)


def _ignores_axes(op: nn.NNOp) -> bool:
    """Return whether an operation does not depend on the axes of its operands."""
    return op.ROLE is nn.Role.ELEMENTWISE and not op.BY_CHANNEL


def _worth_sinking(view: nn.ReshapeOp, op: Operation) -> bool:
    only = all(use.operation is op for use in view.result.uses)
    source = view.x.owner
    return only and isinstance(source, Operation) and not isinstance(source, nn.ConstantOp)


def _reshaped(value: SSAValue, shape: Sequence[int], op: Operation) -> SSAValue:
    if tuple(shape) == nn.shape_of(value):
        return value
    owner = value.owner
    if isinstance(owner, nn.ReshapeOp) and tuple(shape) == nn.shape_of(owner.x):
        return owner.x
    view = nn.ReshapeOp(value, shape)
    view.location = op.location
    Rewriter.insert_op(view, InsertPoint.before(op))
    return view.result


class NNSinkReshapesPass(ModulePass):
    """elementwise(reshape(x)) -> reshape(elementwise(x)), so that `nn-fuse` can fuse with x.

    A convolution that became a matrix product has a reshape before its activation.
    """

    name = "nn-sink-reshapes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in nn.networks_of(op):
            for inner in list(function.body.block.ops):
                if isinstance(inner, nn.NNOp) and _ignores_axes(inner):
                    sink(inner)
