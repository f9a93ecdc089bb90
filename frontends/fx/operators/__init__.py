"""Importers of ATen operators: one file per family, each with a literal table."""

from __future__ import annotations

from ..call import Table
from . import attention, elementwise, indexing, linear, normalization, reduction, shape, window

TABLE: Table = {
    **attention.TABLE,
    **elementwise.TABLE,
    **indexing.TABLE,
    **linear.TABLE,
    **normalization.TABLE,
    **reduction.TABLE,
    **shape.TABLE,
    **window.TABLE,
}
"""Operators with an entry are not decomposed into core ATen."""
