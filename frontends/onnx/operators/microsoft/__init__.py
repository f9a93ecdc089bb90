"""Operators of the domain com.microsoft, which onnxruntime's optimiser and quantiser write."""

from __future__ import annotations

from ...node import Table
from . import (
    attention,
    fused,
    grouped_attention,
    integer_products,
    normalization,
    qlinear,
    rotary,
    tensors,
)

TABLE: Table = {
    **attention.TABLE,
    **fused.TABLE,
    **grouped_attention.TABLE,
    **integer_products.TABLE,
    **normalization.TABLE,
    **qlinear.TABLE,
    **rotary.TABLE,
    **tensors.TABLE,
}
