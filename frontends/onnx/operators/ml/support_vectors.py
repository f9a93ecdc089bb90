"""Support vector machines: kernels of rows and support vectors, and votes of pairs of classes."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from .....dialects.nn.types import Array, shape_of
from ....builder import Builder
from ....loops import CannotRoll, NetworkLoop, build_loop
from ...node import NodeContext, Results, Table
from .scores import (
    TRANSFORMS,
    Labels,
    best_class,
    read_labels,
    read_transform,
    rows_of,
    with_complement,
)

_ERROR = 0.005
"""Error, times the number of classes, at which LIBSVM and onnxruntime take probabilities."""

_ITERATIONS = 8
"""Iterations for probabilities; 40,000 random sets of 2 to 20 classes took 4 at most."""

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
    """Return the probabilities of classes, [rows, classes], by those of pairs."""
    builder, classes = node.builder, labels.count
    pairs = [*combinations(range(classes), 2)]
    a, b = (_floats(node, name, 1)[0] for name in ("prob_a", "prob_b"))
    if min(a.size, b.size) < len(pairs):
        node.refuse("prob_a or prob_b do not match the classes.")
    a, b = (builder.constant(-each[: len(pairs)]) for each in (a, b))
    won = builder.unary("sigmoid", builder.binary("add", builder.binary("mul", margins, a), b))
    won = builder.binary("min", builder.binary("max", won, 1e-7), 1 - 1e-7)
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
    shape = (shape_of(margins)[0], classes, classes)
    off = builder.reshape(builder.binary("mul", r, transposed), shape)
    square = builder.reshape(builder.binary("mul", transposed, transposed), shape)
    unit = builder.constant(np.eye(classes, dtype=np.float32))
    diagonal = builder.binary("mul", builder.reduce("sum", square, [2]), unit)
    return _coupled(builder, builder.binary("sub", diagonal, off))


def _coupled(builder: Builder, q: SSAValue) -> SSAValue:
    """Return the p that minimises p^T q p nearly, as LIBSVM does: q is [rows, classes, classes].

    The second method of Wu, Lin and Weng (2004): probabilities of sum 1, improved one by one until
    each derivative is near their mean. Rows that are there stay as they are.
    """
    rows, classes, _ = shape_of(q)
    lines = [builder.reshape(builder.slice(q, 1, t, 1), (rows, classes)) for t in range(classes)]
    diagonal = [builder.slice(line, 1, t, 1) for t, line in enumerate(lines)]
    unit = np.eye(classes, dtype=np.float32)

    def improved(p: SSAValue) -> SSAValue:
        qp = builder.matmul(q, builder.reshape(p, (rows, classes, 1)))
        qp = builder.reshape(qp, (rows, classes))
        pqp = builder.reduce("sum", builder.binary("mul", p, qp), [1])
        error = builder.unary("abs", builder.binary("sub", qp, pqp))
        is_done = builder.compare("lt", builder.reduce("max", error, [1]), _ERROR / classes)
        found = p
        for t, (line, own) in enumerate(zip(lines, diagonal, strict=True)):
            own_qp = builder.slice(qp, 1, t, 1)
            step = builder.binary("div", builder.binary("sub", pqp, own_qp), own)
            scale = builder.binary("add", step, 1.0)
            gained = builder.binary("mul", step, own)
            gained = builder.binary("add", gained, builder.binary("mul", own_qp, 2.0))
            pqp = builder.binary("add", pqp, builder.binary("mul", step, gained))
            pqp = builder.binary("div", builder.binary("div", pqp, scale), scale)
            qp = builder.binary("add", qp, builder.binary("mul", step, line))
            qp = builder.binary("div", qp, scale)
            found = builder.binary(
                "add", found, builder.binary("mul", step, builder.constant(unit[t]))
            )
            found = builder.binary("div", found, scale)
        return builder.where(is_done, p, found)

    p = builder.expand(builder.constant(np.full((1, 1), 1 / classes, np.float32)), (rows, classes))
    loop = NetworkLoop(_ITERATIONS, [p], [])
    try:
        return build_loop(builder, loop, lambda carried, _: ([improved(carried[0])], []))[0]
    except CannotRoll:
        for _ in range(_ITERATIONS):
            p = improved(p)
        return p


TABLE: Table = {
    "SVMClassifier": {1: import_classifier},
    "SVMRegressor": {1: import_regressor},
}
