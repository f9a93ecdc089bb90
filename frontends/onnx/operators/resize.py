"""Resize and Upsample."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from ....dialects import nn
from ..node import NodeContext, Table
from .antialias import SOURCES, Filter, resize_axis

NEAREST_MODES = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
COORDINATE_MODES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_crop_and_resize",
    "tf_half_pixel_for_nn",
)
CORNER_MODES = ("align_corners", "tf_crop_and_resize")
POLICIES = ("stretch", "not_larger", "not_smaller")


def _scaled_sizes(shape: Sequence[int], scales: Sequence[float]) -> list[int]:
    return [math.floor(n * s) for n, s in zip(shape, scales, strict=True)]


def _old_resize(node: NodeContext, scales: Sequence[float]) -> SSAValue:
    """Import Upsample and the Resize of opset 10: asymmetric coordinates, nearest rounds down.

    These opsets left open how nearest rounds when it shrinks, so that case is refused.
    """
    mode = node.choice("mode", "nearest", ("nearest", "linear", "bilinear"))
    shape = node.shape()
    if len(scales) != len(shape) or not all(0 < scale < math.inf for scale in scales):
        node.refuse(f"scales {list(scales)} must be {len(shape)} positive numbers.")
    if mode == "nearest" and min(scales, default=1) < 1:
        node.refuse("nearest is undefined when it shrinks before opset 11; convert the model.")
    return node.add(
        nn.ResizeOp(
            node.input(0),
            _scaled_sizes(shape, scales),
            "nearest" if mode == "nearest" else "linear",
            coordinate_mode="asymmetric",
            nearest_mode="floor",
            scales=scales,
        )
    )


def import_upsample_attribute(node: NodeContext) -> SSAValue:
    """Import Upsample before opset 9: the scales are an attribute."""
    return _old_resize(node, node.reals("scales") or ())


def import_upsample(node: NodeContext) -> SSAValue:
    """Import Upsample of opset 9 and Resize of opset 10: the scales are an input."""
    return _old_resize(node, [float(s) for s in node.constant(1, "scales").reshape(-1)])


def refuse_upsample(node: NodeContext) -> SSAValue:
    """Refuse Upsample since opset 10, which deprecated it."""
    node.refuse(f"opset {node.opset} has no Upsample; convert it to Resize.")


def import_resize(node: NodeContext) -> SSAValue:
    """Import Resize since opset 11; opset 18 added axes, antialias and the aspect ratio policy."""
    rank, shape = node.rank(), node.shape()
    given_axes = node.integers("axes")
    axes = range(rank) if given_axes is None else [node.axis(a, rank) for a in given_axes]
    policy = node.choice("keep_aspect_ratio_policy", "stretch", POLICIES)
    scales, sizes = [1.0] * rank, list(shape)
    part = [float(s) for s in _optional(node, 2, "scales", len(axes))]
    wanted = [int(n) for n in _optional(node, 3, "sizes", len(axes))]
    if bool(part) == bool(wanted):
        node.refuse("must have either scales or sizes.")
    if wanted:
        # A dimension without elements stays empty whatever its scale is.
        part = [n / (shape[axis] or 1) for axis, n in zip(axes, wanted, strict=True)]
        if policy != "stretch":
            scale = min(part) if policy == "not_larger" else max(part)
            part = [scale] * len(axes)
            # Half rounds up, not to even.
            wanted = [math.floor(scale * shape[axis] + 0.5) for axis in axes]
    for i, axis in enumerate(axes):
        scales[axis] = part[i] or 1.0
        sizes[axis] = wanted[i] if wanted else math.floor(part[i] * shape[axis])
    fits = all((m > 0) == (n > 0) for m, n in zip(sizes, shape, strict=True))
    if not fits or min(scales, default=1) <= 0:
        node.refuse(f"cannot resize to the shape {sizes}.")
    coordinates = node.choice("coordinate_transformation_mode", "half_pixel", COORDINATE_MODES)
    nearest_mode = node.choice("nearest_mode", "round_prefer_floor", NEAREST_MODES)
    mode = node.choice("mode", "nearest", ("nearest", "linear", "cubic"))
    if coordinates in CORNER_MODES:
        _check_corners(node, scales, sizes)
    if node.flag("antialias"):
        return _antialiased(node, mode, coordinates, scales, sizes)
    roi = _region(node, axes) if coordinates == "tf_crop_and_resize" else None
    cubic_coeff_a, exclude_outside = node.real("cubic_coeff_a", -0.75), node.flag("exclude_outside")
    extrapolation_value = node.real("extrapolation_value", 0.0)
    if set(scales) == {1.0} and roi is None:
        return node.input(0)
    return node.add(
        nn.ResizeOp(
            node.input(0),
            sizes,
            mode,
            coordinate_mode=coordinates,
            nearest_mode=nearest_mode,
            cubic_coeff_a=cubic_coeff_a,
            exclude_outside=exclude_outside,
            extrapolation_value=extrapolation_value,
            scales=scales,
            roi=roi,
        )
    )


def _check_corners(node: NodeContext, scales: Sequence[float], sizes: Sequence[int]) -> None:
    """Refuse scales that leave a fraction of an element.

    The specification of ONNX places the last corner at the last whole element, the reference
    implementation at the fraction.
    """
    for n, scale, size in zip(node.shape(), scales, sizes, strict=True):
        if abs(n * scale - size) > 1e-4:
            node.refuse(f"the scale {scale:.6g} of {n} elements leaves a fraction; give sizes.")


def _antialiased(
    node: NodeContext,
    mode: str,
    coordinates: str,
    scales: Sequence[float],
    sizes: Sequence[int],
) -> SSAValue:
    if mode == "nearest" or coordinates not in SOURCES:
        node.refuse(f"antialias is not supported for {mode} with {coordinates}.")
    a, exclude = node.real("cubic_coeff_a", -0.75), node.flag("exclude_outside")
    node.real("extrapolation_value", 0.0)
    filter, result = Filter(mode, coordinates, a, exclude), node.input(0)
    for axis, (size, scale) in enumerate(zip(sizes, scales, strict=True)):
        if scale != 1.0:
            result = resize_axis(node.builder, result, axis, size, scale, filter)
    return result


def _optional(node: NodeContext, index: int, what: str, length: int) -> Sequence[float]:
    """Return a constant input; absent and empty are equivalent."""
    array = node.optional_constant(index, what)
    if array is None or array.size == 0:
        return ()
    if array.size != length:
        node.refuse(f"its {what} have {array.size} entries; expected {length}.")
    if not np.isfinite(array).all():
        node.refuse(f"its {what} must be finite but are {array.reshape(-1).tolist()}.")
    return array.reshape(-1).tolist()


def _region(node: NodeContext, axes: Sequence[int]) -> list[float]:
    """Return the region of interest over all dimensions: starts, then ends."""
    rank = node.rank()
    given = np.array(_optional(node, 1, "roi", 2 * len(axes)))
    if given.size == 0:
        node.refuse("tf_crop_and_resize requires a roi.")
    region = [0.0] * rank + [1.0] * rank
    for i, axis in enumerate(axes):
        region[axis], region[rank + axis] = given[i], given[i + len(axes)]
    return region


TABLE: Table = {
    "Resize": {10: import_upsample, 11: import_resize},
    "Upsample": {7: import_upsample_attribute, 9: import_upsample, 10: refuse_upsample},
}
