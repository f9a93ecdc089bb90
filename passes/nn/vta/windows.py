"""The windows of nn operations as options of VTA layers."""

from __future__ import annotations

from typing import Any

from ....dialects import nn
from ....dialects.inferred import require
from ....dialects.nn import PoolKind, ints, shape_of
from ....dialects.nn.evaluation.resize import nearest_positions
from ....dialects.windows import extent


def window_of(op: nn.PoolOp) -> dict[str, Any]:
    """Return the window of a pool as options of a layer; raise VerifyException if VTA lacks it."""
    x, y = shape_of(op.x), shape_of(op.result)
    require(len(x) == 4, f"VTA's images have two spatial dimensions, not {len(x) - 2}")
    kernel, strides, dilations, pads = map(ints, (op.kernel, op.strides, op.dilations, op.pads))
    # With ceil_mode, the last window may reach beyond the padding.
    needed = [
        (y[2 + i] - 1) * strides[i] + extent(kernel[i], dilations[i]) - x[2 + i] - pads[i]
        for i in range(2)
    ]
    ends = tuple(map(max, pads[2:], needed))
    return {"kernel": kernel, "strides": strides, "dilations": dilations, "pads": pads[:2] + ends}


def averaged_window(op: nn.PoolOp | nn.ReduceOp) -> dict[str, Any]:
    """Return the window of a mean as options of a layer; raise VerifyException if VTA lacks it."""
    if isinstance(op, nn.PoolOp):
        options = window_of(op)
        pads = options["pads"]
        require(op.kind.data is PoolKind.AVERAGE, "VTA has average pools, but no other norms")
        require(
            not any(pads) or (op.count_include_pad is not None and pads == ints(op.pads)),
            "VTA divides all sums by one count, but there are fewer elements at the border",
        )
        return options
    shape, axes = shape_of(op.x), ints(op.axes)
    require(
        len(shape) == 4 and axes == (2, 3) and op.keepdims is not None,
        "VTA reduces exactly H and W (axes 2 and 3), with keepdims",
    )
    return {"kernel": shape[2:]}


def factors_of(op: nn.ResizeOp) -> tuple[int, int]:
    """Return how often a nearest resize repeats each element in H and W.

    Raise VerifyException if VTA cannot compute the resize.
    """
    x, y = shape_of(op.x), shape_of(op.result)
    require(len(x) == 4 and x[:2] == y[:2], "VTA resizes only H and W (axes 2 and 3)")
    factors: list[int] = []
    for axis in (2, 3):
        factor = max(1, y[axis] // x[axis])
        repeated = [i // factor for i in range(x[axis] * factor)]
        require(
            nearest_positions(op, axis) == repeated,
            "VTA repeats each element equally often, but this resize does not",
        )
        factors.append(factor)
    return factors[0], factors[1]
