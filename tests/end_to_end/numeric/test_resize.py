"""Resize: every mode with every coordinate transformation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.onnx.single_node import (
    by_onnx,
    check,
    examples,
    generators,
    ints,
    node,
    shapes,
    values,
)

pytestmark = pytest.mark.in_turns

COORDINATES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
)
NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


def _resized(
    device: str, x: np.ndarray, target: tuple[int, int], by_scale: bool, **attributes: Any
) -> None:
    """Check a resize of the last two axes, given by sizes or by scales."""
    sizes = ints(*x.shape[:2], *target)
    scales = None
    # Implementations disagree on where the last corner lies when a scale leaves a fraction.
    mode = attributes["coordinate_transformation_mode"]
    by_scale = by_scale and mode != "align_corners"
    # onnx's evaluator takes 1.25 pixels for more than the one that this mode treats by itself.
    by_scale = by_scale and not (mode == "pytorch_half_pixel" and 1 in target)
    if by_scale:
        # A scale slightly above the ratio gives the wanted size on every implementation.
        ratios = [(t + 0.25) / e for t, e in zip(target, x.shape[2:], strict=True)]
        scales = np.array([1, 1, *ratios], np.float32)
    case = node(
        "Resize",
        *(x, None, scales, None if by_scale else sizes),
        constants=[2, 3],
        opset=19,
        **attributes,
    )
    check(case, device, reference=by_onnx)


images = shapes(4, 4, 5)
targets = st.tuples(st.integers(1, 9), st.integers(1, 9))


@pytest.mark.parametrize("coordinates", COORDINATES)
@examples(3)
@given(
    rng=generators,
    shape=images,
    target=targets,
    rounding=st.sampled_from(NEAREST),
    by_scale=st.booleans(),
)
def test_nearest(
    device: str,
    coordinates: str,
    rng: np.random.Generator,
    shape: tuple[int, ...],
    target: tuple[int, int],
    rounding: str,
    by_scale: bool,
) -> None:
    _resized(
        device,
        values(rng, shape),
        target,
        by_scale,
        mode="nearest",
        coordinate_transformation_mode=coordinates,
        nearest_mode=rounding,
    )


@pytest.mark.parametrize("coordinates", COORDINATES)
@examples(2)
@given(rng=generators, shape=images, target=targets, by_scale=st.booleans())
def test_linear(
    device: str,
    coordinates: str,
    rng: np.random.Generator,
    shape: tuple[int, ...],
    target: tuple[int, int],
    by_scale: bool,
) -> None:
    _resized(
        device,
        values(rng, shape),
        target,
        by_scale,
        mode="linear",
        coordinate_transformation_mode=coordinates,
    )


@pytest.mark.parametrize("coordinates", COORDINATES)
@examples(1)
@given(
    rng=generators,
    shape=images,
    target=targets,
    by_scale=st.booleans(),
    coefficient=st.sampled_from([-0.75, -0.5]),
    exclude=st.integers(0, 1),
)
def test_cubic(
    device: str,
    coordinates: str,
    rng: np.random.Generator,
    shape: tuple[int, ...],
    target: tuple[int, int],
    by_scale: bool,
    coefficient: float,
    exclude: int,
) -> None:
    _resized(
        device,
        values(rng, shape),
        target,
        by_scale,
        mode="cubic",
        coordinate_transformation_mode=coordinates,
        cubic_coeff_a=coefficient,
        exclude_outside=exclude,
    )


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@examples(1)
@given(rng=generators)
def test_crop_and_resize(device: str, mode: str, rng: np.random.Generator) -> None:
    roi = np.array([0, 0, 0.2, 0.4, 1, 1, 0.9, 1.3], np.float32)
    case = node(
        "Resize",
        *(values(rng, (1, 2, 5, 6)), roi, None, ints(1, 2, 4, 7)),
        constants=[1, 3],
        mode=mode,
        coordinate_transformation_mode="tf_crop_and_resize",
        extrapolation_value=7.5,
    )
    check(case, device, reference=by_onnx)


@examples(1)
@given(rng=generators)
def test_old_upsample(device: str, rng: np.random.Generator) -> None:
    scales = np.array([1, 1, 2, 3], np.float32)
    case = node("Upsample", values(rng, (1, 2, 3, 4)), scales, constants=[1], opset=9)
    check(case, device)
    check(node("Resize", values(rng, (1, 2, 3, 4)), scales, constants=[1], opset=10), device)
