"""TfIdfVectorizer counts sequences of tokens as onnxruntime does."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper

from clopt.errors import CloptError
from support.onnx.models import agree, load
from support.onnx.single_node import examples


def vectorizer(x: np.ndarray, **attributes: Any) -> onnx.ModelProto:
    """A model of one TfIdfVectorizer."""
    node = helper.make_node("TfIdfVectorizer", ["x"], ["y"], **attributes)
    dtype = helper.np_dtype_to_tensor_dtype(x.dtype)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", dtype, x.shape)],
        [onnx.ValueInfoProto(name="y")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def pool_of(rng: np.random.Generator) -> tuple[list[int], list[int], int]:
    """Distinct sequences of 1 to 3 of the tokens 0 to 3, where each length starts, their number."""
    tokens: list[int] = []
    starts: list[int] = []
    count = 0
    for length in (1, 2, 3):
        starts.append(len(tokens))
        numbers = rng.permutation(4**length)[: rng.integers(1, 4)]
        count += len(numbers)
        tokens += [int(n) // 4**i % 4 for n in numbers for i in range(length)]
    return tokens, starts, count


@examples(40)
@given(
    seed=st.integers(0, 9999),
    rows=st.sampled_from([(), (1,), (3,)]),
    mode=st.sampled_from(["TF", "IDF", "TFIDF"]),
    lengths=st.sampled_from([(1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3)]),
    skipped=st.integers(0, 4),
    is_weighted=st.booleans(),
    dtype=st.sampled_from([np.int32, np.int64]),
)
def test_counts(
    seed: int,
    rows: tuple[int, ...],
    mode: str,
    lengths: tuple[int, int],
    skipped: int,
    is_weighted: bool,
    dtype: type,
) -> None:
    rng = np.random.default_rng(seed)
    tokens, starts, count = pool_of(rng)
    attributes: dict[str, Any] = {"weights": rng.uniform(0, 2, count)} if is_weighted else {}
    x = rng.integers(0, 5, (*rows, int(rng.integers(1, 12)))).astype(dtype)
    proto = vectorizer(
        x,
        mode=mode,
        pool_int64s=tokens,
        ngram_counts=starts,
        ngram_indexes=rng.permutation(count).tolist(),
        min_gram_length=lengths[0],
        max_gram_length=lengths[1],
        max_skip_count=skipped,
        **attributes,
    )
    agree(proto, {"x": x})


REFUSED = {
    "counts strings": {"pool_strings": ["a"]},
    "its pool has a sequence twice": {"pool_int64s": [2, 2], "ngram_indexes": [0, 1]},
    "do not divide its pool": {"pool_int64s": [1, 2, 3, 4], "ngram_counts": [0, 1]},
    "do not name a column for each": {"pool_int64s": [1, 2], "ngram_indexes": [0]},
    "has 2 weights for 1 sequences": {"pool_int64s": [1], "weights": [1.0, 2.0], "mode": "IDF"},
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_refused(sentence: str):
    attributes: dict[str, Any] = {
        "mode": "TF",
        "ngram_counts": [0],
        "ngram_indexes": [0],
        "min_gram_length": 1,
        "max_gram_length": 1,
        "max_skip_count": 0,
    }
    with pytest.raises(CloptError, match=sentence):
        load(vectorizer(np.zeros(3, np.int64), **attributes | REFUSED[sentence]))
