"""Padding that convolutions and pools can apply themselves, and pools of single elements."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ....dialects import nn
from ....dialects.nn import PadMode, PoolKind, extent, ints, number, shape_of
from ..rewriting import forward, replace


def _spatial_pads(pad: nn.PadOp) -> tuple[int, ...] | None:
    """Return the pads of a constant pad that pads spatial dimensions only, else None.

    The result has the low pads of all spatial dimensions, then the high pads.
    """
    low, high = ints(pad.low), ints(pad.high)
    spatial = (*low[2:], *high[2:])
    if pad.mode.data is not PadMode.CONSTANT or any((*low[:2], *high[:2])):
        return None
    return None if not spatial or min(spatial) < 0 else spatial


def _value(pad: nn.PadOp) -> int | float:
    return 0 if pad.value is None else number(pad.value)


def _sum(a: tuple[int, ...], b: tuple[int, ...]) -> list[int]:
    return [x + y for x, y in zip(a, b, strict=True)]


class PadIntoConv(RewritePattern):
    """A zero pad before a convolution becomes the convolution's own padding."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.ConvOp, rewriter: PatternRewriter, /) -> None:
        pad = op.x.owner
        if not isinstance(pad, nn.PadOp) or _value(pad) != 0:
            return
        spatial = _spatial_pads(pad)
        if spatial is None:
            return
        new = nn.ConvOp(
            pad.x,
            op.w,
            op.b,
            strides=ints(op.strides),
            dilations=ints(op.dilations),
            pads=_sum(ints(op.pads), spatial),
            groups=ints(op.groups)[0],
            accumulate_half=op.accumulate is not None,
        )
        replace(rewriter, op, new)


class PadIntoPool(RewritePattern):
    """A pad before a pool becomes the pool's own padding.

    Max pools pad with the lowest number; averages that count their padding, with 0.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.PoolOp, rewriter: PatternRewriter, /) -> None:
        pad = op.x.owner
        spatial = _spatial_pads(pad) if isinstance(pad, nn.PadOp) else None
        if not isinstance(pad, nn.PadOp) or spatial is None or op.ceil_mode:
            return
        kind, pads = op.kind.data, ints(op.pads)
        counts = op.count_include_pad is not None or not any(pads)
        if kind is PoolKind.MAX:
            if _value(pad) > _lowest(pad.x):
                return
        elif _value(pad) != 0 or (kind is PoolKind.AVERAGE and not counts):
            return
        kernel, dilations = ints(op.kernel), ints(op.dilations)
        total = _sum(pads, spatial)
        spans = [extent(k, d) for k, d in zip(kernel, dilations, strict=True)]
        if any(p >= span for p, span in zip(total, spans * 2, strict=True)):
            return
        new = nn.PoolOp(
            pad.x,
            kind,
            kernel,
            strides=ints(op.strides),
            dilations=dilations,
            pads=total,
            count_include_pad=kind is PoolKind.AVERAGE,
            p=ints(op.p)[0],
        )
        replace(rewriter, op, new)


def _lowest(value: SSAValue) -> int | float:
    """Return the lowest finite number of a tensor's element type."""
    dtype = nn.numpy_dtype(nn.tensor_type(value).element_type)
    return np.finfo(dtype).min.item() if dtype.kind == "f" else np.iinfo(dtype).min


class PoolOfOne(RewritePattern):
    """A maximum or average of one element is that element."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.PoolOp, rewriter: PatternRewriter, /) -> None:
        if op.kind.data is PoolKind.LP or {*ints(op.kernel)} != {1}:
            return
        strides = ints(op.strides)
        if {*strides} == {1}:
            forward(rewriter, op, op.x)
        else:
            shape = shape_of(op.result)
            replace(rewriter, op, nn.SliceOp(op.x, [0] * len(shape), shape, (1, 1, *strides)))


PATTERNS: dict[str, tuple[RewritePattern, ...]] = {
    nn.ConvOp.name: (PadIntoConv(),),
    nn.PoolOp.name: (PoolOfOne(), PadIntoPool()),
}
