"""Pictures as inputs of `clopt-run`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from clopt.api import TensorInfo
from clopt.tools.inputs import ImageScaling, read_image


@pytest.mark.parametrize("shape", [(1, 3, 4, 5), (1, 6, 5, 3)])
def test_image_becomes_an_input(shape: tuple[int, ...], tmp_path: Path):
    file = tmp_path / "red.png"
    Image.new("RGB", (5, 4), (255, 0, 0)).save(file)
    scaling = ImageScaling(mean=(0.5, 0.5, 0.5), std=(0.25, 0.5, 1.0))
    array = read_image(file, TensorInfo("x", shape, np.dtype(np.float32)), scaling)
    assert array.shape == shape
    channels = np.moveaxis(array, shape.index(3), -1)
    assert np.array_equal(channels[0, 2, 2], np.array([2.0, -1.0, -0.5], np.float32))


def test_image_for_bytes_is_not_scaled(tmp_path: Path):
    file = tmp_path / "grey.png"
    Image.new("L", (2, 2), 77).save(file)
    array = read_image(file, TensorInfo("x", (1, 1, 8, 8), np.dtype(np.uint8)), ImageScaling())
    assert np.array_equal(array, np.full((1, 1, 8, 8), 77, np.uint8))
