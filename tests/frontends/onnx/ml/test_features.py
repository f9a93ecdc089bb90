"""Operators of ai.onnx.ml on features and labels, against onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper

from clopt.errors import CloptError
from support.onnx.models import load
from support.onnx.single_node import Case, check_import, learned, values

_RNG = np.random.default_rng(0)
_X = values(_RNG, (5, 3))
_GAPS = np.array([[np.nan, 1, 2], [3, np.nan, np.nan]], np.float32)
_COUNTS = _RNG.integers(-2, 9, (4, 3))


_MANY = [*map(float, range(70))]


def _tensor(*numbers: float, dtype: str = "f8") -> object:
    return numpy_helper.from_array(np.array(numbers, dtype), "t")


CASES: dict[str, Case] = {
    "scaler": learned("Scaler", _X, offset=[1.0, 2.0, 3.0], scale=[0.5, 2.0, 4.0]),
    "scaler of integers": learned("Scaler", _COUNTS, offset=[1.0], scale=[0.5]),
    "largest": learned("Normalizer", _X, norm="MAX"),
    "l1": learned("Normalizer", np.concatenate([_X, 0 * _X]), norm="L1"),
    "l2": learned("Normalizer", _COUNTS, norm="L2"),
    "binarizer": learned("Binarizer", _X, threshold=0.5),
    "extractor": learned("ArrayFeatureExtractor", _X, np.array([2, 0])),
    "extractor of a vector": learned("ArrayFeatureExtractor", _X[0], np.array([[2, 0]])),
    "imputer": learned(
        "Imputer",
        _GAPS,
        imputed_value_floats=[7.0, 8.0, 9.0],
        replaced_value_float=float("nan"),
    ),
    "imputer of one value": learned(
        "Imputer", _GAPS, imputed_value_floats=[7.0], replaced_value_float=3.0
    ),
    "imputer of integers": learned(
        "Imputer", _COUNTS, imputed_value_int64s=[5, 6, 7], replaced_value_int64=-1
    ),
    "vectorizer": learned("FeatureVectorizer", _X, 2 * _X, inputdimensions=[3, 3]),
    "one hot": learned("OneHotEncoder", _COUNTS, cats_int64s=[0, 3, 5, 7], zeros=1),
    "one hot of floats": learned(
        "OneHotEncoder", _COUNTS.astype(np.float32), cats_int64s=[0, 3, 5, 7], zeros=1
    ),
    "labels": learned(
        "LabelEncoder", _COUNTS, keys_int64s=[1, 4, 5], values_int64s=[10, 20, 30], default_int64=-7
    ),
    "labels below zero": learned(
        "LabelEncoder", _COUNTS, keys_int64s=[-2, 4, 5], values_floats=[1.0, 2.5, 3.0]
    ),
    "labels of floats": learned(
        "LabelEncoder",
        _GAPS,
        keys_floats=[float("nan"), 1.0, 3.0],
        values_int64s=[10, 20, 30],
        default_int64=4,
    ),
    "labels of doubles": learned(
        "LabelEncoder",
        _COUNTS.astype(np.float64),
        keys_tensor=_tensor(1, 4, 5),
        values_tensor=_tensor(0.1, 0.2, 0.3),
        default_tensor=_tensor(-3),
    ),
    "linear": learned(
        "LinearRegressor",
        _X,
        coefficients=[*map(float, range(6))],
        intercepts=[1.0, 2.0],
        targets=2,
    ),
    "linear of integers": learned(
        "LinearRegressor", _COUNTS.astype(np.float32), coefficients=[0.1, 2, 3]
    ),
    "classifier": learned(
        "LinearClassifier",
        _X,
        coefficients=_X.reshape(-1)[:9].tolist(),
        intercepts=[0.1, 0.2, 0.3],
        classlabels_ints=[4, 2, 9],
        post_transform="SOFTMAX",
        multi_class=1,
        outputs=2,
    ),
    "classifier of one score": learned(
        "LinearClassifier",
        _X,
        coefficients=[0.5, -1.0, 0.25],
        intercepts=[0.1],
        classlabels_ints=[4, 2],
        outputs=2,
    ),
    "classifier with logistic scores": learned(
        "LinearClassifier",
        _COUNTS.astype(np.float64),
        coefficients=[0.5, -1.0, 0.25, 0.1, 0.2, 0.3],
        intercepts=[0.1, 0.2],
        classlabels_ints=[0, 1],
        post_transform="LOGISTIC",
        outputs=2,
    ),
    "normal quantiles": learned(
        "LinearRegressor",
        _X / 9,
        coefficients=[0.1, 0.2, 0.3],
        intercepts=[0.5],
        post_transform="PROBIT",
    ),
    "softmax without zeros": learned(
        "LinearRegressor",
        np.maximum(_X, 0),
        coefficients=np.eye(3).reshape(-1).tolist(),
        intercepts=[0.0] * 3,
        targets=3,
        post_transform="SOFTMAX_ZERO",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_onnxruntime(name: str) -> None:
    check_import(CASES[name])


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (learned("OneHotEncoder", _COUNTS, cats_strings=["a"]), "its categories are strings"),
        (
            learned("LabelEncoder", _COUNTS, keys_int64s=[1], values_strings=["a"]),
            "its keys or values are strings",
        ),
        (learned("Scaler", _X, offset=[1.0, 2.0]), "has 2 offsets for 3 features"),
        (learned("Imputer", _GAPS, imputed_value_floats=[1.0, 2.0]), "has 2 values for 3"),
        (learned("LinearRegressor", _X, coefficients=[1.0]), "has 1 coefficients for 3 features"),
        (
            learned("LabelEncoder", _X, keys_floats=_MANY, values_floats=_MANY),
            "has 70 keys that are not small integers",
        ),
    ],
)
def test_what_is_not_supported_is_refused(case: Case, message: str) -> None:
    with pytest.raises(CloptError, match=message):
        load(case.model)
