"""Small whole networks compiled for an Adreno give onnxruntime's answers from images, anywhere."""

from __future__ import annotations

import builders
import numpy as np
import onnxruntime
import pytest

import clopt

TARGET = "adreno-740 texture=prefer fp16=false"
"""Without arithmetic in half, which the device has and the runtimes of the tests have not."""

TOLERANCES = {"f32": 1e-4, "f16-storage": 1e-2}


def _check(name: str, device: str, precision: str) -> None:
    model = builders.NETWORKS[name]()
    inputs = builders.inputs_for(model)
    expected = onnxruntime.InferenceSession(model.SerializeToString()).run(None, inputs)
    compiled = clopt.compile(model, target=TARGET, device=device, precision=precision)
    assert "__read_only image2d_t" in compiled.source
    for got, want in zip(compiled.run(inputs), map(np.asarray, expected), strict=True):
        assert got.dtype == want.dtype
        assert got.shape == want.shape
        assert np.abs(got - want).max() <= TOLERANCES[precision] * np.abs(want).max()


@pytest.mark.parametrize("name", list(builders.NETWORKS))
def test_float(name: str, device: str) -> None:
    _check(name, device, "f32")


@pytest.mark.parametrize("name", ["mobilenet_v2", "vit_tiny", "unet"])
def test_half_storage(name: str, device: str) -> None:
    _check(name, device, "f16-storage")
