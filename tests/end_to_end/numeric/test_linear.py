"""Matrix products: broadcast batches, vectors, Gemm's transposes and factors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.onnx.single_node import by_onnx, check, examples, generators, node, values

pytestmark = pytest.mark.in_turns

extents = st.sampled_from([1, 2, 3, 7, 8, 9, 16, 17, 33])


@examples(8)
@given(rng=generators, m=extents, k=extents, n=extents, constant=st.booleans())
@pytest.mark.by_default(cases=1)
def test_matmul(
    device: str, rng: np.random.Generator, m: int, k: int, n: int, constant: bool
) -> None:
    a, b = values(rng, (m, k)), values(rng, (k, n))
    check(node("MatMul", a, b, constants=[1] if constant else []), device)


@examples(5)
@given(
    rng=generators,
    m=extents,
    k=extents,
    n=extents,
    batches=st.sampled_from(
        [((2,), (2,)), ((2, 3), (2, 3)), ((2, 1), (3,)), ((), (4,)), ((3,), ()), ((1, 2), (5, 1))]
    ),
)
def test_batched_matmul(
    device: str,
    rng: np.random.Generator,
    m: int,
    k: int,
    n: int,
    batches: tuple[tuple[int, ...], tuple[int, ...]],
) -> None:
    check(
        node("MatMul", values(rng, (*batches[0], m, k)), values(rng, (*batches[1], k, n))), device
    )


@pytest.mark.parametrize(
    ("left", "right"), [((5,), (5,)), ((5,), (5, 3)), ((3, 5), (5,)), ((2, 3, 5), (5,))]
)
@examples(1)
@given(rng=generators)
def test_vectors(device: str, left: tuple, right: tuple, rng: np.random.Generator) -> None:
    check(node("MatMul", values(rng, left), values(rng, right)), device)


@examples(1)
@given(rng=generators)
def test_integer_matmul(device: str, rng: np.random.Generator) -> None:
    a, b = values(rng, (3, 4), np.int32), values(rng, (4, 5), np.int32)
    check(node("MatMul", a, b), device, reference=by_onnx)


@examples(8)
@given(
    rng=generators,
    m=extents,
    k=extents,
    n=extents,
    trans_a=st.integers(0, 1),
    trans_b=st.integers(0, 1),
    factors=st.sampled_from([(1.0, 1.0), (0.5, 1.0), (1.0, 0.25), (2.0, 3.0)]),
    bias=st.sampled_from(["none", "scalar", "row", "column", "full"]),
    constant=st.booleans(),
)
def test_gemm(
    device: str,
    rng: np.random.Generator,
    m: int,
    k: int,
    n: int,
    trans_a: int,
    trans_b: int,
    factors: tuple[float, float],
    bias: str,
    constant: bool,
) -> None:
    a = values(rng, (k, m) if trans_a else (m, k))
    b = values(rng, (n, k) if trans_b else (k, n))
    shape = {"scalar": (), "row": (n,), "column": (m, 1), "full": (m, n)}
    c = None if bias == "none" else values(rng, shape[bias])
    alpha, beta = factors
    case = node(
        "Gemm",
        a,
        b,
        c,
        constants=[1, 2] if constant else [],
        transA=trans_a,
        transB=trans_b,
        alpha=alpha,
        beta=beta,
    )
    check(case, device)


@examples(2)
@given(rng=generators, batch=st.integers(1, 3), size=st.integers(2, 4))
@pytest.mark.by_default(cases=1)
def test_determinant(device: str, rng: np.random.Generator, batch: int, size: int) -> None:
    case = node("Det", values(rng, (batch, size, size)), opset=22)
    check(case, device, reference=by_onnx)
