"""Attention of com.microsoft, in its forms of masks, caches and heads, against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.onnx.models import by_onnxruntime, load
from support.onnx.single_node import (
    Case,
    check_import,
    contrib,
    examples,
    generators,
    values,
)

BATCH, LENGTH, HEADS, SIZE = 2, 4, 2, 6
WIDTH = HEADS * SIZE


def _mask(rng: np.random.Generator, kind: str, past: int) -> np.ndarray | None:
    total = past + LENGTH
    ends = rng.integers(1, total + 1, BATCH)
    made: dict[str, Any] = {
        "none": None,
        "ends": ends,
        "ends and starts": np.concatenate([ends, np.minimum(rng.integers(0, 3, BATCH), ends - 1)]),
        "keys": rng.integers(0, 2, (BATCH, total)),
        "queries and keys": rng.integers(0, 2, (BATCH, LENGTH, total)),
    }
    array = made[kind]
    if array is None:
        return None
    if array.ndim > 1:
        # Scores of which all are near -10000 have rounding errors of 1e-3.
        array[..., 0] = 1
    return array.astype(np.int32)


MASKS = ("none", "ends", "ends and starts", "keys", "queries and keys")


@given(
    generators,
    st.sampled_from(MASKS),
    st.sampled_from([0, 3]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([{}, {"scale": 0.3}, {"mask_filter_value": -50.0}]),
)
@examples(15)
def test_attention(
    rng: np.random.Generator,
    mask: str,
    past: int,
    causal: bool,
    biased: bool,
    attributes: dict[str, float],
) -> None:
    past = 0 if biased else past  # onnxruntime takes one of both
    causal = causal and mask != "ends and starts"  # a query needs a key
    state = values(rng, (2, BATCH, HEADS, past, SIZE)) if past else None
    bias = values(rng, (1, HEADS, LENGTH, past + LENGTH)) if biased else None
    case = contrib(
        "Attention",
        values(rng, (BATCH, LENGTH, 5)),
        values(rng, (5, 3 * WIDTH), low=-1, high=1),
        values(rng, (3 * WIDTH,)),
        _mask(rng, mask, past),
        state,
        bias,
        outputs=2 if past else 1,
        num_heads=HEADS,
        unidirectional=int(causal),
        **attributes,
    )
    check_import(case)


def test_values_may_be_of_another_width_than_keys() -> None:
    rng = np.random.default_rng(0)
    x, w, b = values(rng, (2, 3, 5)), values(rng, (5, 12 + 12 + 8)), values(rng, (32,))
    check_import(contrib("Attention", x, w, b, num_heads=2, qkv_hidden_sizes=[12, 12, 8]))


@given(generators, st.sampled_from(["none", "ends", "keys"]), st.booleans(), st.booleans())
@examples(5)
def test_quantised_attention(
    rng: np.random.Generator, mask: str, causal: bool, by_column: bool
) -> None:
    columns = (3 * WIDTH,) if by_column else ()
    case = contrib(
        "QAttention",
        rng.integers(0, 256, (BATCH, LENGTH, 5)).astype(np.uint8),
        rng.integers(-64, 64, (5, 3 * WIDTH)).astype(np.int8),
        values(rng, (3 * WIDTH,)),
        np.array(0.02, np.float32),
        np.asarray(values(rng, columns, low=0.01, high=0.02), np.float32),
        _mask(rng, mask, 0),
        np.array(120, np.uint8),
        np.zeros(columns, np.int8),
        num_heads=HEADS,
        unidirectional=int(causal),
    )
    check_import(case)


@given(
    generators,
    st.sampled_from(["none", "ends", "keys", "queries and keys"]),
    st.sampled_from([0, 3]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
@examples(15)
def test_multi_head_attention(
    rng: np.random.Generator, mask: str, past: int, causal: bool, biased: bool, added: bool
) -> None:
    states = [values(rng, (BATCH, HEADS, past, SIZE)) if past else None for _ in range(2)]
    case = contrib(
        "MultiHeadAttention",
        *(values(rng, (BATCH, LENGTH, WIDTH)) for _ in range(3)),
        values(rng, (3 * WIDTH,)) if biased else None,
        _mask(rng, mask, past),
        values(rng, (BATCH, 1, LENGTH, past + LENGTH)) if added else None,
        *states,
        outputs=3 if past else 1,
        num_heads=HEADS,
        unidirectional=int(causal),
    )
    check_import(case)


def test_cross_attention() -> None:
    rng = np.random.default_rng(1)
    q, k, v = (values(rng, (2, n, w)) for n, w in ((3, 12), (5, 12), (5, 8)))
    bias = values(rng, (32,))
    check_import(contrib("MultiHeadAttention", q, k, v, bias, num_heads=2))
    check_import(contrib("MultiHeadAttention", q, k, v, num_heads=2, outputs=3))
    k, v = values(rng, (2, 2, 5, 6)), values(rng, (2, 2, 5, 6))
    check_import(contrib("MultiHeadAttention", q, k, v, num_heads=2))


def test_packed_heads_are_the_same() -> None:
    """onnxruntime's kernel for processors refuses them; the kernel of parts is the oracle."""
    rng = np.random.default_rng(2)
    parts = [values(rng, (2, 3, 2, 4)) for _ in range(3)]
    flat = [part.reshape(2, 3, 8) for part in parts]
    plain = contrib("MultiHeadAttention", *flat, num_heads=2)
    (expected,) = by_onnxruntime(plain.model, plain.feeds)
    packed = np.stack(parts, 3)
    (found,) = load(contrib("MultiHeadAttention", packed, num_heads=2).model).run(packed)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    pair = np.stack(parts[1:], 3)
    (found,) = load(contrib("MultiHeadAttention", flat[0], pair, num_heads=2).model).run(
        flat[0], pair
    )
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@given(
    generators,
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, 4]),
    st.booleans(),
)
@examples(10)
def test_rotary_embedding(
    rng: np.random.Generator, apart: bool, interleaved: bool, rotated: int | None, shared: bool
) -> None:
    shape = (BATCH, HEADS, LENGTH, SIZE) if apart else (BATCH, LENGTH, WIDTH)
    pairs = (rotated or SIZE) // 2
    positions = np.array([3]) if shared else rng.integers(0, 9, (BATCH, LENGTH))
    attributes: dict[str, Any] = {"interleaved": int(interleaved)}
    if rotated:
        attributes |= {"rotary_embedding_dim": rotated, "num_heads": HEADS}
    case = contrib(
        "RotaryEmbedding",
        values(rng, shape),
        positions.astype(np.int64),
        *(values(rng, (9, pairs), low=-1, high=1) for _ in range(2)),
        **attributes,
    )
    check_import(case)


