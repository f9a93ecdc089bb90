"""Random forests, in every form of ONNX, give the scores and labels of onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import numpy_helper

from clopt.errors import CloptError
from support.onnx.models import by_onnxruntime, load
from support.onnx.single_node import Case, check_import, examples, generators, learned

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
FEATURES = 4


def _forest(
    rng: np.random.Generator, what: str, targets: list[int], mixed: bool, positive: bool
) -> dict[str, Any]:
    """The attributes of three trees of at most four levels; leaves have a weight per target."""
    rows: list[tuple[int, int, int, float, str, int, int, int]] = []
    leaves: list[tuple[int, int, int, float]] = []

    def grow(tree: int, first: int, depth: int) -> int:
        """Add a node with the id `first`, and its children; the next free id."""
        if depth == 0 or rng.random() < 0.2:
            rows.append((tree, first, 0, 0.0, "LEAF", 0, 0, 0))
            low = 0 if positive else -1
            leaves.extend((tree, first, t, float(rng.uniform(low, 1))) for t in targets)
            return first + 1
        place = len(rows)
        second = grow(tree, first + 1, depth - 1)
        following = grow(tree, second, depth - 1)
        mode = MODES[rng.integers(6)] if mixed else MODES[0]
        threshold = float(rng.integers(-2, 3))
        feature, tracks = int(rng.integers(FEATURES)), int(rng.integers(2))
        rows.insert(place, (tree, first, feature, threshold, mode, first + 1, second, tracks))
        return following

    for tree in range(3):
        grow(tree, 0, int(rng.integers(0, 5)))
    trees, ids, features, thresholds, modes, yes, no, tracks = map(list, zip(*rows, strict=True))
    owners, places, columns, weights = map(list, zip(*leaves, strict=True))
    return {
        "nodes_treeids": trees,
        "nodes_nodeids": ids,
        "nodes_featureids": features,
        "nodes_values": thresholds,
        "nodes_modes": modes,
        "nodes_truenodeids": yes,
        "nodes_falsenodeids": no,
        "nodes_missing_value_tracks_true": tracks,
        f"{what}_treeids": owners,
        f"{what}_nodeids": places,
        f"{what}_ids": columns,
        f"{what}_weights": weights,
    }


def _rows(rng: np.random.Generator) -> np.ndarray:
    """Whole numbers, so that thresholds are met, and some NaN."""
    x = rng.integers(-3, 4, (9, FEATURES)).astype(np.float32)
    x[rng.random(x.shape) < 0.1] = np.nan
    return x


TRANSFORMS = ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO")


@given(
    generators,
    st.sampled_from([[0, 1, 2], [0, 1], [0], [1]]),
    st.sampled_from(TRANSFORMS),
    *[st.booleans()] * 3,
)
@examples(8)
def test_classifier(
    rng: np.random.Generator,
    classes: list[int],
    transform: str,
    mixed: bool,
    positive: bool,
    shifted: bool,
) -> None:
    count = max(2, len(classes))
    attributes = _forest(rng, "class", classes, mixed, positive)
    if shifted and count == 3:
        attributes["base_values"] = rng.uniform(-1, 1, count).tolist()
    if len(classes) == 1 and transform not in ("NONE", "LOGISTIC"):
        transform = "NONE"
    case = learned(
        "TreeEnsembleClassifier",
        _rows(rng),
        outputs=2,
        classlabels_int64s=[7, 3, 5][:count],
        post_transform=transform,
        **attributes,
    )
    if classes != [0, 1]:
        check_import(case)
        return
    # The labels of onnxruntime are 1 if the second score is positive, whatever the labels are.
    _, scores = load(case.model).run(*case.feeds.values())
    np.testing.assert_allclose(scores, by_onnxruntime(case.model, case.feeds)[1], atol=2e-5)


def test_the_label_of_two_scores_is_that_of_the_larger() -> None:
    rng = np.random.default_rng(6)
    attributes = _forest(rng, "class", [0, 1], mixed=False, positive=True)
    x = _rows(rng)
    case = learned("TreeEnsembleClassifier", x, outputs=2, classlabels_int64s=[7, 3], **attributes)
    labels, scores = load(case.model).run(x)
    np.testing.assert_array_equal(labels, np.array([7, 3])[scores.argmax(1)])
    assert len(np.unique(labels)) == 2


@given(
    generators,
    st.sampled_from([1, 3]),
    st.sampled_from(["SUM", "AVERAGE", "MIN", "MAX"]),
    st.sampled_from([*TRANSFORMS]),
    *[st.booleans()] * 2,
)
@examples(8)
def test_regressor(
    rng: np.random.Generator, targets: int, how: str, transform: str, mixed: bool, shifted: bool
) -> None:
    attributes = _forest(rng, "target", [*range(targets)], mixed, positive=False)
    if shifted:
        attributes["base_values"] = rng.uniform(-1, 1, targets).tolist()
    case = learned(
        "TreeEnsembleRegressor",
        _rows(rng),
        n_targets=targets,
        aggregate_function=how,
        post_transform=transform,
        **attributes,
    )
    check_import(case)


def test_thresholds_may_be_doubles() -> None:
    rng = np.random.default_rng(3)
    attributes = _forest(rng, "target", [0], mixed=False, positive=False)
    for name in ("nodes_values", "target_weights"):
        array = np.array(attributes.pop(name), np.float64) + 1e-12
        attributes[f"{name}_as_tensor"] = numpy_helper.from_array(array, name)
    x = rng.integers(-3, 4, (20, FEATURES)) + 1e-12
    check_import(learned("TreeEnsembleRegressor", x, n_targets=1, **attributes))


def _apart(x: np.ndarray, how: int, modes: list[int], splits: list[float], **more: Any) -> Case:
    """Two trees of four nodes and six leaves in the form whose leaves are apart."""
    weights = np.random.default_rng(how).uniform(-1, 1, 6)
    tensors = {
        "nodes_modes": np.array(modes, np.uint8),
        "nodes_splits": np.array(splits, x.dtype),
        "leaf_weights": weights.astype(x.dtype),
        **{name: np.array(each, x.dtype) for name, each in more.items()},
    }
    return learned(
        "TreeEnsemble",
        x,
        aggregate_function=how,
        n_targets=2,
        tree_roots=[0, 3],
        nodes_featureids=[0, 1, 2, 3],
        nodes_truenodeids=[1, 0, 2, 4],
        nodes_trueleafs=[0, 1, 1, 1],
        nodes_falsenodeids=[2, 1, 3, 5],
        nodes_falseleafs=[0, 1, 1, 1],
        leaf_targetids=[0, 1, 1, 0, 0, 1],
        **{name: numpy_helper.from_array(array, name) for name, array in tensors.items()},
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("how", [0, 1, 2, 3])
def test_ensemble_with_leaves_apart(dtype: type, how: int) -> None:
    x = _rows(np.random.default_rng(how)).astype(dtype)
    check_import(_apart(x, how, [0, 3, 1, 5], [0.5, -1, 1, 0]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ends", [0, 1])
def test_membership_of_sets(dtype: type, ends: int) -> None:
    """A set of three members, one of one, and one of two; the last may have a delimiter."""
    x = np.random.default_rng(ends).integers(0, 5, (40, FEATURES)).astype(dtype)
    members = [1, 3, 4, np.nan, 2, np.nan, 0, 2, *[np.nan] * ends]
    check_import(_apart(x, 1, [6, 3, 6, 6], [0, 1, 0, 0], membership_values=members))


def test_each_test_of_membership_has_a_set() -> None:
    x = np.zeros((2, FEATURES), np.float32)
    for members, count in (([1, np.nan, 2], 2), ([1, np.nan, np.nan, 2, np.nan, 3], 4)):
        case = _apart(x, 1, [6, 3, 6, 6], [0] * 4, membership_values=members)
        with pytest.raises(CloptError, match=f"has {count} sets for 3 tests of membership"):
            load(case.model)
    with pytest.raises(CloptError, match="modes from 0 to 7, of 0 to 6"):
        load(_apart(x, 1, [0, 7, 1, 1], [0] * 4).model)


def test_what_is_damaged_is_refused() -> None:
    attributes = _forest(np.random.default_rng(1), "target", [0], mixed=False, positive=True)
    x = np.zeros((2, FEATURES), np.float32)

    def refused(message: str, **changed: Any) -> None:
        case = learned("TreeEnsembleRegressor", x, n_targets=1, **{**attributes, **changed})
        with pytest.raises(CloptError, match=message):
            load(case.model)

    count = len(attributes["nodes_values"])
    refused("has no node 99", nodes_truenodeids=[99] * count)
    refused(f"must have {count} entries", nodes_values=[0.0])
    refused("its modes must be", nodes_modes=["BRANCH"] * count)
    refused("reads features from", nodes_featureids=[FEATURES] * count)
    refused("target_ids must be from 0 to 0", target_ids=[1] * len(attributes["target_ids"]))
    loop = {"nodes_truenodeids": [0] * count, "nodes_falsenodeids": [0] * count}
    refused("has no root|form a cycle", **loop)
    case = learned(
        "TreeEnsembleClassifier",
        x,
        outputs=2,
        classlabels_strings=["a", "b"],
        **_forest(np.random.default_rng(1), "class", [0, 1], mixed=False, positive=True),
    )
    with pytest.raises(CloptError, match="its labels are strings"):
        load(case.model)
