"""Resize in the modes that ONNX and onnxruntime agree on."""

from __future__ import annotations

import numpy as np

from ..builder import GraphBuilder
from ..values import Value

FACTORS = (0.5, 1.0, 1.0, 1.5, 2.0, 2.0, 3.0)


def _target(g: GraphBuilder, x: Value) -> tuple[list[int], list[float]]:
    """New sizes of the spatial axes, and the factors that make them exactly."""
    sizes, scales = list(x.shape), [1.0] * x.rank
    for axis in range(2, x.rank):
        sizes[axis] = max(1, int(x.shape[axis] * g.random.choice(FACTORS)))
        scales[axis] = sizes[axis] / x.shape[axis]
    return sizes, scales


def resize(g: GraphBuilder) -> None:
    """Nearest, linear and cubic, by sizes or by scales."""
    x = g.pick(rank=(3, 4, 4, 4, 5))
    mode = g.one_of("nearest", "nearest", "linear", "linear", "cubic")
    if mode == "cubic" and x.rank != 4:
        mode = "linear"
    modes = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]
    if g.opset >= 19:
        modes.append("half_pixel_symmetric")
    attributes: dict[str, object] = {
        "mode": mode,
        "coordinate_transformation_mode": g.random.choice(modes),
    }
    if mode == "nearest":
        nearest = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
        attributes["nearest_mode"] = g.random.choice(nearest)
    if mode == "cubic":
        attributes["cubic_coeff_a"] = g.one_of(-0.75, -0.5)
        attributes["exclude_outside"] = g.one_of(0, 1)
    sizes, scales = _target(g, x)
    if g.chance(0.5):
        g.op("Resize", x, None, None, g.ints(*sizes), **attributes)
    else:
        g.op("Resize", x, None, g.constant(scales, "f"), **attributes)


def crop_and_resize(g: GraphBuilder) -> None:
    """Resize of a region, at times larger than the image."""
    x = g.pick(rank=(4,))
    sizes, _ = _target(g, x)
    roi = [0, 0, g.one_of(-0.25, 0.0, 0.25), 0, 1, 1, g.one_of(0.5, 0.75, 1.0), g.one_of(1.0, 1.25)]
    g.op(
        "Resize",
        x,
        g.constant(np.array(roi), "f"),
        None,
        g.ints(*sizes),
        mode=g.one_of("nearest", "linear"),
        coordinate_transformation_mode="tf_crop_and_resize",
        extrapolation_value=g.one_of(0.0, 1.5),
    )


def antialiased(g: GraphBuilder) -> None:
    """Shrinking by averages."""
    if g.opset < 18:
        return
    x = g.pick(rank=(4,))
    sizes = [*x.shape[:2], *(max(1, n // g.one_of(1, 2, 3)) for n in x.shape[2:])]
    mode = g.one_of("linear", "cubic")
    g.op("Resize", x, None, None, g.ints(*sizes), mode=mode, antialias=1)


OPERATORS = {
    "resize": (5, resize),
    "crop_and_resize": (1, crop_and_resize),
    "antialiased": (1, antialiased),
}