def _grouped(
    rng: np.random.Generator, past: int, held: int, new: int, packed: bool, **attributes: Any
) -> Case:
    """Four heads in two groups; `held` entries of caches of `past` are in use."""
    size, heads, groups, total = 16, 4, 2, held + new
    widths = (heads, groups, groups)
    apart = [values(rng, (1, new, n * size)) for n in widths]
    parts = [np.concatenate(apart, -1), None, None] if packed else apart
    states = [values(rng, (1, groups, past, size)) if past else None for _ in range(2)]
    angles = [values(rng, (16, size // 2)) for _ in range(2)]
    rotary = attributes.get("do_rotary")
    return contrib(
        "GroupQueryAttention",
        *parts,
        *states,
        np.array([total - 1], np.int32),
        np.array(total, np.int32),
        *(angles if rotary else [None, None]),
        None,
        values(rng, (1, heads, new, total)) if attributes.pop("biased", False) else None,
        values(rng, (heads,)) if attributes.pop("sink", False) else None,
        constants=[6],
        outputs=3,
        num_heads=heads,
        kv_num_heads=groups,
        **attributes,
    )


FEATURES: dict[str, dict[str, Any]] = {
    "plain": {},
    "scale": {"scale": 0.4},
    "rotary": {"do_rotary": 1},
    "interleaved": {"do_rotary": 1, "rotary_interleaved": 1},
    "window": {"local_window_size": 2},
    "softcap": {"softcap": 1.5},
    "smooth": {"smooth_softmax": 1},
    "sink": {"sink": True},
    "bias": {"biased": True},
    "bias and softcap": {"biased": True, "softcap": 1.5},
}


@pytest.mark.by_default(cases=6)
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("lengths", [(0, 0, 4), (3, 3, 1), (3, 3, 2), (8, 3, 1)])
@pytest.mark.parametrize("feature", FEATURES)
def test_grouped_query_attention(feature: str, lengths: tuple[int, int, int], packed: bool) -> None:
    past, held, new = lengths
    case = _grouped(np.random.default_rng(5), past, held, new, packed, **FEATURES[feature])
    expected = by_onnxruntime(case.model, case.feeds)
    found = load(case.model).run(*case.feeds.values())
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-4, atol=1e-5)
    for state, wanted in zip(found[1:], expected[1:], strict=True):
        assert state.shape == wanted.shape
        used = (slice(None), slice(None), slice(held + new))
        np.testing.assert_allclose(state[used], wanted[used], rtol=1e-5, atol=1e-6)
