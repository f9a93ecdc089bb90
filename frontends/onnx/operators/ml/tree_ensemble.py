"""TreeEnsemble of ai.onnx.ml 5, whose leaves are apart from its nodes."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from .....dialects.nn.types import Array, tensor_type
from ...node import NodeContext, Table
from .scores import TRANSFORMS
from .trees import AGGREGATES, MODES, Forest, aggregated

_MEMBER = 6
"""The mode of a node that tests membership of a set."""

_MODES = (*[MODES[name] for name in MODES if name.startswith("BRANCH")], "eq")
_HOW = ("AVERAGE", "SUM", "MIN", "MAX")


def import_tree_ensemble(node: NodeContext) -> SSAValue:
    """Import TreeEnsemble: a regression; the result has the type of the input."""
    how, transform = node.integer("aggregate_function", 1), node.integer("post_transform", 0)
    if not 0 <= how < len(AGGREGATES) or not 0 <= transform < len(TRANSFORMS):
        node.refuse(f"aggregate_function {how} or post_transform {transform} is unknown.")
    forest = _read(node, node.integer("n_targets", 1))
    y = aggregated(node, forest, _HOW[how], [*TRANSFORMS][transform], None)
    return node.builder.cast(y, tensor_type(node.input(0)).element_type)


def _read(node: NodeContext, targets: int) -> Forest:
    """Return the forest, in which the leaves follow the inner nodes."""
    modes, splits = node.tensor("nodes_modes"), node.tensor("nodes_splits")
    weights = node.tensor("leaf_weights")
    node.tensor("nodes_hitrates")
    if modes is None or splits is None or weights is None:
        node.refuse("nodes_modes, nodes_splits or leaf_weights is missing.")
    if modes.min(initial=0) < 0 or modes.max(initial=0) >= len(_MODES):
        node.refuse(
            f"nodes_modes has modes from {modes.min()} to {modes.max()}, of 0 to {_MEMBER}."
        )
    inner, leaves = modes.size, weights.size
    targets_of = _integers(node, "leaf_targetids", leaves)
    if splits.size != inner or targets_of.min(initial=0) < 0 or targets_of.max() >= targets:
        node.refuse("nodes_splits or leaf_targetids do not match the nodes.")
    count = inner + leaves
    features = np.zeros(count, np.int32)
    features[:inner] = _integers(node, "nodes_featureids", inner)
    tracks = np.zeros(count, np.bool_)
    if (given := node.integers("nodes_missing_value_tracks_true")) is not None:
        tracks[:inner] = np.array(given, np.bool_)[:inner]
    node.builder.reserve(count, max(targets, 1))
    table = np.zeros((count, targets), weights.dtype)
    table[inner + np.arange(leaves), targets_of] = weights.reshape(-1)
    is_scored = np.zeros(table.shape, np.bool_)
    is_scored[inner + np.arange(leaves), targets_of] = True
    comparisons = np.array([*(_MODES[mode] for mode in modes.reshape(-1)), *[""] * leaves])
    roots = np.array(node.integers("tree_roots") or (), np.int32)
    if not roots.size or roots.min() < 0 or roots.max() >= inner:
        node.refuse("tree_roots must be nodes.")
    forest = Forest(
        features,
        np.concatenate([splits.reshape(-1), np.zeros(leaves, splits.dtype)]),
        comparisons,
        _children(node, "true", inner, leaves),
        _children(node, "false", inner, leaves),
        tracks,
        roots,
        table,
        is_scored,
    )
    return _with_members(node, forest, np.flatnonzero(modes == _MEMBER))


def _with_members(node: NodeContext, forest: Forest, places: Array) -> Forest:
    """Return a forest in which each test of membership is a chain of comparisons with one member.

    `places` are the nodes with such tests. The sets are in `membership_values`, in the order of the
    nodes and with NaN between two.
    """
    values = node.tensor("membership_values")
    if not places.size:
        return forest
    members = np.array([]) if values is None else values.reshape(-1)
    ends = np.flatnonzero(np.isnan(members))
    sets = [each[~np.isnan(each)] for each in np.split(members, ends)]
    if members.size and np.isnan(members[-1]):
        sets.pop()  # the delimiter of the last set
    if len(sets) != places.size or not all(each.size for each in sets):
        node.refuse(
            f"membership_values has {len(sets)} sets for {places.size} tests of membership."
        )
    count = forest.features.size
    parents = np.concatenate([np.arange(count), *map(_repeated, places, sets)]).astype(np.int32)
    thresholds, no = forest.thresholds[parents], forest.no[parents]
    for place, each in zip(places, sets, strict=True):
        chain = [place, *np.flatnonzero(parents == place)[1:]]
        thresholds[chain] = each
        no[chain[:-1]] = chain[1:]
    node.builder.reserve(parents.size, max(forest.weights.shape[1], 1))
    return Forest(
        forest.features[parents],
        thresholds,
        forest.comparisons[parents],
        forest.yes[parents],
        no,
        forest.tracks_missing[parents],
        forest.roots,
        forest.weights[parents],
        forest.is_scored[parents],
    )


def _repeated(place: int, members: Array) -> Array:
    """Return the node of a set once more for each member but the first."""
    return np.full(members.size - 1, place)


def _children(node: NodeContext, side: str, inner: int, leaves: int) -> Array:
    """Return one child of each node; a leaf is its own."""
    ids = _integers(node, f"nodes_{side}nodeids", inner)
    is_leaf = _integers(node, f"nodes_{side}leafs", inner) != 0
    if ids.min(initial=0) < 0 or (ids >= np.where(is_leaf, leaves, inner)).any():
        node.refuse(f"nodes_{side}nodeids must be nodes or leaves.")
    places = np.where(is_leaf, ids + inner, ids)
    return np.concatenate([places, inner + np.arange(leaves)]).astype(np.int32)


def _integers(node: NodeContext, name: str, count: int) -> Array:
    array = np.array(node.integers(name) or (), np.int64)
    if array.size != count:
        node.refuse(f"{name} has {array.size} entries; expected {count}.")
    return array


TABLE: Table = {"TreeEnsemble": {5: import_tree_ensemble}}
