"""Operations of the CLML reference that pool, resize and move elements."""

from __future__ import annotations

import numpy as np
import pytest

from support.clml.reference.operations import MISSING, UNUSED, Driver, Operation, Tensor
from support.clml.reference.oracle import MODES, agrees, like, onnx_result, random

Numbers = tuple[int, ...]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["MAX", "AVERAGE_EXCLUDE_PADDING"])
@pytest.mark.parametrize(
    ("shape", "window", "strides", "pads"),
    [
        ((1, 5, 9, 11), (3, 3), (2, 2), (0, 0, 0, 0)),
        ((1, 8, 7, 6), (3, 2), (1, 2), (0, 0, 1, 1)),
        ((1, 3, 8, 8), (2, 3), (2, 1), (1, 2, 0, 1)),
        ((1, 6, 4, 7), (4, 7), (1, 1), (0, 0, 0, 0)),
    ],
)
def test_pooling(
    driver: Driver, kind: str, shape: Numbers, window: Numbers, strides: Numbers, pads: Numbers,
    mode: str,
) -> None:  # fmt: skip
    x = random(mode, *shape)
    node = "MaxPool" if kind == "MAX" else "AveragePool"
    wanted = onnx_result(node, x, kernel_shape=window, strides=strides, pads=pads)
    absent = UNUSED if kind == "MAX" else MISSING
    integers = [f"POOLING_MODE_{kind}", *pads, *strides, *window]
    tensors = [Tensor(x), absent, like(x, wanted)]
    agrees(driver.run(Operation("pooling", integers, tensors, arithmetic=mode)), wanted)


def test_pooling_propagates_nan(driver: Driver) -> None:
    x = random("FP32", 1, 3, 4, 4)
    x[0, 1, 2, 2] = np.nan
    for kind in ("MAX", "AVERAGE_EXCLUDE_PADDING"):
        integers = [f"POOLING_MODE_{kind}", 0, 0, 0, 0, 2, 2, 2, 2]
        y = np.zeros((1, 3, 2, 2), np.float32)
        result = driver.run(Operation("pooling", integers, [Tensor(x), UNUSED, Tensor(y)]))
        np.testing.assert_array_equal(np.argwhere(np.isnan(result)), [[0, 1, 1, 1]])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("kind", "pads"),
    [
        ("CONSTANT", (1, 0, 2, 3)),
        ("REFLECT", (3, 1, 2, 4)),
        ("SYMMETRIC", (4, 1, 2, 5)),
        ("CONSTANT", (0, 0, 9, 0)),
    ],
)
def test_pad(driver: Driver, kind: str, pads: Numbers, mode: str) -> None:
    """Pads are top, bottom, left, right."""
    x = random(mode, 1, 6, 4, 5)
    widths = ((0, 0), (0, 0), pads[:2], pads[2:])
    wanted = np.pad(x, widths, kind.lower()).astype(np.float32)  # pyright: ignore
    operation = Operation(
        "pad", [f"PAD_MODE_{kind}", *pads, 0], [Tensor(x), like(x, wanted)], arithmetic=mode
    )
    np.testing.assert_array_equal(driver.run(operation), wanted)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("layout", ["OPTIMAL", "NCHW"])
@pytest.mark.parametrize(
    ("shape", "made"),
    [((1, 6, 4, 5), (1, 120, 1, 1)), ((1, 120, 1, 1), (1, 5, 3, 8)), ((1, 3, 4, 5), (1, 4, 5, 3))],
)
def test_reshape(driver: Driver, shape: Numbers, made: Numbers, layout: str, mode: str) -> None:
    x = random(mode, *shape)
    wanted = x.reshape(made)
    operation = Operation("reshape", [], [Tensor(x, layout), like(x, wanted, layout)])
    np.testing.assert_array_equal(driver.run(operation), wanted)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("channels", [(3, 6), (1, 4, 2, 9, 5), (7,) * 20])
def test_concat(driver: Driver, channels: Numbers, mode: str) -> None:
    arrays = [random(mode, 1, count, 3, 4, seed=i) for i, count in enumerate(channels)]
    wanted = np.concatenate(arrays, 1)
    tensors = [*map(Tensor, arrays), like(arrays[0], wanted)]
    operation = Operation("concat", [1], tensors, arithmetic=mode)
    np.testing.assert_array_equal(driver.run(operation), wanted)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("shape", "block"), [((1, 64, 3, 2), 4), ((1, 12, 5, 3), 2)])
def test_depth_to_space(driver: Driver, shape: Numbers, block: int, mode: str) -> None:
    x = random(mode, *shape)
    wanted = onnx_result("DepthToSpace", x, blocksize=block, mode="DCR")
    tensors = [Tensor(x), like(x, wanted)]
    operation = Operation("depth_to_space", [block], tensors, arithmetic=mode)
    np.testing.assert_array_equal(driver.run(operation), wanted)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize(
    ("shape", "sizes"), [((1, 6, 8, 8), (16, 16)), ((1, 5, 7, 3), (9, 11)), ((1, 4, 1, 5), (2, 1))]
)
def test_resize_bilinear(
    driver: Driver, shape: Numbers, sizes: Numbers, align: bool, mode: str
) -> None:
    x = random(mode, *shape)
    wanted = onnx_result(
        "Resize",
        x,
        None,
        None,
        np.array([*shape[:2], *sizes]),
        mode="linear",
        coordinate_transformation_mode="align_corners" if align else "asymmetric",
    )
    tensors = [Tensor(x), like(x, wanted)]
    operation = Operation("resize_bilinear", [int(align), 0], tensors, arithmetic=mode)
    agrees(driver.run(operation), wanted)
