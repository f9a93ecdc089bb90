"""Folding of batch norms, and of other scales and shifts per channel, into preceding weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
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
from ...dialects import nn
from ...dialects.nn import Array, BinaryKind, floats, ints, shape_of
from ...weights import Weights
from .rewriting import replace


@dataclass(frozen=True)
class NNFoldBatchNormPass(ModulePass):
    """Turn every batch_norm into a scale and a shift, and fold these into constant weights.

    A convolution or a matrix multiplication by constants absorbs a scale or shift per output
    channel into its weights and bias. Its result must have no other use.
    """

    name: ClassVar[str] = "nn-fold-batch-norm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        weights = weights_of(ctx, op)
        patterns: list[RewritePattern] = [
            ConstantBatchNorm(weights),
            ComputedBatchNorm(),
            AffineIntoConv(weights),
            AffineIntoMatmul(weights),
            MergeShifts(weights),
        ]
        walker = PatternRewriteWalker(GreedyRewritePatternApplier(patterns))
        # Networks only: the applier also removes dead operations, which may not be ours elsewhere.
        for function in nn.networks_of(op):
            walker.rewrite_region(function.body)


@dataclass
class _Affine:
    """A binary operation on x and a constant: a product if it `scales`, else a sum."""

    x: SSAValue
    constant: Array
    scales: bool


def _affine(op: nn.BinaryOp, weights: Weights | None) -> _Affine | None:
    """Match x * c, x / c, x + c or x - c for a floating-point x that c does not broadcast."""
    kind = op.kind.data
    x, c = op.a, op.b
    if kind in (BinaryKind.MUL, BinaryKind.ADD) and isinstance(x.owner, nn.ConstantOp):
        x, c = c, x
    foldable = isinstance(x.owner, nn.ConvolutionOp | nn.MatmulOp | nn.BinaryOp)
    if not foldable or x.type != op.result.type:
        return None
    if not nn.is_float(nn.tensor_type(x).element_type):
        return None
    constant = nn.constant_value(c, weights)
    if constant is None:
        return None
    # Folding several constants in the element type would round each time.
    constant = constant.astype(np.float64)
    match kind:
        case BinaryKind.MUL | BinaryKind.ADD:
            return _Affine(x, constant, kind is BinaryKind.MUL)
        case BinaryKind.DIV if (constant != 0).all():
            return _Affine(x, 1 / constant, True)
        case BinaryKind.SUB:
            return _Affine(x, -constant, False)
        case _:
            return None


def _along(constant: Array, shape: tuple[int, ...], axis: int) -> Array | None:
    """Return a constant as a vector along one axis of `shape`; None if it varies along another."""
    aligned = constant.reshape((1,) * (len(shape) - constant.ndim) + constant.shape)
    if any(n != 1 for i, n in enumerate(aligned.shape) if i != axis):
        return None
    return np.broadcast_to(aligned.reshape(-1), (shape[axis],))


def _like(array: Array, value: SSAValue) -> Array:
    """Return an array rounded to a tensor's element type."""
    return array.astype(nn.numpy_dtype(nn.tensor_type(value).element_type))


@dataclass
class ConstantBatchNorm(RewritePattern):
    """A batch_norm with constant statistics is x * scale + shift."""

    weights: Weights | None

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.BatchNormOp, rewriter: PatternRewriter, /) -> None:
        vectors: list[Array] = []
        for value in (op.scale, op.bias, op.mean, op.var):
            array = nn.constant_value(value, self.weights)
            if array is None:
                return
            vectors.append(array.astype(np.float64))
        scale, bias, mean, var = vectors
        with np.errstate(all="ignore"):  # a negative variance gives NaN
            factor = scale / np.sqrt(var + floats(op.epsilon)[0])
        spread = (-1, *(1,) * (len(shape_of(op.x)) - 2))
        a, c = (
            nn.ConstantOp.from_array(_like(v.reshape(spread), op.x), self.weights)
            for v in (factor, bias - mean * factor)
        )
        scaled = nn.BinaryOp(op.x, a.result, BinaryKind.MUL)
        replace(rewriter, op, a, c, scaled, nn.BinaryOp(scaled.result, c.result, BinaryKind.ADD))


