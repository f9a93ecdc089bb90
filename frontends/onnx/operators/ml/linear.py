"""Linear classifiers and regressors."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from .....dialects.nn.types import shape_of
from ...node import NodeContext, Results, Table
from .scores import (
    TRANSFORMS,
    column,
    read_labels,
    read_transform,
    rows_of,
    with_complement,
)


def _linear(node: NodeContext, targets: int) -> SSAValue:
    """Return the products of rows and coefficients plus intercepts, [rows, targets]."""
    builder, x = node.builder, node.builder.cast(rows_of(node), f32)
    features, coefficients = shape_of(x)[1], node.reals("coefficients") or ()
    if targets < 1 or len(coefficients) != targets * features:
        node.refuse(
            f"has {len(coefficients)} coefficients for {features} features and {targets} targets."
        )
    weights = np.array(coefficients, np.float32).reshape(targets, features)
    y = builder.matmul(x, builder.constant(np.ascontiguousarray(weights.T)))
    intercepts = node.reals("intercepts")
    if intercepts is None:
        return y
    if len(intercepts) not in (1, targets):
        node.refuse(f"has {len(intercepts)} intercepts for {targets} targets.")
    return builder.binary("add", y, builder.constant(np.array(intercepts, np.float32)))


def import_linear_regressor(node: NodeContext) -> SSAValue:
    """Import LinearRegressor."""
    scores = _linear(node, node.integer("targets", 1))
    return TRANSFORMS[read_transform(node)](node.builder, scores)


def import_linear_classifier(node: NodeContext) -> Results:
    """Import LinearClassifier; a single score for two labels belongs to the second label."""
    builder, labels = node.builder, read_labels(node, "classlabels_ints")
    node.integer("multi_class", 0)
    scores = _linear(node, len(node.reals("intercepts") or ()))
    transform = read_transform(node)
    if shape_of(scores)[1] > 1:
        if shape_of(scores)[1] != labels.count:
            node.refuse(f"has {labels.count} labels for {shape_of(scores)[1]} scores.")
        return [labels.best(builder, scores), TRANSFORMS[transform](builder, scores)]
    if labels.count != 2:
        node.refuse(f"has {labels.count} labels for one score; expected 2.")
    chosen = labels.second_if(builder, builder.compare("gt", column(builder, scores, 0), 0.0))
    if transform == "PROBIT":
        node.refuse("PROBIT of one score is not supported.")
    return [chosen, with_complement(builder, scores, "one_minus")]


TABLE: Table = {
    "LinearClassifier": {1: import_linear_classifier},
    "LinearRegressor": {1: import_linear_regressor},
}
