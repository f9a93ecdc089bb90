"""The patterns of operations that CLML computes, and operations that may be fused after them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import Operation, SSAValue

from ....dialects import nn
from . import convolution, elementwise, linear, movement, pooling
from .builder import CommandBuilder

Build: TypeAlias = Callable[[Sequence[Operation], CommandBuilder], SSAValue]
"""Adds the commands for the operations of a match; returns the tensor of the last result."""

Tail: TypeAlias = Callable[[Operation, Operation], bool]
"""Returns whether its first operation, the only reader of the second, can be fused after it."""


@dataclass(frozen=True)
class Pattern:
    """An operation that CLML computes and the operations that may be fused after it."""

    name: str
    root: type[Operation]
    build: Build
    tails: tuple[Tail, ...] = ()
    """Operations that may follow, in this order; each of them is optional."""
    needs_producer: Callable[[Sequence[Operation]], bool] = lambda ops: False
    """Returns whether the match's input must be computed in the same graph."""
    is_alone: Callable[[Sequence[Operation]], bool] = lambda ops: False
    """Returns whether the match must be the only one of its graph."""


def _is_norm(op: Operation, before: Operation) -> bool:
    return isinstance(op, nn.BatchNormOp) and op.x.owner is before


def _is_activation(op: Operation, before: Operation) -> bool:
    return convolution.activation_of(op) is not None


def _always(ops: Sequence[Operation]) -> bool:
    return True


_AFTER_CONVOLUTIONS = (_is_norm, _is_activation)

PATTERNS: tuple[Pattern, ...] = (
    Pattern("conv", nn.ConvOp, convolution.convolution, _AFTER_CONVOLUTIONS),
    Pattern(
        "conv_transpose",
        nn.ConvTransposeOp,
        convolution.transposed_convolution,
        _AFTER_CONVOLUTIONS,
    ),
    Pattern("batch_norm", nn.BatchNormOp, convolution.batch_norm),
    Pattern("fully_connected", nn.MatmulOp, linear.fully_connected, (linear.is_bias,)),
    Pattern("gemm", nn.MatmulOp, linear.gemm, is_alone=linear.is_alone),
    Pattern("pool", nn.PoolOp, pooling.pool, needs_producer=pooling.pads_first),
    Pattern("reduce", nn.ReduceOp, pooling.reduction),
    Pattern("activation", nn.UnaryOp, elementwise.activation),
    Pattern("clip", nn.ClipOp, elementwise.clip),
    Pattern("scale", nn.BinaryOp, elementwise.scale_and_shift, (elementwise.is_shift,)),
    Pattern("binary", nn.BinaryOp, elementwise.binary),
    Pattern("softmax", nn.SoftmaxOp, elementwise.softmax),
    Pattern("reshape", nn.ReshapeOp, movement.reshape),
    Pattern("concat", nn.ConcatOp, movement.concat),
    Pattern("pad", nn.PadOp, movement.pad, needs_producer=_always),
    Pattern("depth_to_space", nn.DepthToSpaceOp, movement.depth_to_space),
    Pattern("resize", nn.ResizeOp, movement.resize),
)
"""Patterns in order of preference.

Of patterns with the same root, the first legal one is used, with its longest legal tail. If none is
legal, the reason of the last one is reported.
"""
