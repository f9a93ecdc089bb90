"""Preparation of features: scaling, normalisation, imputation and selection."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from .....dialects.nn.types import is_float, shape_of, tensor_type
from ....builder import dtype_of_value
from ...node import NodeContext, Table


def _per_feature(node: NodeContext, numbers: Sequence[float], what: str) -> SSAValue:
    """Return one number, or one per element of the last dimension, as a constant."""
    width = node.shape()[-1] if node.rank() else 1
    if len(numbers) not in (1, width):
        node.refuse(f"has {len(numbers)} {what} for {width} features.")
    return node.builder.constant(np.array(numbers, np.float32))


def import_scaler(node: NodeContext) -> SSAValue:
    """Import Scaler: (x - offset) * scale."""
    builder, x = node.builder, node.builder.cast(node.input(0), f32)
    offset, scale = node.reals("offset"), node.reals("scale")
    if offset:
        x = builder.binary("sub", x, _per_feature(node, offset, "offsets"))
    return builder.binary("mul", x, _per_feature(node, scale, "scales")) if scale else x


def import_normalizer(node: NodeContext) -> SSAValue:
    """Import Normalizer: divide each row by its norm unless that is zero.

    MAX is the largest element as in ONNX, not the largest magnitude as in scikit-learn.
    """
    builder, x = node.builder, node.builder.cast(node.input(0), f32)
    node.check_rank(0, 1, 2)
    axis, kind = node.rank() - 1, node.choice("norm", "MAX", ("MAX", "L1", "L2"))
    if kind == "MAX":
        norm = builder.reduce("max", x, [axis])
    else:
        norm = builder.reduce(kind.lower(), x, [axis])
    is_zero = builder.compare("eq", norm, 0.0)
    return builder.binary("div", x, builder.where(is_zero, builder.scalar(1, norm), norm))


def import_binarizer(node: NodeContext) -> SSAValue:
    """Import Binarizer: 1 where x exceeds the threshold, else 0."""
    x = node.input(0)
    above = node.builder.compare("gt", x, node.real("threshold", 0.0))
    return node.builder.cast(above, tensor_type(x).element_type)


def import_array_feature_extractor(node: NodeContext) -> SSAValue:
    """Import ArrayFeatureExtractor: elements of the last dimension; a vector becomes a row."""
    builder, indices = node.builder, node.input(1)
    count = math.prod(shape_of(indices))
    picked = builder.gather(
        node.input(0), builder.reshape(indices, (count,)), max(node.rank() - 1, 0)
    )
    return builder.reshape(picked, (1, count)) if node.rank() == 1 else picked


def import_imputer(node: NodeContext) -> SSAValue:
    """Import Imputer: replace one number, by default NaN, by one number per feature."""
    builder, x = node.builder, node.input(0)
    floats, integers = node.reals("imputed_value_floats"), node.integers("imputed_value_int64s")
    replaced = node.real("replaced_value_float", 0.0)
    whole = node.integer("replaced_value_int64", 0)
    if is_float(tensor_type(x).element_type):
        given, missing = floats, replaced
    else:
        given, missing = integers, whole
    if not given:
        node.refuse("has no imputed values of the type of its input.")
    width = node.shape()[-1]
    if len(given) not in (1, width):
        node.refuse(f"has {len(given)} values for {width} features.")
    if math.isnan(missing):
        is_missing = builder.unary("isnan", x)
    else:
        is_missing = builder.compare("eq", x, missing)
    return builder.where(is_missing, builder.constant(np.array(given, dtype_of_value(x))), x)


def import_feature_vectorizer(node: NodeContext) -> SSAValue:
    """Import FeatureVectorizer: the first features of each input, side by side, as floats."""
    builder, parts = node.builder, node.present()
    widths = node.integers("inputdimensions") or ()
    if len(widths) != len(parts):
        node.refuse(f"has {len(widths)} inputdimensions for {len(parts)} inputs.")
    columns: list[SSAValue] = []
    for part, width in zip(parts, widths, strict=True):
        shape = shape_of(part)
        if len(shape) not in (1, 2) or width < 1:
            node.refuse("its inputs must have rows of features.")
        matrix = builder.reshape(part, shape if len(shape) == 2 else (1, *shape))
        columns.append(builder.cast(builder.slice(matrix, 1, 0, width), f32))
    return builder.concat(columns, 1)


TABLE: Table = {
    "ArrayFeatureExtractor": {1: import_array_feature_extractor},
    "Binarizer": {1: import_binarizer},
    "FeatureVectorizer": {1: import_feature_vectorizer},
    "Imputer": {1: import_imputer},
    "Normalizer": {1: import_normalizer},
    "Scaler": {1: import_scaler},
}
