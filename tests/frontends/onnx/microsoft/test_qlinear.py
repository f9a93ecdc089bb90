"""Operators on quantised tensors that no test on devices has, against onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest

from support.onnx.models import by_onnxruntime, load
from support.onnx.single_node import Case, contrib, values

_RNG = np.random.default_rng(0)
_BYTES = [_RNG.integers(0, 256, (2, 4, 5)).astype(np.uint8) for _ in range(2)]
_STEPS = [np.array(step, np.float32) for step in (0.05, 0.04, 0.03)]
_ZEROS = [np.array(zero, np.uint8) for zero in (120, 7, 60)]
_COLUMN = _RNG.uniform(0.01, 0.03, 4).astype(np.float32)

_IMAGE = _RNG.integers(0, 256, (2, 5, 7, 4)).astype(np.uint8)
"""Channels last."""
_QUANTISED = (_STEPS[0], _ZEROS[0], _STEPS[2], _ZEROS[1])
_KERNEL = (
    _RNG.integers(-64, 64, (6, 4, 3, 3)).astype(np.int8),
    np.array(0.01, np.float32),
    np.array(0, np.int8),
)

CASES: dict[str, Case] = {
    "average": contrib(
        "QLinearAveragePool", _IMAGE, *_QUANTISED, channels_last=1, kernel_shape=[3, 2]
    ),
    "largest": contrib(
        "NhwcMaxPool", _IMAGE, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1]
    ),
    "conv": contrib(
        "QLinearConv",
        _IMAGE,
        *_QUANTISED[:2],
        *_KERNEL,
        np.array(0.4, np.float32),
        _ZEROS[0],
        _RNG.integers(-2000, 2000, 6).astype(np.int32),
        channels_last=1,
        strides=[2, 1],
    ),
    "where": contrib(
        "QLinearWhere",
        _RNG.integers(0, 2, (4, 5)).astype(np.bool_),
        *(_BYTES[0], _STEPS[0], _ZEROS[0]),
        *(_BYTES[1], _STEPS[1], _ZEROS[1]),
        *(_STEPS[2], _ZEROS[2]),
    ),
    "quantise": contrib("QuantizeLinear", values(_RNG, (2, 4, 5)), _STEPS[0], _ZEROS[0]),
    "quantise to 16 bits": contrib(
        "QuantizeLinear", values(_RNG, (2, 4, 5)), _STEPS[0], np.array(3, np.int16)
    ),
    "quantise columns": contrib(
        "QuantizeLinear", values(_RNG, (2, 4, 5)), _COLUMN, np.arange(4).astype(np.uint8), axis=1
    ),
    "dequantise": contrib("DequantizeLinear", _BYTES[0], _STEPS[0], _ZEROS[0]),
    "dequantise 32 bits": contrib(
        "DequantizeLinear", _BYTES[0].astype(np.int32), _STEPS[0], np.array(0, np.int32)
    ),
    "dequantise columns": contrib(
        "DequantizeLinear", _BYTES[0], _COLUMN, np.arange(4).astype(np.uint8), axis=-2
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_onnxruntime(name: str) -> None:
    """A quotient at a tie may round either way, so integers may differ by a step."""
    case = CASES[name]
    (expected,) = by_onnxruntime(case.model, case.feeds)
    (found,) = load(case.model).run(*case.feeds.values())
    assert found.dtype == expected.dtype
    assert len(np.unique(expected)) > 3
    tolerance = 1 if found.dtype.kind in "iu" else 1e-6
    np.testing.assert_allclose(found.astype("f8"), expected.astype("f8"), rtol=0, atol=tolerance)
