"""Support vector machines with random vectors, against onnxruntime."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clopt.errors import CloptError
from support.onnx.models import by_onnxruntime, load
from support.onnx.single_node import check_import, examples, generators, learned, values

FEATURES = 3
KERNELS = {
    "LINEAR": (0.0, 0.0, 0.0),
    "POLY": (0.3, 0.5, 3.0),
    "RBF": (0.4, 0.0, 0.0),
    "SIGMOID": (0.2, 0.1, 0.0),
}


def _numbers(rng: np.random.Generator, count: int) -> list[float]:
    return values(rng, (count,), low=-1, high=1).tolist()


@given(generators, st.sampled_from([*KERNELS]), st.booleans(), st.booleans())
@examples(10)
def test_regressor(rng: np.random.Generator, kernel: str, linear: bool, one_class: bool) -> None:
    count = 0 if linear else 5
    attributes: dict[str, Any] = {"kernel_type": kernel, "kernel_params": KERNELS[kernel]}
    if count:
        attributes["support_vectors"] = _numbers(rng, count * FEATURES)
    case = learned(
        "SVMRegressor",
        values(rng, (6, FEATURES)),
        coefficients=_numbers(rng, count or FEATURES),
        rho=[0.3],
        n_supports=count,
        one_class=int(one_class),
        **attributes,
    )
    check_import(case, 1e-4)


def _machine(rng: np.random.Generator, kernel: str, classes: int) -> dict[str, Any]:
    sizes, pairs = [*rng.integers(1, 4, classes).tolist()], len([*combinations(range(classes), 2)])
    return {
        "kernel_type": kernel,
        "kernel_params": KERNELS[kernel],
        "vectors_per_class": sizes,
        "support_vectors": _numbers(rng, sum(sizes) * FEATURES),
        "coefficients": _numbers(rng, (classes - 1) * sum(sizes)),
        "rho": _numbers(rng, pairs),
        "classlabels_ints": [5, 3, 8, 1][:classes],
    }


@given(
    generators,
    st.sampled_from([*KERNELS]),
    st.sampled_from([2, 3, 4]),
    st.sampled_from(["NONE", "SOFTMAX", "LOGISTIC"]),
)
@examples(15)
def test_classifier(rng: np.random.Generator, kernel: str, classes: int, transform: str) -> None:
    transform = transform if classes > 2 else "NONE"
    attributes = _machine(rng, kernel, classes)
    x = values(rng, (6, FEATURES))
    check_import(
        learned("SVMClassifier", x, outputs=2, post_transform=transform, **attributes), 1e-4
    )


@given(generators, st.sampled_from([2, 3, 4]))
@examples(10)
def test_probabilities(rng: np.random.Generator, classes: int) -> None:
    attributes = _machine(rng, "RBF", classes)
    pairs = len(attributes["rho"])
    case = learned(
        "SVMClassifier",
        values(rng, (6, FEATURES)),
        outputs=2,
        prob_a=[-1 - abs(n) for n in _numbers(rng, pairs)],
        prob_b=_numbers(rng, pairs),
        **attributes,
    )
    labels, scores = load(case.model).run(*case.feeds.values())
    expected = by_onnxruntime(case.model, case.feeds)
    np.testing.assert_array_equal(labels, expected[0])
    np.testing.assert_allclose(scores, expected[1], atol=1e-5)
    np.testing.assert_allclose(scores.sum(1), 1, rtol=1e-5)


def test_a_linear_machine_of_three_classes() -> None:
    rng = np.random.default_rng(0)
    case = learned(
        "SVMClassifier",
        values(rng, (6, FEATURES)),
        outputs=2,
        coefficients=_numbers(rng, 3 * FEATURES),
        rho=[0.2],
        kernel_params=KERNELS["LINEAR"],
        classlabels_ints=[0, 1, 2],
    )
    check_import(case)


def test_what_is_damaged_is_refused() -> None:
    rng = np.random.default_rng(0)
    x, attributes = values(rng, (6, FEATURES)), _machine(rng, "RBF", 3)
    for name, message in (("support_vectors", "is not a matrix"), ("rho", "do not match")):
        case = learned("SVMClassifier", x, outputs=2, **{**attributes, name: [1.0]})
        with pytest.raises(CloptError, match=message):
            load(case.model)
