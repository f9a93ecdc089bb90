"""Operators of the domain com.microsoft, which onnxruntime's optimiser and quantiser write."""

from __future__ import annotations

from ...node import Table
from . import fused, integer_products, normalization, qlinear, tensors

TABLE: Table = {
    **fused.TABLE,
    **integer_products.TABLE,
    **normalization.TABLE,
    **qlinear.TABLE,
    **tensors.TABLE,
}
