"""Windows of nn's operations as options of VTA's layers."""

from __future__ import annotations

from typing import Any

from ....dialects import nn
from ....dialects.inferred import require
from ....dialects.nn import PoolKind, ints, shape_of
from ....dialects.nn.evaluation.resize import nearest_positions
from ....dialects.windows import extent


def window_of(op: nn.PoolOp) -> dict[str, Any]:
    """Return the windows of a pool, as options of a layer. Raises VerifyException."""
    x, y = shape_of(op.x), shape_of(op.result)
    require(len(x) == 4, f"VTA's images have two dimensions, not {len(x) - 2}")
    kernel, strides, dilations, pads = map(ints, (op.kernel, op.strides, op.dilations, op.pads))
    # With ceil_mode the last window may reach further than the padding.
    needed = [
        (y[2 + i] - 1) * strides[i] + extent(kernel[i], dilations[i]) - x[2 + i] - pads[i]
        for i in range(2)
    ]
    ends = tuple(map(max, pads[2:], needed))
    return {"kernel": kernel, "strides": strides, "dilations": dilations, "pads": pads[:2] + ends}


def averaged_window(op: nn.PoolOp | nn.ReduceOp) -> dict[str, Any]:
    """Return the windows of a mean, as options of a layer. Raises VerifyException."""
    if isinstance(op, nn.PoolOp):
        options = window_of(op)
        pads = options["pads"]
        require(op.kind.data is PoolKind.AVERAGE, "VTA averages, and takes no other norm")
        require(
            not any(pads) or (op.count_include_pad is not None and pads == ints(op.pads)),
            "VTA divides each sum of an average by one number, and there are fewer at the border",
        )
        return options
    shape, axes = shape_of(op.x), ints(op.axes)
    require(
        len(shape) == 4 and axes == (2, 3) and op.keepdims is not None,
        "VTA takes means over H and W, and keeps both",
    )
    return {"kernel": shape[2:]}


def factors_of(op: nn.ResizeOp) -> tuple[int, int]:
    """How often a nearest resize repeats each element in H and W. Raises VerifyException."""
    x, y = shape_of(op.x), shape_of(op.result)
    require(len(x) == 4 and x[:2] == y[:2], "VTA repeats elements of images in H and W only")
    factors: list[int] = []
    for axis in (2, 3):
        factor = max(1, y[axis] // x[axis])
        repeated = [i // factor for i in range(x[axis] * factor)]
        require(
            nearest_positions(op, axis) == repeated,
            "VTA repeats each element of an image equally often",
        )
        factors.append(factor)
    return factors[0], factors[1]
