"""The same networks in half stay close to onnxruntime's answers in f32."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest

import clopt
from support.onnx import builders

TOLERANCE = 1e-2


# Without half arithmetic, as on PoCL, f16 is f16-storage.
@pytest.mark.in_turns
@pytest.mark.usefixtures("quick_builds")
@pytest.mark.parametrize("name", builders.by_effort())
def test_network_in_half(name: str, device: str) -> None:
    _check(name, device, "f16")


@pytest.mark.in_turns
@pytest.mark.usefixtures("quick_builds")
@pytest.mark.parametrize("name", ["mobilenet_v2", "vit_tiny", "unet"])
def test_network_stored_in_half(name: str, device: str) -> None:
    _check(name, device, "f16-storage")


def _check(name: str, device: str, precision: str) -> None:
    model = builders.NETWORKS[name]()
    inputs = builders.inputs_for(model)
    expected = onnxruntime.InferenceSession(model.SerializeToString()).run(None, inputs)
    compiled = clopt.compile(model, device=device, precision=precision)
    assert {array.dtype for array in map(compiled.weights.get, compiled.weights.keys())} >= {
        np.dtype(np.float16)
    }
    for got, want in zip(compiled.run(inputs), map(np.asarray, expected), strict=True):
        assert got.dtype == want.dtype
        assert got.shape == want.shape
        error = np.abs(got - want).max() / np.abs(want).max()
        assert 0 < error <= TOLERANCE
