"""Products of quantised matrices against onnxruntime, whose weights have 7 bits: on processors with
AVX2 alone it adds two products of bytes in 16 bits, which saturates with larger ones.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clopt.errors import CloptError
from support.onnx.models import by_onnxruntime, load
from support.onnx.single_node import check_import, contrib, examples, generators, shapes, values


def _weights(
    rng: np.random.Generator, by_column: bool, has_zero: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Weights [6, 5], their scale and zero point."""
    columns = (5,) if by_column else ()
    weights = rng.integers(-32, 32, (6, 5)).astype(np.int8)
    scale = np.asarray(rng.uniform(0.01, 0.02, columns), np.float32)
    zero = np.asarray(rng.integers(-8, 8, columns), np.int8) if has_zero else None
    return weights, scale, zero


@given(generators, shapes(0, 2), *[st.booleans()] * 3)
@examples(7)
def test_matmul_integer_to_float(
    rng: np.random.Generator, batch: tuple[int, ...], by_column: bool, has_zero: bool, adds: bool
) -> None:
    a = rng.integers(0, 256, (*batch, 4, 6)).astype(np.uint8)
    w, scale, zero = _weights(rng, by_column, has_zero)
    bias = values(rng, (5,)) if adds else None
    a_zero = np.array(120, np.uint8) if has_zero else None
    step = np.array(0.05, np.float32)
    check_import(contrib("MatMulIntegerToFloat", a, w, step, scale, a_zero, zero, bias))


@given(generators, shapes(0, 2), *[st.booleans()] * 3)
@examples(7)
def test_dynamic_quantize_matmul(
    rng: np.random.Generator, batch: tuple[int, ...], by_column: bool, has_zero: bool, adds: bool
) -> None:
    w, scale, zero = _weights(rng, by_column, has_zero)
    bias = values(rng, (5,)) if adds else None
    a = values(rng, (*batch, 4, 6))
    check_import(contrib("DynamicQuantizeMatMul", a, w, scale, zero, bias))


@given(
    generators,
    st.sampled_from([2, 4, 8]),
    st.sampled_from([16, 32]),
    st.sampled_from([16, 40, 64]),
    st.sampled_from(["none", "packed", "float"]),
    st.booleans(),
)
@examples(10)
def test_matmul_nbits(
    rng: np.random.Generator, bits: int, block: int, columns: int, zeros: str, adds: bool
) -> None:
    rows, blocks = 5, -(-columns // block)
    zeros = "packed" if (bits, zeros) == (8, "float") else zeros  # onnxruntime has no such kernel
    packed = rng.integers(0, 256, (rows, blocks, block * bits // 8)).astype(np.uint8)
    scales = values(rng, (rows, blocks), low=0.1, high=1)
    zero = {
        "none": None,
        "packed": rng.integers(0, 256, (rows, -(-blocks * bits // 8))).astype(np.uint8),
        "float": values(rng, (rows, blocks), low=0, high=2**bits),
    }[zeros]
    bias = values(rng, (rows,)) if adds else None
    case = contrib(
        "MatMulNBits",
        values(rng, (2, 3, columns)),
        packed,
        scales,
        zero,
        None,
        bias,
        constants=[1, 2, *([3] if zero is not None else [])],
        bits=bits,
        block_size=block,
        K=columns,
        N=rows,
    )
    check_import(case, 1e-4)


@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
@pytest.mark.parametrize("by_column", [False, True])
def test_dynamic_quantize_lstm(direction: str, by_column: bool) -> None:
    """onnxruntime rounds states to 8 bits, so that results differ by up to 1%."""
    rng, count = np.random.default_rng(0), 2 if direction == "bidirectional" else 1
    hidden, columns = 4, (16,) if by_column else ()
    weights = [rng.integers(-64, 64, (count, n, 16)).astype(np.int8) for n in (3, hidden)]
    scales = [values(rng, (count, *columns), low=0.005, high=0.01) for _ in range(2)]
    zeros = [np.zeros((count, *columns), np.int8) for _ in range(2)]
    case = contrib(
        "DynamicQuantizeLSTM",
        values(rng, (5, 2, 3)),
        *weights,
        values(rng, (count, 32), low=-0.5, high=0.5),
        None,
        values(rng, (count, 2, hidden), low=-0.5, high=0.5),
        values(rng, (count, 2, hidden), low=-0.5, high=0.5),
        None,
        scales[0],
        zeros[0],
        scales[1],
        zeros[1],
        constants=[1, 2, 8, 9, 10, 11],
        outputs=3,
        hidden_size=hidden,
        direction=direction,
    )
    expected = by_onnxruntime(case.model, case.feeds)
    for value, wanted in zip(load(case.model).run(*case.feeds.values()), expected, strict=True):
        np.testing.assert_allclose(value, wanted, atol=0.01)
        assert np.abs(wanted).max() > 0.1


def test_what_is_not_supported_is_refused() -> None:
    x, packed, scale = np.zeros((1, 16), "f4"), np.zeros((2, 1, 6), "u1"), np.zeros((2, 1), "f4")
    sizes = {"N": 2, "K": 16, "block_size": 16, "bits": 3}
    case = contrib("MatMulNBits", x, packed, scale, constants=[1, 2], **sizes)
    with pytest.raises(CloptError, match="weights of 3 bits are not supported"):
        load(case.model)
    case = contrib("MatMulNBits", x, packed, scale, constants=[1, 2], **{**sizes, "bits": 4})
    with pytest.raises(CloptError, match=r"its weights of shape \[2, 1, 6\] do not match N, K"):
        load(case.model)
