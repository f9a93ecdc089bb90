"""Layers of VTA for operations that move int8, or take the greatest of some."""

from __future__ import annotations

from xdsl.dialects.builtin import i8
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from ....dialects import nn, vta
from ....dialects.inferred import require
from ....dialects.nn import PoolKind, ResizeMode
from ....dialects.vta.binary import MOST_TENSORS
from .layers import Layer
from .windows import factors_of, window_of


def moves_int8(op: Operation) -> bool:
    """Whether an operation is one for which `moving_layer` may have a layer."""
    if not isinstance(op, nn.PoolOp | nn.ConcatOp | nn.ResizeOp):
        return False
    return nn.tensor_type(op.result).element_type == i8


def moving_layer(op: Operation) -> Layer:
    """Return the layer that computes it; raises VerifyException, one sentence, if none does."""
    for value in op.operands:
        require(not isinstance(value.owner, nn.ConstantOp), "its activations are constants")
    match op:
        case nn.PoolOp() if op.kind.data is PoolKind.MAX:
            return Layer(vta.MaxPoolOp, (op.x,), op.result, (), window_of(op))
        case nn.ConcatOp():
            require(op.axis.value.data == 1, "VTA joins tensors along their channels only")
            require(
                len(op.inputs) < MOST_TENSORS - 1,
                f"a graph of VTA has at most {MOST_TENSORS} tensors, and this operation joins "
                f"{len(op.inputs)}",
            )
            return Layer(vta.ConcatOp, tuple(op.inputs), op.result)
        case nn.ResizeOp() if op.mode.data is ResizeMode.NEAREST:
            return Layer(vta.UpsampleOp, (op.x,), op.result, (), {"factors": factors_of(op)})
        case _:
            raise VerifyException("VTA moves int8 by maxima, concatenations and nearest resizing")
