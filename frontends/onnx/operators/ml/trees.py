"""Ensembles of trees: all rows descend all trees at once, a level per step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from .....dialects import nn
from .....dialects.nn.types import Array, shape_of
from ....builder import Builder, dtype_of_value
from ...node import NodeContext, Results, Table
from .scores import (
    TRANSFORMS,
    Labels,
    as_float,
    read_labels,
    read_transform,
    rows_of,
    with_complement,
)

MODES: Mapping[str, str] = {
    "BRANCH_LEQ": "le",
    "BRANCH_LT": "lt",
    "BRANCH_GTE": "ge",
    "BRANCH_GT": "gt",
    "BRANCH_EQ": "eq",
    "BRANCH_NEQ": "ne",
    "LEAF": "",
}
"""Mode of a node to the comparison of its feature with its threshold."""


@dataclass(frozen=True)
class Forest:
    """Trees with their nodes in common arrays; the children of a leaf are the leaf itself."""

    features: Array
    thresholds: Array
    comparisons: Array
    """An element of the values of `MODES` per node."""
    yes: Array
    no: Array
    tracks_missing: Array
    """Whether NaN goes to the child `yes`."""
    roots: Array
    weights: Array
    """[nodes, targets], zero where a leaf has none."""
    is_scored: Array
    """[nodes, targets]: whether a leaf has a weight for a target."""

    def depth(self, node: NodeContext) -> int:
        """Return the number of comparisons on the longest path from a root."""
        level, depth = self.roots, 0
        while (inner := level[self.comparisons[level] != ""]).size:
            level = np.unique(np.concatenate([self.yes[inner], self.no[inner]]))
            depth += 1
            if depth > self.features.size:
                node.refuse("the nodes of a tree form a cycle.")
        return depth

    def leaves(self, node: NodeContext, x: SSAValue) -> SSAValue:
        """Return the leaf of each tree that each row of `x` reaches, [rows, trees]."""
        builder, (rows, features) = node.builder, shape_of(x)
        inner = self.comparisons != ""
        lowest, highest = self.features.min(), self.features[inner].max(initial=-1)
        if lowest < 0 or highest >= features:
            node.refuse(f"reads features from {lowest} to {highest}, of {features}.")
        descent = Descent(builder, self, x)
        place = builder.expand(builder.constant(self.roots[None]), (rows, self.roots.size))
        for _ in range(self.depth(node)):
            place = descent.step(place)
        return place

    def weights_at(self, builder: Builder, leaves: SSAValue, missing: float) -> SSAValue:
        """Return the weights of leaves, [rows, trees, targets], and `missing` for none."""
        table = np.where(self.is_scored, self.weights, missing).astype(self.weights.dtype)
        return builder.gather(builder.constant(table), leaves, 0)

    def summed(self, builder: Builder, leaves: SSAValue) -> SSAValue:
        """Return the sums of weights, [rows, targets]."""
        return builder.reduce("sum", self.weights_at(builder, leaves, 0.0), [1], keepdims=False)


class Descent:
    """The step from nodes to their children, with the arrays of a forest as constants."""

    def __init__(self, builder: Builder, forest: Forest, x: SSAValue):
        self._builder, self._x = builder, x
        self._features = builder.constant(forest.features)
        self._thresholds = builder.constant(forest.thresholds.astype(dtype_of_value(x)))
        self._children = [builder.constant(each) for each in (forest.yes, forest.no)]
        kinds = [*np.unique(forest.comparisons[forest.comparisons != ""]).tolist()]
        self._kinds = {kind: builder.constant(forest.comparisons == kind) for kind in kinds}
        tracks = forest.tracks_missing
        self._tracks = builder.constant(tracks) if tracks.any() else None

    def step(self, place: SSAValue) -> SSAValue:
        """Return the children that the rows choose at nodes [rows, trees]; leaves stay."""
        builder = self._builder
        look = partial(builder.gather, indices=place, axis=0)
        value = builder.add(nn.GatherElementsOp(self._x, look(self._features), 1))
        holds = self._compared(value, look(self._thresholds), place)
        if self._tracks is not None:
            is_missing = builder.unary("isnan", value)
            tracked = builder.binary("and", is_missing, look(self._tracks))
            holds = builder.binary("or", holds, tracked)
        return builder.where(holds, *(look(child) for child in self._children))

    def _compared(self, value: SSAValue, threshold: SSAValue, place: SSAValue) -> SSAValue:
        """Compare by the kind of each node, which is looked up if there are several."""
        builder = self._builder
        found = [builder.compare(kind, value, threshold) for kind in self._kinds]
        if len(found) == 1:
            return found[0]
        masks = [builder.gather(table, place, 0) for table in self._kinds.values()]
        pairs = zip(found, masks, strict=True)
        holds, *rest = (builder.binary("and", *pair) for pair in pairs)
        for each in rest:
            holds = builder.binary("or", holds, each)
        return holds


def numbers_of(node: NodeContext, name: str) -> Array | None:
    """Return an attribute of floats, which may be a tensor of doubles, or None."""
    floats, tensor = node.reals(name), node.tensor(f"{name}_as_tensor")
    if tensor is not None:
        return tensor.reshape(-1)
    return None if floats is None else np.array(floats, np.float32)


def _integers(node: NodeContext, name: str, count: int | None = None) -> Array:
    """Return a list of integers, which must have `count` entries."""
    array = np.array(node.integers(name) or (), np.int64)
    if count is not None and array.size != count:
        node.refuse(f"{name} has {array.size} entries; expected {count}.")
    return array


def read_forest(node: NodeContext, what: str, targets: int) -> Forest:
    """Return the trees of a classifier or regressor, whose leaves are called `what`."""
    trees = _integers(node, "nodes_treeids")
    count = trees.size
    ids = _integers(node, "nodes_nodeids", count)
    place = {key: index for index, key in enumerate(zip(trees.tolist(), ids.tolist(), strict=True))}
    if not count or len(place) != count:
        node.refuse("has no nodes, or two with one id.")
    modes = node.texts("nodes_modes") or ()
    if len(modes) != count or not set(modes) <= set(MODES):
        node.refuse(f"its modes must be {count}, each one of {', '.join(MODES)}.")
    comparisons = np.array([MODES[mode] for mode in modes])
    inner = comparisons != ""
    own = np.arange(count, dtype=np.int32)

    def children(name: str) -> Array:
        child, index = _integers(node, name, count), own.copy()
        index[inner] = _places(node, place, trees[inner], child[inner])
        return index

    yes, no = children("nodes_truenodeids"), children("nodes_falsenodeids")
    is_child = np.zeros(count, np.bool_)
    is_child[yes[inner]] = is_child[no[inner]] = True
    values = numbers_of(node, "nodes_values")
    numbers_of(node, "nodes_hitrates")
    tracks = _integers(node, "nodes_missing_value_tracks_true")
    if values is None or values.size != count or tracks.size not in (0, count):
        node.refuse(f"nodes_values and nodes_missing_value_tracks_true must have {count} entries.")
    weights, is_scored = _read_weights(node, what, targets, place, values.dtype)
    features = _integers(node, "nodes_featureids", count)
    return Forest(
        np.where(inner, features, 0).astype(np.int32),
        np.where(inner, values, 0).astype(values.dtype),
        comparisons,
        yes,
        no,
        inner & (tracks != 0) if tracks.size else np.zeros(count, np.bool_),
        own[~is_child],
        weights,
        is_scored,
    )


def _places(
    node: NodeContext, place: Mapping[tuple[int, int], int], trees: Array, ids: Array
) -> Array:
    """Return the positions of nodes by tree and id."""
    keys = [*zip(trees.tolist(), ids.tolist(), strict=True)]
    if unknown := [key for key in keys if key not in place]:
        node.refuse(f"tree {unknown[0][0]} has no node {unknown[0][1]}.")
    return np.array([place[key] for key in keys], np.int64)


def _read_weights(
    node: NodeContext,
    what: str,
    targets: int,
    place: Mapping[tuple[int, int], int],
    dtype: np.dtype[Any],
) -> tuple[Array, Array]:
    """Return the weights of leaves, [nodes, targets], and where there are any."""
    trees = _integers(node, f"{what}_treeids")
    ids = _integers(node, f"{what}_nodeids", trees.size)
    columns = _integers(node, f"{what}_ids", trees.size)
    given = numbers_of(node, f"{what}_weights")
    if given is None or given.size != trees.size:
        node.refuse(f"{what}_weights must have {trees.size} entries.")
    if targets < 1 or columns.min(initial=0) < 0 or columns.max(initial=-1) >= targets:
        node.refuse(f"{what}_ids must be from 0 to {targets - 1}.")
    rows = _places(node, place, trees, ids)
    node.builder.reserve(len(place), targets)
    weights = np.zeros((len(place), targets), dtype)
    is_scored = np.zeros(weights.shape, np.bool_)
    np.add.at(weights, (rows, columns), given.astype(dtype))
    is_scored[rows, columns] = True
    return weights, is_scored


AGGREGATES: Mapping[str, tuple[str, float]] = {
    "SUM": ("sum", 0.0),
    "AVERAGE": ("sum", 0.0),
    "MIN": ("min", np.inf),
    "MAX": ("max", -np.inf),
}
"""The reduction over trees, and the weight of a leaf that has none."""


def aggregated(
    node: NodeContext, forest: Forest, how: str, transform: str, base: Array | None
) -> SSAValue:
    """Return the scores [rows, targets] of a regression, as f32."""
    builder, x = node.builder, as_float(node.builder, rows_of(node))
    leaves = forest.leaves(node, x)
    kind, missing = AGGREGATES[how]
    scores = builder.reduce(kind, forest.weights_at(builder, leaves, missing), [1], False)
    if missing:
        is_missing = builder.compare("eq", scores, missing)
        scores = builder.where(is_missing, builder.scalar(0, scores), scores)
    if how == "AVERAGE":
        scores = builder.binary("div", scores, float(forest.roots.size))
    if base is not None and base.size:
        if base.size != forest.weights.shape[1]:
            node.refuse(f"has {base.size} base values for {forest.weights.shape[1]} targets.")
        scores = builder.binary(
            "add", scores, builder.constant(base.astype(dtype_of_value(scores)))
        )
    if forest.weights.shape[1] == 1 and transform != "PROBIT":
        transform = "NONE"  # as in onnxruntime: one target is a number, not a class
    return builder.cast(TRANSFORMS[transform](builder, scores), f32)


def import_regressor(node: NodeContext) -> SSAValue:
    """Import TreeEnsembleRegressor."""
    forest = read_forest(node, "target", node.integer("n_targets", 1))
    how = node.choice("aggregate_function", "SUM", tuple(AGGREGATES))
    return aggregated(node, forest, how, read_transform(node), numbers_of(node, "base_values"))


def import_classifier(node: NodeContext) -> Results:
    """Import TreeEnsembleClassifier."""
    builder, labels = node.builder, read_labels(node, "classlabels_int64s")
    if labels.count < 2:
        node.refuse(f"has {labels.count} labels; expected 2 or more.")
    forest = read_forest(node, "class", labels.count)
    leaves = forest.leaves(node, as_float(builder, rows_of(node)))
    scores, base = forest.summed(builder, leaves), numbers_of(node, "base_values")
    base = np.zeros(0) if base is None else base
    if base.size not in ((0, 1, 2) if labels.count == 2 else (0, labels.count)):
        node.refuse(f"has {base.size} base values for {labels.count} labels.")
    base = base.astype(dtype_of_value(scores))
    if labels.count == 2:
        return _binary(node, forest, labels, scores, base)
    if base.size:
        scores = builder.binary("add", scores, builder.constant(base))
    transformed = TRANSFORMS[read_transform(node)](builder, scores)
    return [labels.best(builder, scores), builder.cast(transformed, f32)]


def _binary(
    node: NodeContext, forest: Forest, labels: Labels, scores: SSAValue, base: Array
) -> Results:
    """Choose one of two labels; leaves may have weights for one class, or for both.

    ONNX does not define this. As in onnxruntime, weights for one class are those of the second: its
    probability if none is negative, else its margin.
    """
    builder, transform = node.builder, read_transform(node)
    has_first, has_second = (bool(forest.is_scored[:, index].any()) for index in range(2))
    first, second = (builder.slice(scores, 1, index, 1) for index in range(2))
    is_probability = (forest.weights >= 0).all()
    if base.size == 2 and has_second:
        second = builder.binary("add", first, builder.constant(base[1:]))
        first = builder.unary("neg", second)
    elif base.size == 2:
        first, second = (
            builder.binary("add", each, builder.constant(base[index : index + 1]))
            for index, each in enumerate((first, second))
        )
    elif base.size:
        first = builder.binary("add", first, builder.constant(base))
    if has_first and has_second and not base.size:
        # onnxruntime answers 1, whatever the labels are, if the second score is positive.
        is_second = builder.compare("gt", second, first)
    else:
        decisive = second if has_second else first
        threshold = 0.5 if is_probability and has_first != has_second else 0.0
        is_second = builder.compare("gt", decisive, threshold)
    chosen = labels.second_if(builder, builder.reshape(is_second, (shape_of(scores)[0],)))
    if has_second or base.size == 2:
        pair = TRANSFORMS[transform](builder, builder.concat([first, second], 1))
    elif transform == "PROBIT":
        node.refuse("PROBIT of one score is not supported.")
    else:
        margin = "one_minus" if is_probability else "negative"
        kind = "logistic" if transform == "LOGISTIC" else margin
        pair = with_complement(builder, first, kind)
    return [chosen, builder.cast(pair, f32)]


TABLE: Table = {
    "TreeEnsembleClassifier": {1: import_classifier},
    "TreeEnsembleRegressor": {1: import_regressor},
}
