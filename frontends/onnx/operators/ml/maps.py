"""Conversions between maps and tensors; in a network, maps are tensors of the values alone."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import f32, i64
from xdsl.ir import SSAValue

from .....dialects.nn.types import shape_of
from .....tensor_info import Key
from ...maps import KEYS
from ...node import NodeContext, Table

_CASTS = {"TO_FLOAT": f32, "TO_INT64": i64}


def import_zip_map(node: NodeContext) -> SSAValue:
    """Import ZipMap: the scores, a row for each map."""
    scores = node.input(0)
    if len(shape_of(scores)) == 1:
        scores = node.builder.reshape(scores, (1, *shape_of(scores)))
    _check_columns(node, scores, _keys(node))
    return scores


def import_dict_vectorizer(node: NodeContext) -> SSAValue:
    """Import DictVectorizer: the values of a map by its vocabulary."""
    values = node.input(0)
    _check_columns(node, values, _keys(node))
    return values


def import_cast_map(node: NodeContext) -> SSAValue:
    """Import CastMap in its sparse form, with a column for each number below `max_map`."""
    if node.text("map_form", "DENSE") != "SPARSE":
        node.refuse("its result has as many columns as the map has keys; use map_form='SPARSE'.")
    values, kind = node.input(0), node.text("cast_to", "TO_FLOAT")
    _check_columns(node, values, range(node.integer("max_map", 1)))
    if kind not in _CASTS:
        node.refuse(f"casts to {kind}; use {' or '.join(_CASTS)}.")
    return node.builder.cast(values, _CASTS[kind])


def _keys(node: NodeContext) -> Sequence[Key]:
    integers, texts = KEYS[node.op_type]
    return node.integers(integers) or node.texts(texts) or ()


def _check_columns(node: NodeContext, values: SSAValue, keys: Sequence[Key]) -> None:
    if len(shape_of(values)) != 2 or shape_of(values)[1] != len(keys):
        node.refuse(f"has {len(keys)} keys for values of the shape {list(shape_of(values))}.")


TABLE: Table = {
    "CastMap": {1: import_cast_map},
    "DictVectorizer": {1: import_dict_vectorizer},
    "ZipMap": {1: import_zip_map},
}