class ComputedBatchNorm(RewritePattern):
    """A batch_norm with computed statistics is x * scale + shift, with these two computed."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.BatchNormOp, rewriter: PatternRewriter, /) -> None:
        vectors = (op.scale, op.bias, op.mean, op.var)
        if all(isinstance(v.owner, nn.ConstantOp) for v in vectors):
            return
        dtype = nn.numpy_dtype(nn.tensor_type(op.var).element_type)
        epsilon = nn.ConstantOp.from_array(np.array(floats(op.epsilon)[0], dtype))
        stable = nn.BinaryOp(op.var, epsilon.result, BinaryKind.ADD)
        inverse = nn.UnaryOp(stable.result, nn.UnaryKind.RSQRT)
        factor = nn.BinaryOp(inverse.result, op.scale, BinaryKind.MUL)
        moved = nn.BinaryOp(op.mean, factor.result, BinaryKind.MUL)
        shift = nn.BinaryOp(op.bias, moved.result, BinaryKind.SUB)
        spread = (shape_of(op.x)[1], *(1,) * (len(shape_of(op.x)) - 2))
        a, c = (nn.ReshapeOp(v.result, spread) for v in (factor, shift))
        scaled = nn.BinaryOp(op.x, a.result, BinaryKind.MUL)
        result = nn.BinaryOp(scaled.result, c.result, BinaryKind.ADD)
        replace(rewriter, op, epsilon, stable, inverse, factor, moved, shift, a, c, scaled, result)


@dataclass
class AffineIntoConv(RewritePattern):
    """A scale or shift per output channel is folded into a convolution's weights and bias."""

    weights: Weights | None

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.BinaryOp, rewriter: PatternRewriter, /) -> None:
        affine = _affine(op, self.weights)
        conv = None if affine is None else affine.x.owner
        if affine is None or not isinstance(conv, nn.ConvolutionOp):
            return
        shape = shape_of(conv.result)
        vector = _along(affine.constant, shape, 1)
        w = nn.constant_value(conv.w, self.weights)
        b = np.zeros(shape[1]) if conv.b is None else nn.constant_value(conv.b, self.weights)
        if vector is None or w is None or b is None or not conv.result.has_one_use():
            return
        weight = conv.w
        new_ops: list[Operation] = []
        if affine.scales:
            scaled = nn.ConstantOp.from_array(
                _like(_scaled(conv, w.astype(np.float64), vector), conv.w),
                self.weights,
                nn.hint_of(conv.w),
            )
            weight = scaled.result
            new_ops.append(scaled)
        bias = None
        if conv.b is not None or not affine.scales:
            moved = b * vector if affine.scales else b + vector
            bias = nn.ConstantOp.from_array(_like(moved, conv.w), self.weights)
            new_ops.append(bias)
        operands = [conv.x, weight, *(() if bias is None else (bias.result,))]
        new = type(conv).create(
            operands=operands, result_types=[conv.result.type], properties=conv.properties
        )
        replace(rewriter, op, *new_ops, new, named=conv)


def _scaled(conv: nn.ConvolutionOp, w: Array, factor: Array) -> Array:
    """Return weights whose convolution is `factor` times the result, per output channel."""
    if isinstance(conv, nn.ConvOp):
        return w * factor.reshape(-1, *(1,) * (w.ndim - 1))
    (groups,) = ints(conv.groups)
    grouped = w.reshape(groups, w.shape[0] // groups, *w.shape[1:])
    return (grouped * factor.reshape(groups, 1, -1, *(1,) * (w.ndim - 2))).reshape(w.shape)


@dataclass
class AffineIntoMatmul(RewritePattern):
    """A scale per column, also of a sum with a bias, is folded into a constant right matrix."""

    weights: Weights | None

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.BinaryOp, rewriter: PatternRewriter, /) -> None:
        affine = _affine(op, self.weights)
        if affine is None or not affine.scales or not affine.x.has_one_use():
            return
        shift = None
        matmul = affine.x.owner
        if isinstance(matmul, nn.BinaryOp):
            shift = _affine(matmul, self.weights)
            if shift is None or shift.scales or not shift.x.has_one_use():
                return
            matmul = shift.x.owner
        if not isinstance(matmul, nn.MatmulOp):
            return
        shape = shape_of(matmul.result)
        vector = _along(affine.constant, shape, len(shape) - 1)
        b = nn.constant_value(matmul.b, self.weights)
        if vector is None or b is None:
            return
        columns = vector if matmul.transpose_b is None else vector[:, None]
        scaled = nn.ConstantOp.from_array(
            _like(b.astype(np.float64) * columns, matmul.b), self.weights, nn.hint_of(matmul.b)
        )
        new = nn.MatmulOp(
            matmul.a,
            scaled.result,
            transpose_a=matmul.transpose_a is not None,
            transpose_b=matmul.transpose_b is not None,
            accumulate_half=matmul.accumulate is not None,
        )
        if shift is None:
            replace(rewriter, op, scaled, new, named=matmul)
            return
        moved = nn.ConstantOp.from_array(_like(shift.constant * vector, matmul.b), self.weights)
        add = nn.BinaryOp(new.result, moved.result, BinaryKind.ADD)
        replace(rewriter, op, scaled, moved, new, add, named=matmul)


@dataclass
class MergeShifts(RewritePattern):
    """(x + c) + d is x + (c + d), likewise for products, unless broadcasting grows the constant."""

    weights: Weights | None

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.BinaryOp, rewriter: PatternRewriter, /) -> None:
        outer = _affine(op, self.weights)
        owner = None if outer is None else outer.x.owner
        if outer is None or not isinstance(owner, nn.BinaryOp) or not outer.x.has_one_use():
            return
        inner = _affine(owner, self.weights)
        if inner is None or inner.scales != outer.scales:
            return
        combine = np.multiply if outer.scales else np.add
        merged: Array = combine(inner.constant, outer.constant)
        if merged.size > max(inner.constant.size, outer.constant.size):
            return
        constant = nn.ConstantOp.from_array(_like(merged, op.a), self.weights)
        kind = BinaryKind.MUL if outer.scales else BinaryKind.ADD
        replace(rewriter, op, constant, nn.BinaryOp(inner.x, constant.result, kind))
