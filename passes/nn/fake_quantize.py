"""Rounding to quantised values in floating point, for products of floats that read these values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ...context import weights_of
from ...dialects import cl, nn
from ...dialects.nn import BinaryKind, PoolKind, Rounding, UnaryKind, shape_of
from ...targets import offloads_quantized
from ...weights import Weights
from .integer_products import divided, in_steps
from .rewriting import forward, replace, splat_of


class NNFakeQuantizePass(ModulePass):
    """Compute `dequantize(quantize(x))` in floating point, on GPUs.

    Scales must be single numbers, and rounding half to even. The division by the step in `quantize`
    is folded into the weights of a preceding float convolution. Then x is clamped, rounded and
    multiplied by the scale, without integers and conversions to and from them. A value that already
    has these steps, such as the maximum of rounded values, is not rounded again. The pass runs once
    constant weights are floats, and not if accelerators find layers by their conversions.
    """

    name: ClassVar[str] = "nn-fake-quantize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = cl.target_of(op)
        if target.device.device_type != "gpu" or offloads_quantized(target):
            return
        weights = weights_of(ctx, op)
        for pattern in (_SameSteps(), _Steps(weights), _InFloats()):
            walker = PatternRewriteWalker(GreedyRewritePatternApplier([pattern]))
            for function in nn.networks_of(op):
                walker.rewrite_region(function.body)


class _SameSteps(RewritePattern):
    """Rounding to steps that a value already has changes nothing."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.DequantizeOp, rewriter: PatternRewriter, /) -> None:
        before = op.q.owner
        if not isinstance(before, nn.QuantizeOp) or not _serves_floats(before):
            return
        same = _grid_of(op) is not None and _grid_of(before) == _grid_of(op)
        if same and _is_on(before.x, op):
            forward(rewriter, op, before.x)


def _serves_floats(op: nn.QuantizeOp) -> bool:
    """Return whether nothing reads the integers."""
    return all(isinstance(use.operation, nn.DequantizeOp) for use in op.result.uses)


def _grid_of(op: nn.QuantizeOp | nn.DequantizeOp) -> tuple[float, float] | None:
    """Return the step and the zero point if each is one number, else None."""
    scale, zero = splat_of(op.scale), splat_of(op.zero_point)
    return None if scale is None or zero is None else (scale, zero)


def _is_on(value: SSAValue, like: nn.DequantizeOp) -> bool:
    """Return whether all elements of a value are possible results of `like`."""
    while True:
        match value.owner:
            case nn.DequantizeOp() as op:
                same = nn.tensor_type(op.q).element_type == nn.tensor_type(like.q).element_type
                return same and _grid_of(op) == _grid_of(like)
            case nn.PoolOp() as op if op.kind.data is PoolKind.MAX:
                value = op.x
            case nn.ReshapeOp() | nn.TransposeOp() as op:
                value = op.x
            case _:
                return False


@dataclass
class _Steps(RewritePattern):
    """The division by a step is folded into the preceding convolution's weights and bias."""

    weights: Weights | None

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.QuantizeOp, rewriter: PatternRewriter, /) -> None:
        step = splat_of(op.scale)
        if step is None or step in (0, 1) or shape_of(op.scale) != ():
            return
        chain = _chain(op.x)
        if chain is None:
            return
        conv, others = chain
        new = self._divided(conv, step)
        if new is None:
            return
        for other in others:
            following = in_steps(other, new[-1].results[0], step, self.weights)
            if following is None:
                return
            new += following
        one = nn.ConstantOp.from_array(np.ones((), np.float32))
        rounding = Rounding(op.rounding.data)
        result = nn.QuantizeOp(new[-1].results[0], one.result, op.zero_point, rounding)
        replace(rewriter, op, *new, one, result)

    def _divided(self, conv: nn.ConvOp, step: float) -> list[Operation] | None:
        """Return the convolution in units of `step`; None if its weights are not constants."""
        operands: list[SSAValue] = [conv.x]
        new: list[Operation] = []
        for operand in conv.operands[1:]:
            array = nn.constant_value(operand, self.weights)
            if array is None:
                return None
            new.append(nn.ConstantOp.from_array(divided(array, step), self.weights))
            operands.append(new[-1].results[0])
        return [
            *new,
            conv.create(
                operands=operands, result_types=conv.result_types, properties=dict(conv.properties)
            ),
        ]


def _chain(x: SSAValue) -> tuple[nn.ConvOp, list[Operation]] | None:
    """Return the float convolution from which x is computed, and the operations after it.

    Each must have one use. Return None for anything else.
    """
    following: list[Operation] = []
    while x.has_one_use() and isinstance(op := x.owner, Operation):
        if isinstance(op, nn.ConvOp):
            return (op, following[::-1]) if nn.tensor_type(x).element_type == f32 else None
        if not isinstance(op, nn.UnaryOp | nn.ClipOp | nn.BinaryOp):
            return None
        following.append(op)
        x = op.operands[0]
    return None


class _InFloats(RewritePattern):
    """`dequantize(quantize(x))` is x, clamped, rounded and multiplied by the scale."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.DequantizeOp, rewriter: PatternRewriter, /) -> None:
        before = op.q.owner
        if not isinstance(before, nn.QuantizeOp) or before.rounding.data is not Rounding.HALF_EVEN:
            return
        grid = _grid_of(op)
        if grid is None or shape_of(op.scale) != () or not _serves_floats(before):
            return
        scale, zero = grid
        types = {nn.tensor_type(value).element_type for value in (before.x, op.result)}
        if _grid_of(before) != (1, zero) or types != {f32}:
            return
        limits = np.iinfo(nn.numpy_dtype(nn.tensor_type(op.q).element_type))
        clipped = nn.ClipOp(before.x, float(limits.min - zero), float(limits.max - zero))
        rounded = nn.UnaryOp(clipped.result, UnaryKind.ROUND)
        factor = nn.ConstantOp.from_array(np.full((), scale, np.float32))
        result = nn.BinaryOp(rounded.result, factor.result, BinaryKind.MUL)
        replace(rewriter, op, clipped, rounded, factor, result)
