"""Support vector machines: kernels of rows and support vectors, and votes of pairs of classes."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from .....dialects.nn.types import Array, shape_of
from ....builder import Builder
from ...node import NodeContext, Results, Table
from ..linear import MAX_INVERTED, inverted
from .scores import (
    TRANSFORMS,
    Labels,
    best_class,
    read_labels,
    read_transform,
    rows_of,
    with_complement,
)

KERNELS = ("LINEAR", "POLY", "RBF", "SIGMOID")


class Machine(NamedTuple):
    """The attributes that classifiers and regressors share."""

    x: SSAValue
    """[rows, features]."""
    kind: str
    gamma: float
    offset: float
    degree: float

    def kernel(self, builder: Builder, vectors: Array) -> SSAValue:
        """Return the kernel of each row and each of `vectors`, [rows, vectors]."""
        if self.kind == "RBF":
            rows, features = shape_of(self.x)
            a = builder.reshape(self.x, (rows, 1, features))
            difference = builder.binary("sub", a, builder.constant(vectors[None]))
            distance = builder.reduce("sum_square", difference, [2], keepdims=False)
            return builder.unary("exp", builder.binary("mul", distance, -self.gamma))
        product = builder.matmul(self.x, builder.constant(np.ascontiguousarray(vectors.T)))
        if self.kind == "LINEAR":
            return product
        product = builder.binary("add", builder.binary("mul", product, self.gamma), self.offset)
        if self.kind == "SIGMOID":
            return builder.unary("tanh", product)
        return builder.binary("pow", product, self.degree)


def _read(node: NodeContext) -> Machine:
    params = [*(node.reals("kernel_params") or ()), 0.0, 0.0, 0.0][:3]
    kind = node.choice("kernel_type", "LINEAR", KERNELS)
    return Machine(node.builder.cast(rows_of(node), f32), kind, *params)


def _floats(node: NodeContext, name: str, rows: int) -> Array:
    """Return a list of floats as a matrix of `rows` rows."""
    array = np.array(node.reals(name) or (), np.float32)
    if rows < 1 or not array.size or array.size % rows:
        node.refuse(f"{name} has {array.size} numbers, which is not a matrix of {rows} rows.")
    return array.reshape(rows, -1)


def _vectors(node: NodeContext, name: str, rows: int, x: SSAValue) -> Array:
    """Return a matrix that has a column per feature."""
    matrix = _floats(node, name, rows)
    if matrix.shape[1] != shape_of(x)[1]:
        node.refuse(f"{name} are for {matrix.shape[1]} features, not {shape_of(x)[1]}.")
    return matrix


def import_regressor(node: NodeContext) -> SSAValue:
    """Import SVMRegressor; without support vectors it is linear."""
    builder, machine, count = node.builder, _read(node), node.integer("n_supports", 0)
    rho = builder.constant(_floats(node, "rho", 1)[0, :1])
    if count:
        kernel = machine.kernel(builder, _vectors(node, "support_vectors", count, machine.x))
        weights = builder.constant(_floats(node, "coefficients", count))
        y = builder.matmul(kernel, weights)
    else:
        node.reals("support_vectors")
        y = machine._replace(kind="LINEAR").kernel(
            builder, _vectors(node, "coefficients", 1, machine.x)
        )
    y = builder.binary("add", y, rho)
    if shape_of(y)[1] != 1:
        node.refuse("must have one coefficient per support vector.")
    read_transform(node)  # onnxruntime does not apply it either
    if not node.flag("one_class"):
        return y
    one = builder.scalar(1, y)
    return builder.where(builder.compare("gt", y, 0.0), one, builder.unary("neg", one))


def import_classifier(node: NodeContext) -> Results:
    """Import SVMClassifier: pairs of classes vote; without support vectors it is linear."""
    builder, machine = node.builder, _read(node)
    labels = read_labels(node, "classlabels_ints")
    sizes, transform = node.integers("vectors_per_class") or (), read_transform(node)
    if labels.count < 2:
        node.refuse(f"has {labels.count} labels; expected 2 or more.")
    if not sum(sizes):
        node.reals("support_vectors")
        if node.reals("prob_a") or node.reals("prob_b") or labels.count == 2:
            node.refuse("probabilities or two classes of a linear machine are not supported.")
        weights = _vectors(node, "coefficients", labels.count, machine.x)
        scores = machine._replace(kind="LINEAR").kernel(builder, weights)
        scores = builder.binary("add", scores, float(_floats(node, "rho", 1)[0, 0]))
        return [labels.best(builder, scores), TRANSFORMS[transform](builder, scores)]
    if len(sizes) != labels.count:
        node.refuse(f"has vectors of {len(sizes)} classes for {labels.count} labels.")
    margins = _margins(node, machine, sizes)
    chosen = labels.choose(builder, _votes(builder, margins, labels.count))
    if node.has("prob_a"):
        scores = _probabilities(node, margins, labels)
        return [chosen, TRANSFORMS[transform](builder, scores)]
    node.reals("prob_b")
    if labels.count > 2:
        return [chosen, TRANSFORMS[transform](builder, margins)]
    kind = "negative" if transform == "NONE" else "one_minus"
    return [chosen, with_complement(builder, margins, kind)]


def _margins(node: NodeContext, machine: Machine, sizes: tuple[int, ...]) -> SSAValue:
    """Return the margin of the first of each pair of classes, [rows, pairs]."""
    builder, classes, total = node.builder, len(sizes), sum(sizes)
    coefficients = _floats(node, "coefficients", classes - 1)
    pairs = [*combinations(range(classes), 2)]
    rho = _floats(node, "rho", 1)[0]
    if coefficients.shape[1] != total or rho.size < len(pairs):
        node.refuse("coefficients or rho do not match the support vectors.")
    starts = np.cumsum([0, *sizes])
    weights = np.zeros((total, len(pairs)), np.float32)
    for index, (i, j) in enumerate(pairs):
        own, other = (slice(starts[k], starts[k + 1]) for k in (i, j))
        weights[own, index] = coefficients[j - 1, own]
        weights[other, index] = coefficients[i, other]
    kernel = machine.kernel(builder, _vectors(node, "support_vectors", total, machine.x))
    sums = builder.matmul(kernel, builder.constant(weights))
    return builder.binary("add", sums, builder.constant(rho[: len(pairs)]))


def _votes(builder: Builder, margins: SSAValue, classes: int) -> SSAValue:
    """Return the class with the most votes, [rows]; a positive margin votes for the first."""
    pairs = [*combinations(range(classes), 2)]
    votes = np.array([[np.eye(classes)[k] for k in pair] for pair in pairs], np.float32)
    wins = builder.cast(builder.compare("gt", margins, 0.0), f32)
    gained = builder.matmul(wins, builder.constant(votes[:, 0] - votes[:, 1]))
    return best_class(builder, builder.binary("add", gained, builder.constant(votes[:, 1].sum(0))))


def _probabilities(node: NodeContext, margins: SSAValue, labels: Labels) -> SSAValue:
    """Return the probabilities of classes that agree best with those of pairs.

    They minimise the second criterion of Wu, Lin and Weng (2004), whose linear system is solved
    here; onnxruntime iterates until the error is 0.005 divided by the number of classes.
    """
    builder, classes, rows = node.builder, labels.count, shape_of(margins)[0]
    pairs = [*combinations(range(classes), 2)]
    a, b = (_floats(node, name, 1)[0] for name in ("prob_a", "prob_b"))
    if min(a.size, b.size) < len(pairs) or classes >= MAX_INVERTED:
        node.refuse("prob_a or prob_b do not match the classes.")
    a, b = (builder.constant(-each[: len(pairs)]) for each in (a, b))
    won = builder.unary("sigmoid", builder.binary("add", builder.binary("mul", margins, a), b))
    won = builder.binary("min", builder.binary("max", won, 1e-7), 1 - 1e-7)
    if classes == 2:
        return builder.concat([won, builder.binary("sub", builder.scalar(1, won), won)], 1)
    lost = builder.binary("sub", builder.scalar(1, won), won)
    # Row i of r has the probabilities of class i against each j.
    spread = np.zeros((2, len(pairs), classes * classes), np.float32)
    for index, (i, j) in enumerate(pairs):
        spread[0, index, i * classes + j] = spread[1, index, j * classes + i] = 1
    r, transposed = (
        builder.binary(
            "add",
            *(
                builder.matmul(part, builder.constant(spread[side]))
                for part, side in zip((won, lost), sides, strict=True)
            ),
        )
        for sides in ((0, 1), (1, 0))
    )
    off = builder.reshape(builder.binary("mul", r, transposed), (rows, classes, classes))
    square = builder.reshape(
        builder.binary("mul", transposed, transposed), (rows, classes, classes)
    )
    diagonal = builder.reduce("sum", square, [2])
    unit = builder.constant(np.eye(classes, dtype=np.float32))
    q = builder.binary("sub", builder.binary("mul", diagonal, unit), off)
    side = builder.expand(builder.scalar(1, q), (rows, classes, 1))
    bottom = np.ones((1, classes + 1), np.float32)
    bottom[0, -1] = 0
    whole = builder.concat(
        [
            builder.concat([q, side], 2),
            builder.expand(builder.constant(bottom[None]), (rows, 1, classes + 1)),
        ],
        1,
    )
    solved = builder.slice(inverted(builder, whole), 2, classes, 1)
    return builder.reshape(builder.slice(solved, 1, 0, classes), (rows, classes))


TABLE: Table = {
    "SVMClassifier": {1: import_classifier},
    "SVMRegressor": {1: import_regressor},
}
