"""Operators of the domain ai.onnx.ml on tensors of numbers, which scikit-learn's exports have."""

from __future__ import annotations

from ...node import Table
from . import encoders, features, linear, maps, support_vectors, tree_ensemble, trees

TABLE: Table = {
    **encoders.TABLE,
    **features.TABLE,
    **linear.TABLE,
    **maps.TABLE,
    **support_vectors.TABLE,
    **tree_ensemble.TABLE,
    **trees.TABLE,
}
