"""Operators of com.microsoft on whole tensors, against onnxruntime or numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clopt.errors import CloptError
from support.onnx.models import load
from support.onnx.single_node import (
    Case,
    check_import,
    contrib,
    examples,
    generators,
    ints,
    shapes,
    values,
)

_RNG = np.random.default_rng(0)
_X = values(_RNG, (2, 3, 4))

CASES: dict[str, Case] = {
    "expand dims": contrib("ExpandDims", _X, np.array(-2, np.int32), constants=[1]),
    "gather nd": contrib("GatherND", _X, np.array([[1, 2], [0, 0]])),
    "pad": contrib("Pad", _X, ints(0, 1, 0, 2, 0, 1), np.array(5, "f4"), constants=[1, 2]),
    "range": contrib("Range", *(np.array(n, "f4") for n in (1, 4)), constants=[0, 1]),
    "range with a step": contrib("Range", *map(np.array, (9, 1, -3)), constants=[0, 1, 2]),
    "sample": contrib("SampleOp", _X),
    "upper triangle": contrib("Trilu", _X, np.array(1), constants=[1]),
    "lower triangle": contrib("Trilu", _X, upper=0),
    "grid": contrib(
        "GridSample", values(_RNG, (1, 2, 4, 4)), values(_RNG, (1, 3, 3, 2), low=-1, high=1)
    ),
    "distances": contrib("CDist", _X[0], _X[1], metric="euclidean"),
    "squares": contrib("CDist", _X[0], _X[1], metric="sqeuclidean"),
}


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_onnxruntime(name: str) -> None:
    check_import(CASES[name], 1e-4)


@given(generators, shapes(0, 2, 2), st.integers(1, 6))
@examples(5)
def test_inverse(rng: np.random.Generator, batch: tuple[int, ...], size: int) -> None:
    """Rows in a random order, so that pivots are not on the diagonal."""
    matrix = np.eye(size, dtype=np.float32)[rng.permutation(size)]
    case = contrib("Inverse", matrix + values(rng, (*batch, size, size), low=-0.1, high=0.1))
    check_import(case, 1e-4)


def _run(kind: str, *arrays: np.ndarray, **attributes: Any) -> np.ndarray:
    """The result in numpy; onnxruntime has no kernel for processors."""
    return load(contrib(kind, *arrays, **attributes).model).run(*arrays)[0]


@pytest.mark.parametrize("length", [2, 6, 7])
def test_fourier_transforms(length: int) -> None:
    x = values(_RNG, (2, 3, length), np.float64)
    for onesided, transform in ((1, np.fft.rfft), (0, np.fft.fft)):
        spectrum = transform(x)
        expected = np.stack([spectrum.real, spectrum.imag], -1)
        found = _run("Rfft", x, signal_ndim=1, normalized=0, onesided=onesided)
        np.testing.assert_allclose(found, expected, atol=1e-9)
    half = np.fft.rfft(x)
    parts = np.stack([half.real, half.imag], -1)
    found = _run("Irfft", parts, signal_ndim=1, normalized=0, onesided=1)
    np.testing.assert_allclose(found, np.fft.irfft(half), atol=1e-9)


def test_embedding_reads_rows() -> None:
    table, rows = values(_RNG, (5, 3)), np.array([[4, 0], [1, 1]])
    np.testing.assert_array_equal(_run("TorchEmbedding", table, rows), table[rows])


def test_what_is_not_supported_is_refused() -> None:
    with pytest.raises(CloptError, match=r"inverts matrices of shape \[3, 4\]"):
        load(contrib("Inverse", _X).model)
    with pytest.raises(CloptError, match="only transforms of one dimension"):
        load(contrib("Rfft", _X, signal_ndim=2).model)
