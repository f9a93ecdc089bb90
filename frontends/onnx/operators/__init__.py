"""Importers of ONNX operators: one file per family, each with a literal table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ....plugins import plugins, refuse_twice
from ..node import Handler, Table
from . import (
    control,
    conv,
    einsum,
    elementwise,
    generation,
    grams,
    grid_sample,
    indexing,
    linear,
    microsoft,
    ml,
    normalization,
    pooling,
    quantization,
    recurrent,
    reduction,
    resize,
    selection,
    sequences,
    shape,
    signal,
    training,
    vision,
)

TABLES: Mapping[str, Table] = {
    "": {
        **control.TABLE,
        **conv.TABLE,
        **einsum.TABLE,
        **elementwise.TABLE,
        **generation.TABLE,
        **grams.TABLE,
        **grid_sample.TABLE,
        **indexing.TABLE,
        **linear.TABLE,
        **normalization.TABLE,
        **pooling.TABLE,
        **quantization.TABLE,
        **recurrent.TABLE,
        **reduction.TABLE,
        **resize.TABLE,
        **selection.TABLE,
        **sequences.TABLE,
        **shape.TABLE,
        **signal.TABLE,
        **training.TABLE,
        **vision.TABLE,
    },
    "ai.onnx.ml": ml.TABLE,
    "ai.onnx.preview.training": training.OPTIMISERS,
    "com.microsoft": microsoft.TABLE,
}
"""The built-in importers by domain: operator name to handler by opset."""

GROUP = "clopt.onnx"
"""Entry point group in which other packages register tables of the form of `TABLES`."""


@cache
def tables() -> Mapping[str, Table]:
    """Return all tables by domain: the built-in operators and operators of other packages."""
    merged = {domain: dict(table) for domain, table in TABLES.items()}
    for provided in plugins(GROUP).values():
        for domain, table in provided.items():
            known = merged.setdefault(domain, {})
            for name, rows in table.items():
                refuse_twice(GROUP, name, known)
                known[name] = rows
    return merged


def handler_for(domain: str, op_type: str, opset: int) -> Handler | None:
    """Return the newest importer of an operator that is not newer than `opset`, or None."""
    rows = tables().get(domain, {}).get(op_type, {})
    since = max((version for version in rows if version <= opset), default=None)
    return None if since is None else rows[since]


def oldest_opset(domain: str, op_type: str) -> int | None:
    """Return the oldest opset in which an operator can be imported, or None."""
    return min(tables().get(domain, {}).get(op_type, {}), default=None)
