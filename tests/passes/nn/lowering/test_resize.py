"""Resize against ONNX's reference, and the shape of its index arithmetic."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from clopt.dialects import nn
from clopt.errors import CloptError
from support.tir.harness import evaluate, examples, onnx_reference

COORDINATES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_crop_and_resize",
)
ROUNDING = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
# Binary fractions: the reference computes their coordinates without rounding, as we do.
SCALES = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0)
ROI = [0.0, 0.0, 0.125, 0.25, 1.0, 1.0, 0.75, 1.375]


def compare(
    x: np.ndarray, mode: str, coordinates: str, scales: Sequence[float], **options: object
) -> None:
    """One resize by scales against the reference."""
    roi = ROI if coordinates == "tf_crop_and_resize" else None
    (expected,) = onnx_reference(
        "Resize",
        x,
        None if roi is None else np.array(roi, "f4"),
        np.array(scales, "f4"),
        mode=mode,
        coordinate_transformation_mode=coordinates,
        **{name: int(o) if isinstance(o, bool) else o for name, o in options.items()},
    )
    (y,) = evaluate(
        lambda x: nn.ResizeOp(
            x, expected.shape, mode, coordinate_mode=coordinates, scales=scales, roi=roi, **options
        ),
        x,
    )
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)


@st.composite
def images(draw: st.DrawFn) -> tuple[np.ndarray, list[float]]:
    """An image and scales that leave something of it."""
    sizes = [draw(st.integers(1, 7)) for _ in range(2)]
    scales = [draw(st.sampled_from([s for s in SCALES if s * n >= 1])) for n in sizes]
    x = np.random.default_rng(draw(st.integers(0, 99))).normal(size=(1, 2, *sizes))
    return x.astype("f4"), [1.0, 1.0, *scales]


def follows_text(coordinates: str, x: np.ndarray, scales: list[float]) -> bool:
    """Whether the reference does what ONNX's text says.

    It does not for a single pixel as PyTorch has it, and a centre of symmetry that it rounds to
    just below a pixel gets the taps of that pixel with the weights of the one before.
    """
    lengths = [scale * size for scale, size in zip(scales[2:], x.shape[2:], strict=True)]
    if coordinates == "half_pixel_symmetric":
        return all(length == int(length) for length in lengths)
    return coordinates != "pytorch_half_pixel" or min(lengths) >= 2


@pytest.mark.parametrize("coordinates", COORDINATES)
@given(images(), st.sampled_from(ROUNDING))
@examples(15)
def test_nearest(coordinates: str, case: tuple[np.ndarray, list[float]], rounding: str) -> None:
    x, scales = case
    assume(follows_text(coordinates, *case))
    compare(x, "nearest", coordinates, scales, nearest_mode=rounding, extrapolation_value=7.0)


@pytest.mark.parametrize("coordinates", COORDINATES)
@given(images(), st.sampled_from(["linear", "cubic"]), st.booleans())
@examples(15)
def test_interpolation(
    coordinates: str, case: tuple[np.ndarray, list[float]], mode: str, exclude: bool
) -> None:
    x, scales = case
    assume(follows_text(coordinates, *case))
    compare(
        x,
        mode,
        coordinates,
        scales,
        exclude_outside=exclude,
        extrapolation_value=-3.0,
        cubic_coeff_a=-0.5,
    )


@pytest.mark.parametrize("dtype", ["f2", "f8"])
def test_other_floats(dtype: str) -> None:
    x = np.random.default_rng(0).normal(size=(1, 1, 5, 4)).astype(dtype)
    (y,) = evaluate(lambda x: nn.ResizeOp(x, (1, 1, 7, 9), "cubic"), x)
    (expected,) = onnx_reference("Resize", x, None, None, np.array([1, 1, 7, 9]), mode="cubic")
    tolerance = 2e-3 if dtype == "f2" else 1e-5
    np.testing.assert_allclose(y, expected, rtol=tolerance, atol=tolerance)


def test_integers_are_copied_but_not_interpolated() -> None:
    x = np.arange(6, dtype="u1").reshape(1, 1, 2, 3)
    (y,) = evaluate(lambda x: nn.ResizeOp(x, (1, 1, 4, 6), coordinate_mode="asymmetric"), x)
    np.testing.assert_array_equal(y, x.repeat(2, 2).repeat(2, 3))
    with pytest.raises(CloptError, match="cast the input to float"):
        evaluate(lambda x: nn.ResizeOp(x, (1, 1, 4, 6), "linear"), x)


def test_symmetric_coordinates() -> None:
    x = np.arange(7, dtype="f8")
    (y,) = evaluate(
        lambda x: nn.ResizeOp(
            x, (5,), "linear", coordinate_mode="half_pixel_symmetric", scales=[0.75]
        ),
        x,
    )
    offset = 3.5 * (1 - 5 / 5.25)
    np.testing.assert_allclose(y, offset + (np.arange(5) + 0.5) / 0.75 - 0.5, rtol=1e-12)
    assert y[2] == 3


@pytest.mark.parametrize("size", [3, 6, 7, 96, 224, 640])
@pytest.mark.parametrize("resized", [1, 2, 5, 8, 97, 300])
@pytest.mark.parametrize("coordinates", ["half_pixel", "align_corners", "asymmetric"])
def test_coordinates_are_exact(size: int, resized: int, coordinates: str) -> None:
    """Linear interpolation of a ramp gives the coordinates themselves."""
    x = np.arange(size, dtype="f8")
    (y,) = evaluate(lambda x: nn.ResizeOp(x, (resized,), "linear", coordinate_mode=coordinates), x)
    i = np.arange(resized)
    expected = {
        "half_pixel": (i + 0.5) * size / resized - 0.5,
        "align_corners": i * (size - 1) / max(resized - 1, 1),
        "asymmetric": i * size / resized,
    }[coordinates]
    np.testing.assert_allclose(y, expected.clip(0, size - 1), rtol=1e-12, atol=1e-12)
