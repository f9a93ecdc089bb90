"""Encoders of categories that are numbers, and refusals of those that need strings."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects.builtin import f32, i64
from xdsl.ir import SSAValue

from .....dialects.nn.types import Array
from ....builder import Builder, dtype_of_value
from ...node import NodeContext, Refusal, Table

MOST_COMPARED = 64
"""Keys that are compared one by one; more are looked up in a table if they are small integers."""

LARGEST_TABLE = 1 << 16
"""Entries of the largest table of keys."""


def import_one_hot_encoder(node: NodeContext) -> SSAValue:
    """Import OneHotEncoder: 1 in the column of the category; without `zeros` it must be known.

    A category that is unknown gives zeros either way: a program cannot raise an error.
    """
    builder = node.builder
    if node.texts("cats_strings"):
        node.refuse("its categories are strings, which are not supported; encode them as integers.")
    categories = node.integers("cats_int64s") or ()
    if not categories:
        node.refuse("has no categories.")
    node.flag("zeros", True)
    x = builder.cast(node.input(0), i64)
    column = builder.reshape(x, (*node.shape(), 1))
    hits = builder.compare("eq", column, builder.constant(np.array(categories, np.int64)))
    return builder.cast(hits, f32)


def import_label_encoder(node: NodeContext) -> SSAValue:
    """Import LabelEncoder between numbers: the value of the key that equals x, or the default."""
    for name in ("keys_strings", "values_strings"):
        if node.texts(name):
            node.refuse("its keys or values are strings, which are not supported.")
    node.text("default_string", "_Unused")
    keys, values = _column(node, "keys"), _column(node, "values")
    default = _default(node, values.dtype)
    if keys.size != values.size:
        node.refuse(f"has {keys.size} keys for {values.size} values.")
    x = node.input(0)
    if dtype_of_value(x) != keys.dtype:
        node.refuse(f"its keys are {keys.dtype}, its input is {dtype_of_value(x)}.")
    # Of equal keys the first counts.
    _, first = np.unique(keys, return_index=True)
    keys, values = keys[np.sort(first)], values[np.sort(first)]
    if _fits_table(keys):
        return _looked_up(node.builder, x, keys, values, default)
    if keys.size > MOST_COMPARED:
        node.refuse(
            f"has {keys.size} keys that are not small integers; at most {MOST_COMPARED} can be."
        )
    return _compared(node.builder, x, keys, values, default)


def _column(node: NodeContext, what: str) -> Array:
    """Return the keys or the values."""
    tensor = node.tensor(f"{what}_tensor")
    floats, integers = node.reals(f"{what}_floats"), node.integers(f"{what}_int64s")
    if tensor is not None:
        return tensor.reshape(-1)
    if integers is not None:
        return np.array(integers, np.int64)
    return np.array(floats or (), np.float32)


def _default(node: NodeContext, dtype: np.dtype[Any]) -> Array:
    tensor = node.tensor("default_tensor")
    real, whole = node.real("default_float", -0.0), node.integer("default_int64", -1)
    if tensor is not None:
        return tensor.reshape(()).astype(dtype)
    return np.array(real if dtype.kind == "f" else whole, dtype)


def _fits_table(keys: Array) -> bool:
    """Return whether the keys are integers from 0 on, few enough for a table."""
    return keys.dtype.kind == "i" and 0 <= keys.min(initial=0) and keys.max() < LARGEST_TABLE


def _looked_up(
    builder: Builder, x: SSAValue, keys: Array, values: Array, default: Array
) -> SSAValue:
    """Gather from a table with an entry per integer; the last entry is for all others."""
    size = int(keys.max()) + 1
    table = np.full(size + 1, default, values.dtype)
    table[keys] = values
    is_inside = builder.binary("and", builder.compare("ge", x, 0), builder.compare("lt", x, size))
    index = builder.where(is_inside, x, builder.scalar(size, x))
    return builder.gather(builder.constant(table), index, 0)


def _compared(
    builder: Builder, x: SSAValue, keys: Array, values: Array, default: Array
) -> SSAValue:
    """Select the value of each key in turn; NaN equals NaN."""
    result = builder.constant(default)
    for key, value in zip(keys, values, strict=True):
        if key != key:
            is_equal = builder.unary("isnan", x)
        else:
            is_equal = builder.compare("eq", x, builder.constant(np.array(key)))
        result = builder.where(is_equal, builder.constant(np.array(value)), result)
    return result


TABLE: Table = {
    "CategoryMapper": {1: Refusal("strings are not supported; map categories on the host.")},
    "LabelEncoder": {2: import_label_encoder},
    "OneHotEncoder": {1: import_one_hot_encoder},
}
