"""VTA layers for operations that move int8 values or select the largest."""

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
    """Return whether `moving_layer` may have a layer for an operation."""
    if not isinstance(op, nn.PoolOp | nn.ConcatOp | nn.ResizeOp):
        return False
    return nn.tensor_type(op.result).element_type == i8


def moving_layer(op: Operation) -> Layer:
    """Return the layer that computes `op`; raise VerifyException with one sentence if none does."""
    for value in op.operands:
        require(not isinstance(value.owner, nn.ConstantOp), "its activations are constants")
    match op:
        case nn.PoolOp() if op.kind.data is PoolKind.MAX:
            return Layer(vta.MaxPoolOp, (op.x,), op.result, (), window_of(op))
        case nn.ConcatOp():
            require(op.axis.value.data == 1, "VTA concatenates only channels (axis 1)")
            require(
                len(op.inputs) < MOST_TENSORS - 1,
                f"a VTA graph has at most {MOST_TENSORS} tensors, but this operation concatenates "
                f"{len(op.inputs)}",
            )
            return Layer(vta.ConcatOp, tuple(op.inputs), op.result)
        case nn.ResizeOp() if op.mode.data is ResizeMode.NEAREST:
            return Layer(vta.UpsampleOp, (op.x,), op.result, (), {"factors": factors_of(op)})
        case _:
            raise VerifyException("VTA computes max pools, concatenations and nearest resizes only")
