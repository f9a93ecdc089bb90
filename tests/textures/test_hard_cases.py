"""Networks that are hard for packed layouts give onnxruntime's answers, computed from images."""

from __future__ import annotations

import hard_cases
import numpy as np
import onnxruntime
import pytest

import clopt

TARGET = "adreno-740 texture=prefer fp16=false"
"""Without arithmetic in half, which the device has and the runtimes of the tests have not."""
TOLERANCES = {"f32": 1e-4, "f16-storage": 1e-2}

ILL_CONDITIONED = frozenset({"reciprocal", "log", "product_c"})
"""Small relative errors of the convolution, which half storage makes, become large ones."""
DISCRETE = frozenset({"argmax_c", "argmax_of_colours", "cast_int", "where"})
"""Rounding to half moves values across the threshold at which the result jumps."""

VIEWS = frozenset({"unpack_pixels"})
"""Nothing but other names for the input: no kernel at all."""
OF_ARITHMETIC = frozenset(
    "softmax_w log_softmax max_c min_c max_hw instance_norm resize_nearest resize_linear "
    "pad_border prelu channel_scale row_scale transpose flatten_dense".split()
)
"""Their kernels differ in what they compute; how halves are read and written, the others show."""
F16_CASES = [
    name for name in hard_cases.CASES if name not in ILL_CONDITIONED | DISCRETE | OF_ARITHMETIC
]


def _check(name: str, device: str, precision: str) -> None:
    model = hard_cases.CASES[name](False)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    shape = session.get_inputs()[0].shape
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    expected = session.run(None, {"x": x})
    compiled = clopt.compile(model, target=TARGET, device=device, precision=precision)
    assert "__read_only image" in compiled.source or name in VIEWS
    for got, want in zip(compiled.run({"x": x}), map(np.asarray, expected), strict=True):
        assert got.dtype == want.dtype
        assert got.shape == want.shape
        assert np.abs(got - want).max() <= TOLERANCES[precision] * np.abs(want).max()


@pytest.mark.parametrize("name", list(hard_cases.CASES))
def test_float(name: str, device: str) -> None:
    _check(name, device, "f32")


@pytest.mark.parametrize("name", F16_CASES)
def test_half_storage(name: str, device: str) -> None:
    _check(name, device, "f16-storage")
