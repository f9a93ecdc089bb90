"""Estimators of scikit-learn that skl2onnx exports, with an open batch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from open_exporters import OpenModel
from skl2onnx import convert_sklearn
from skl2onnx.common.data_types import FloatTensorType
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    GradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, SVR

_FEATURES = 6

ESTIMATORS: dict[str, BaseEstimator] = {
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
    "ridge, polynomials": make_pipeline(PolynomialFeatures(2), Ridge()),
    "random forest": RandomForestClassifier(5, max_depth=4, random_state=0),
    "gradient boosting": GradientBoostingClassifier(n_estimators=5, random_state=0),
    "isolation forest": IsolationForest(n_estimators=5, random_state=0),
    "SVC": make_pipeline(MinMaxScaler(), SVC(probability=True, random_state=0)),
    "SVR": SVR(),
    "k nearest, classes": KNeighborsClassifier(3),
    "k nearest, values": KNeighborsRegressor(3, weights="distance"),
    "naive Bayes": GaussianNB(),
    "MLP": make_pipeline(PCA(3), MLPClassifier((8,), max_iter=50, random_state=0)),
    "k means": KMeans(3, n_init=1, random_state=0),
    "Gaussian mixture": GaussianMixture(2, random_state=0),
    "Gaussian process": GaussianProcessRegressor(),
    "votes": VotingClassifier(
        [("a", LogisticRegression()), ("b", GaussianNB())], flatten_transform=False, voting="soft"
    ),
    "columns": make_pipeline(
        ColumnTransformer(
            [
                ("bins", KBinsDiscretizer(3, encode="onehot-dense"), [0, 1]),
                ("norm", Normalizer(), [2, 3, 4, 5]),
            ]
        ),
        LogisticRegression(),
    ),
    "categories": make_pipeline(
        KBinsDiscretizer(3, encode="ordinal"),
        OneHotEncoder(sparse_output=False),
        Ridge(),
    ),
    "quantiles": make_pipeline(QuantileTransformer(n_quantiles=10), Ridge()),
}


def model_of(name: str) -> OpenModel:
    """Return an estimator, fitted to seeded rows, as a model that skl2onnx writes."""

    def write(path: Path) -> None:
        rows = _rows(100, 0)
        labels = (rows[:, 0] + rows[:, 1] ** 2 > 0.5).astype(np.int64) + (rows[:, 2] > 1)
        estimator = ESTIMATORS[name].fit(rows, labels)
        model = convert_sklearn(
            estimator,
            initial_types=[("rows", FloatTensorType([None, _FEATURES]))],
            target_opset={"": 18, "ai.onnx.ml": 3},
        )
        path.write_bytes(model.SerializeToString())

    return OpenModel(write, lambda draw: {"rows": _rows(draw(2, 40), draw(1, 1000))})


def _rows(count: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((count, _FEATURES), np.float32)
