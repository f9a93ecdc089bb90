"""The numpy evaluator of nn against onnxruntime: reductions, pools, norms and resizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clopt.dialects import nn
from support.nn.evaluated import Drawing, by_onnx, check, integers

floats = Drawing(7)

REDUCE = {
    "sum": "ReduceSum",
    "mean": "ReduceMean",
    "max": "ReduceMax",
    "min": "ReduceMin",
    "prod": "ReduceProd",
    "l1": "ReduceL1",
    "l2": "ReduceL2",
    "log_sum": "ReduceLogSum",
    "log_sum_exp": "ReduceLogSumExp",
    "sum_square": "ReduceSumSquare",
}


@pytest.mark.parametrize("kind", REDUCE)
def test_reduce(kind: str) -> None:
    x = np.abs(floats(2, 3, 4)) + 0.5
    expected = by_onnx(REDUCE[kind], [x, integers(0, 2)], 1, keepdims=0)
    check(lambda v: nn.ReduceOp(v, kind, (0, 2)), [x], expected)


def test_mean_of_integers_that_cannot_hold_the_sum() -> None:
    x = np.full(256, 127, np.int8)
    check(lambda v: nn.ReduceOp(v, "mean", (0,)), [x], [np.array(127, np.int8)])


@pytest.mark.parametrize("largest", [True, False])
def test_top_k(largest: bool) -> None:
    x = np.round(floats(4, 7) * 2)
    expected = by_onnx("TopK", [x, integers(3)], 2, largest=int(largest), axis=1)
    check(lambda v: nn.TopKOp(v, 3, 1, largest), [x], expected)


_X4 = floats(2, 3, 8, 9)
_WINDOW: dict[str, Any] = {"strides": (2, 3), "pads": (1, 0, 2, 1)}


@pytest.mark.parametrize("ceil", [False, True])
def test_max_pool(ceil: bool) -> None:
    window = {**_WINDOW, "dilations": (1, 2), "ceil_mode": ceil}
    expected = by_onnx(
        "MaxPool", [_X4], 2, kernel_shape=(3, 2), **{**window, "ceil_mode": int(ceil)}
    )
    check(lambda v: nn.PoolOp(v, "max", (3, 2), **window), [_X4], expected[:1])
    check(lambda v: nn.MaxPoolIndicesOp(v, (3, 2), **window), [_X4], expected[1:])


@pytest.mark.parametrize("include", [False, True])
@pytest.mark.parametrize("ceil", [False, True])
def test_average_pool(ceil: bool, include: bool) -> None:
    expected = by_onnx(
        "AveragePool",
        [_X4],
        1,
        kernel_shape=(3, 2),
        ceil_mode=int(ceil),
        count_include_pad=int(include),
        **_WINDOW,
    )
    check(
        lambda v: nn.PoolOp(
            v, "average", (3, 2), ceil_mode=ceil, count_include_pad=include, **_WINDOW
        ),
        [_X4],
        expected,
    )


def test_lp_pool() -> None:
    expected = by_onnx("LpPool", [_X4], 1, kernel_shape=(3, 2), p=3, **_WINDOW)
    check(lambda v: nn.PoolOp(v, "lp", (3, 2), p=3, **_WINDOW), [_X4], expected)


def test_rms_norm() -> None:
    x, scale = floats(2, 3, 8), floats(8)
    expected = x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-5)) * scale
    check(nn.RmsNormOp, [x, scale], [expected])


_LINEAR = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")


@pytest.mark.parametrize("sizes", [(1, 2, 7, 3), (1, 2, 8, 10), (1, 2, 1, 2)])
@pytest.mark.parametrize(
    ("mode", "coordinates", "nearest"),
    [
        *(("linear", c, "floor") for c in (*_LINEAR, "half_pixel_symmetric")),
        *(("cubic", c, "floor") for c in _LINEAR),
        *(("nearest", c, "round_prefer_floor") for c in (*_LINEAR, "tf_half_pixel_for_nn")),
        *(("nearest", "asymmetric", n) for n in ("round_prefer_ceil", "floor", "ceil")),
    ],
)
def test_resize(mode: str, coordinates: str, nearest: str, sizes: tuple[int, ...]) -> None:
    x = floats(1, 2, 4, 5)
    attributes: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": coordinates}
    if mode == "nearest":
        attributes["nearest_mode"] = nearest
    expected = by_onnx("Resize", [x, None, None, integers(*sizes)], 1, **attributes)
    check(
        lambda v: nn.ResizeOp(v, sizes, mode, coordinate_mode=coordinates, nearest_mode=nearest),
        [x],
        expected,
    )


def test_crop_and_resize() -> None:
    x = floats(1, 1, 4, 4)
    roi = [0, 0, 0.4, 0.6, 1, 1, 1.2, 1.7]
    expected = by_onnx(
        "Resize",
        [x, np.float32(roi), None, integers(1, 1, 3, 3)],
        1,
        mode="linear",
        coordinate_transformation_mode="tf_crop_and_resize",
        extrapolation_value=10.0,
    )
    check(
        lambda v: nn.ResizeOp(
            v,
            (1, 1, 3, 3),
            "linear",
            coordinate_mode="tf_crop_and_resize",
            extrapolation_value=10.0,
            roi=roi,
        ),
        [x],
        expected,
    )
