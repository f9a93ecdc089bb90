"""TfIdfVectorizer of whole numbers: count sequences of tokens, weighted or not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import f32, i32, i64
from xdsl.ir import SSAValue

from ....dialects.nn.types import Array, shape_of
from ...builder import Builder
from ..node import NodeContext, Table


def _pool(node: NodeContext) -> list[Array]:
    """Return the sequences to count, [sequences, length] for each length from 1 on."""
    tokens = node.integers("pool_int64s")
    if tokens is None:
        node.refuse("counts strings, which are not supported; map them to numbers on the host.")
    starts = node.integers("ngram_counts") or ()
    ends = [*starts[1:], len(tokens)]
    parts = [tokens[start:end] for start, end in zip(starts, ends, strict=True)]
    if any(len(part) % length for length, part in enumerate(parts, 1)):
        node.refuse("its ngram_counts do not divide its pool into sequences.")
    pool = [np.array(part, np.int64).reshape(-1, n) for n, part in enumerate(parts, 1)]
    if any(len(np.unique(grams, axis=0)) < len(grams) for grams in pool if len(grams)):
        node.refuse("its pool has a sequence twice.")
    return pool


def _occurrences(builder: Builder, x: SSAValue, grams: Array, most_skipped: int) -> SSAValue:
    """Return how often each sequence [sequences, length] occurs in the rows x [batch, tokens].

    Its tokens may have the same number of others between them, up to `most_skipped`.
    """
    (batch, tokens), (count, length) = shape_of(x), grams.shape
    total = builder.constant(np.zeros((batch, count), np.float32))
    for step in range(1, most_skipped + 2 if length > 1 else 2):
        places = tokens - (length - 1) * step
        if places < 1:
            break
        hits: SSAValue | None = None
        for i in range(length):
            part = builder.reshape(builder.slice(x, 1, i * step, places), (batch, places, 1))
            wanted = builder.constant(grams[:, i].reshape(1, 1, count))
            hit = builder.compare("eq", part, wanted)
            hits = hit if hits is None else builder.binary("and", hits, hit)
        assert hits is not None
        found = builder.reduce("sum", builder.cast(hits, i32), [1], keepdims=False)
        total = builder.binary("add", total, builder.cast(found, f32))
    return total


def import_tf_idf(node: NodeContext) -> SSAValue:
    """Import TfIdfVectorizer."""
    builder, x = node.builder, node.input(0)
    node.check_rank(0, 1, 2)
    least, most = node.integer("min_gram_length"), node.integer("max_gram_length")
    skipped = node.integer("max_skip_count")
    mode = node.choice("mode", "", ("TF", "IDF", "TFIDF"))
    columns, weights = node.integers("ngram_indexes") or (), node.reals("weights")
    node.texts("pool_strings")
    pool = _pool(node)
    if len(columns) != sum(map(len, pool)) or min(columns, default=0) < 0:
        node.refuse("its ngram_indexes do not name a column for each sequence of its pool.")
    # A token of the pool may be too large for the type of x.
    rows = builder.cast(x, i64)
    rows = rows if node.rank() == 2 else builder.reshape(rows, (1, *node.shape()))
    width = max(columns, default=-1) + 1
    counts = [
        _occurrences(builder, rows, grams, skipped)
        if least <= length <= most
        else builder.constant(np.zeros((shape_of(rows)[0], len(grams)), np.float32))
        for length, grams in enumerate(pool, 1)
        if len(grams)
    ]
    if not counts:
        node.refuse("its pool is empty.")
    found = builder.concat(counts, 1)
    if mode == "IDF":
        found = builder.cast(builder.compare("gt", found, 0), f32)
    if mode != "TF" and weights:
        if len(weights) != len(columns):
            node.refuse(f"has {len(weights)} weights for {len(columns)} sequences.")
        found = builder.binary("mul", found, builder.constant(np.array(weights, np.float32)))
    result = _in_columns(builder, found, columns, width)
    return result if node.rank() == 2 else builder.reshape(result, (width,))


def _in_columns(builder: Builder, counts: SSAValue, columns: Sequence[int], width: int) -> SSAValue:
    """Return [batch, width]: the sum of the counts of each column, by a product with ones."""
    builder.reserve(len(columns), width)
    places = np.zeros((len(columns), width), np.float32)
    places[np.arange(len(columns)), list(columns)] = 1
    return builder.matmul(counts, builder.constant(places))


TABLE: Table = {"TfIdfVectorizer": {9: import_tf_idf}}
