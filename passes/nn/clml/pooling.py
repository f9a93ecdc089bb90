"""Legalisation of pools and of reductions over the plane; CLML averages do not count padding."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ....dialects import clml, nn
from ....dialects.inferred import require
from ....dialects.nn import PoolKind, ints, shape_of
from .builder import CommandBuilder, borders, expect, plane, sizes_of

_REDUCTIONS = {nn.ReduceKind.MAX: PoolKind.MAX, nn.ReduceKind.MEAN: PoolKind.AVERAGE}


def pads_first(ops: Sequence[Operation]) -> bool:
    """Return whether a separate pad command must add the zeros that an average counts."""
    pool = ops[0]
    return (
        isinstance(pool, nn.PoolOp)
        and pool.kind.data is PoolKind.AVERAGE
        and pool.count_include_pad is not None
        and any(ints(pool.pads))
    )


def pool(ops: Sequence[Operation], builder: CommandBuilder) -> SSAValue:
    """Build `nn.pool`.

    With `ceil_mode` the last window may reach beyond the padding. More padding there does not
    change the result, since neither a maximum nor an average counts it.
    """
    (op,) = ops
    assert isinstance(op, nn.PoolOp)
    kernel, strides = plane(ints(op.kernel), 1), plane(ints(op.strides), 1)
    dilations = plane(ints(op.dilations), 1)
    require(
        all(d == 1 or k == 1 for d, k in zip(dilations, kernel, strict=True)),
        f"CLML's windows have no dilation, but the dilations are {list(dilations)}",
    )
    x = builder.read(op.x)
    n, c, *size = sizes_of(shape_of(op.x))
    top, left, bottom, right = borders(ints(op.pads))
    if pads_first(ops):
        size = [size[0] + top + bottom, size[1] + left + right]
        padded = builder.like(x, (n, c, size[0], size[1]))
        x = builder.add(clml.PadOp(x, padded, pads=(top, left, bottom, right)))
        top = left = bottom = right = 0
    result = sizes_of(shape_of(op.result))
    below, beside = (
        max(0, (m - 1) * stride + k - total)
        for m, stride, k, total in zip(
            result[2:],
            strides,
            kernel,
            (size[0] + top + bottom, size[1] + left + right),
            strict=True,
        )
    )
    return builder.add(
        clml.PoolOp(
            x,
            builder.like(x, result),
            kind=op.kind.data,
            kernel=kernel,
            strides=strides,
            pads=(top, left, bottom + below, right + beside),
        )
    )


def reduction(ops: Sequence[Operation], builder: CommandBuilder) -> SSAValue:
    """Build `nn.reduce` of H, W or both as a pool whose window is the whole plane."""
    (op,) = ops
    assert isinstance(op, nn.ReduceOp)
    kind = expect(
        _REDUCTIONS.get(op.kind.data),
        f"CLML reduces to maxima and means (global pools), not {op.kind.data}",
    )
    axes = ints(op.axes)
    require(
        bool(axes) and set(axes) <= {2, 3},
        f"CLML reduces H and W (axes 2 and 3), not the axes {list(axes)}",
    )
    n, c, h, w = sizes_of(shape_of(op.x))
    kernel = (h if 2 in axes else 1, w if 3 in axes else 1)
    x = builder.read(op.x)
    result = builder.like(x, (n, c, h // kernel[0], w // kernel[1]))
    pooled = builder.add(clml.PoolOp(x, result, kind=kind, kernel=kernel))
    return builder.shaped(pooled, sizes_of(shape_of(op.result)))
