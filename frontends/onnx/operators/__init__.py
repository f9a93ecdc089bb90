"""The importers of operators: one file per family, each with a literal table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ....plugins import plugins, refuse_twice
from ..node import Handler, Table
from . import (
    contrib,
    control,
    conv,
    einsum,
    elementwise,
    generation,
    grid_sample,
    indexing,
    linear,
    normalization,
    pooling,
    qlinear,
    quantization,
    recurrent,
    reduction,
    resize,
    shape,
    signal,
    vision,
)

TABLES: Mapping[str, Table] = {
    "": {
        **control.TABLE,
        **conv.TABLE,
        **einsum.TABLE,
        **elementwise.TABLE,
        **generation.TABLE,
        **grid_sample.TABLE,
        **indexing.TABLE,
        **linear.TABLE,
        **normalization.TABLE,
        **pooling.TABLE,
        **quantization.TABLE,
        **recurrent.TABLE,
        **reduction.TABLE,
        **resize.TABLE,
        **shape.TABLE,
        **signal.TABLE,
        **vision.TABLE,
    },
    "com.microsoft": {**contrib.TABLE, **qlinear.TABLE},
}
"""Ours, by domain: operator name to the opsets at which its meaning changed."""

GROUP = "clopt.onnx"
"""The group of entry points, each of which names tables of another package, as `TABLES` is."""


@cache
def tables() -> Mapping[str, Table]:
    """Return all tables by domain: our operators and those of other packages."""
    merged = {domain: dict(table) for domain, table in TABLES.items()}
    for brought in plugins(GROUP).values():
        for domain, table in brought.items():
            known = merged.setdefault(domain, {})
            for name, rows in table.items():
                refuse_twice(GROUP, name, known)
                known[name] = rows
    return merged


def handler_for(domain: str, op_type: str, opset: int) -> Handler | None:
    """The importer of an operator: the newest that is not newer than the opset."""
    rows = tables().get(domain, {}).get(op_type, {})
    since = max((version for version in rows if version <= opset), default=None)
    return None if since is None else rows[since]


def oldest_opset(domain: str, op_type: str) -> int | None:
    """The first opset whose form of an operator can be imported; None when none can."""
    return min(tables().get(domain, {}).get(op_type, {}), default=None)
