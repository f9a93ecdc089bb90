"""Transposed convolutions as ordinary convolutions whose outputs are interleaved."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Self

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ...context import weights_of
from ...dialects import cl, nn
from ...weights import Weights
from .rewriting import replace, rewrite_networks


def phase_weights(w: nn.Array, strides: Sequence[int], groups: int) -> nn.Array:
    """Return the weights [O * phases, C / groups, J1..] of the ordinary convolution.

    `w` is [C, O / groups, K1..]. Output position q = t * stride + r uses tap k = r + j * stride of
    input t - j. Each phase r is thus a convolution with the taps r, r + stride, ... in reverse
    order. Phases are the inner part of the output channels.
    """
    inputs, outputs, *taps = w.shape
    lengths = [-(-k // s) for k, s in zip(taps, strides, strict=True)]
    phases = list(product(*(range(s) for s in strides)))
    grouped = w.reshape(groups, inputs // groups, outputs, *taps).swapaxes(1, 2)
    result = np.zeros((groups, outputs, len(phases), inputs // groups, *lengths), dtype=w.dtype)
    for number, phase in enumerate(phases):
        steps = tuple(slice(r, None, s) for r, s in zip(phase, strides, strict=True))
        taken = grouped[(..., *steps)]
        reverse = tuple(slice(None, None, -1) for _ in taps)
        # Some phases have fewer taps: their first ones, after reversal, stay zero.
        place = tuple(slice(n - m, n) for n, m in zip(lengths, taken.shape[3:], strict=True))
        result[(slice(None), slice(None), number, slice(None), *place)] = taken[(..., *reverse)]
    return result.reshape(groups * outputs * len(phases), inputs // groups, *lengths)


class ConvTransposeToConv(RewritePattern):
    """conv_transpose(x, w) -> slice(interleave(conv(x, w'))).

    `phases_first` makes the channels of one phase adjacent, if there is one group: the same four
    channels then share a texel before and after the interleaving.
    """

    def __init__(self, weights: Weights, phases_first: bool = False):
        self.weights = weights
        self.phases_first = phases_first

    @classmethod
    def on(cls, target: cl.Target, ctx: Context, op: Operation) -> Self:
        """Return the pattern for a target, which depends on whether values may be texels there."""
        return cls(weights_of(ctx, op), target.lanes > 0)

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.ConvTransposeOp, rewriter: PatternRewriter, /) -> None:
        w = nn.constant_value(op.w, self.weights)
        b = None if op.b is None else nn.constant_value(op.b, self.weights)
        strides, groups = nn.ints(op.strides), op.groups.value.data
        dilated = any(d != 1 for d in nn.ints(op.dilations))
        if w is None or (op.b is not None and b is None) or dilated or prod(strides) == 1:
            return
        order, phases = nn.BlockOrder.CRD, prod(strides)
        w = phase_weights(w, strides, groups)
        b = None if b is None else np.repeat(b, phases)
        if self.phases_first and groups == 1 and _is_square(strides):
            order = nn.BlockOrder.DCR
            w = _phases_first(w, phases)
            b = None if b is None else _phases_first(b, phases)
        conv = self._conv(op, w, b)
        ops = [*conv, *_interleave(conv[-1].results[0], strides, order)]
        result = ops[-1].results[0]
        pads, shape = nn.ints(op.pads), nn.shape_of(op.result)
        if nn.shape_of(result) != shape or any(pads):
            ops.append(nn.SliceOp(result, (0, 0, *pads[: len(strides)]), shape))
        replace(rewriter, op, *ops)

    def _conv(self, op: nn.ConvTransposeOp, w: nn.Array, b: nn.Array | None) -> list[Operation]:
        """Return the convolution that computes all phases of the outputs that the slice keeps."""
        strides = nn.ints(op.strides)
        rank = len(strides)
        lows: list[int] = []
        highs: list[int] = []
        sizes = zip(
            nn.shape_of(op.x)[2:],
            nn.shape_of(op.result)[2:],
            strides,
            nn.ints(op.pads)[:rank],
            w.shape[2:],
            strict=True,
        )
        for size, kept, stride, before, taps in sizes:
            steps = -(-(before + kept) // stride)
            lows.append(taps - 1)
            highs.append(max(0, steps - size))
        constants = [nn.ConstantOp.from_array(w, self.weights, "phases")]
        if b is not None:
            constants.append(nn.ConstantOp.from_array(b, self.weights, "phases"))
        operands = [constant.result for constant in constants]
        conv = nn.ConvOp(
            op.x,
            *operands,
            pads=[*lows, *highs],
            groups=op.groups.value.data,
            accumulate_half=op.accumulate is not None,
        )
        return [*constants, conv]


def _phases_first(array: nn.Array, phases: int) -> nn.Array:
    """Permute rows [O * phases, ..] to [phases * O, ..]."""
    rows = array.reshape(-1, phases, *array.shape[1:])
    return rows.swapaxes(0, 1).reshape(array.shape)


def _is_square(strides: Sequence[int]) -> bool:
    return len(strides) == 2 and strides[0] == strides[1]


def _interleave(value: SSAValue, strides: Sequence[int], order: nn.BlockOrder) -> list[Operation]:
    """Interleave [N, O * phases, T1..] to [N, O, T1 * s1, ..]; phase r goes to t * s + r."""
    n, channels, *steps = nn.shape_of(value)
    rank = len(strides)
    if _is_square(strides):
        return [nn.DepthToSpaceOp(value, strides[0], order)]
    apart = nn.ReshapeOp(value, (n, channels // prod(strides), *strides, *steps))
    pairs = [axis for i in range(rank) for axis in (2 + rank + i, 2 + i)]
    together = nn.TransposeOp(apart.result, (0, 1, *pairs))
    shape = [t * s for t, s in zip(steps, strides, strict=True)]
    flat = nn.ReshapeOp(together.result, (n, channels // prod(strides), *shape))
    return [apart, together, flat]


class NNConvTransposeToConvPass(ModulePass):
    """Replace strided transposed convolutions by convolutions without zero-stuffing.

    Each output position depends only on the taps of its own phase (Shi et al., "Is the
    deconvolution layer the same as a convolutional layer?", 2016). Convolutions that are dilated or
    have computed weights stay unchanged.
    """

    name = "nn-conv-transpose-to-conv"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pattern = ConvTransposeToConv.on(cl.target_of(op), ctx, op)
        rewrite_networks(op, pattern)
