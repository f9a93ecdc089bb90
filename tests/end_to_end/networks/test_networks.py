"""Small whole networks give onnxruntime's answers, the most varied ones on every OpenCL runtime."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest

import clopt
from support.onnx import builders

TOLERANCE = 1e-4
NAMES = [
    pytest.param(name, marks=() if name in builders.VARIED else pytest.mark.in_turns)
    for name in builders.NETWORKS
]
"""The varied ones on every runtime, the others on one each."""


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.by_default(cases=1)
def test_network(name: str, device: str) -> None:
    model = builders.NETWORKS[name]()
    inputs = builders.inputs_for(model)
    expected = onnxruntime.InferenceSession(model.SerializeToString()).run(None, inputs)
    outputs = clopt.compile(model, device=device).run(inputs)
    assert len(outputs) == len(expected)
    for got, want in zip(outputs, map(np.asarray, expected), strict=True):
        assert got.dtype == want.dtype
        assert got.shape == want.shape
        assert np.abs(got - want).max() <= TOLERANCE * np.abs(want).max()
