"""TreeEnsemble of ai.onnx.ml 5, whose leaves are apart from its nodes."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from .....dialects.nn.types import Array, tensor_type
from ...node import NodeContext, Table
from .scores import TRANSFORMS
from .trees import AGGREGATES, MODES, Forest, aggregated

_MODES = (*[MODES[name] for name in MODES if name.startswith("BRANCH")],)
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
    if node.tensor("membership_values") is not None or modes.max(initial=0) >= len(_MODES):
        node.refuse("tests of membership (BRANCH_MEMBER) are not supported.")
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
    return Forest(
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
