"""Poolings."""

from __future__ import annotations

from typing import Any

from ..builder import GraphBuilder
from ..values import Value
from .window import dilations, kernel, padding, strides


def _window(g: GraphBuilder, x: Value, dilated: bool) -> dict[str, Any]:
    rank, spatial = x.rank - 2, kernel(g, x)
    spread = dilations(g, rank) if dilated else [1] * rank
    # Padding beyond the undilated window is not allowed.
    window = {"kernel_shape": spatial, "strides": strides(g, rank), **padding(g, spatial)}
    if dilated:
        window["dilations"] = spread
    if "pads" in window and g.chance(0.4):
        window["ceil_mode"] = 1
    return window


def max_pool(g: GraphBuilder) -> None:
    """MaxPool."""
    x = g.pick(rank=(3, 4, 4, 4, 5))
    g.op("MaxPool", x, **_window(g, x, dilated=True))


def max_pool_with_indices(g: GraphBuilder) -> None:
    """MaxPool that also tells where the largest elements are."""
    x = g.pick(rank=(3, 4))
    window = _window(g, x, dilated=False)
    g.op("MaxPool", x, outputs=2, storage_order=0, **window)


def average_pool(g: GraphBuilder) -> None:
    """AveragePool, of which borders count or do not."""
    x = g.pick(rank=(3, 4, 4, 4, 5))
    window = _window(g, x, dilated=g.opset >= 19)
    g.op("AveragePool", x, count_include_pad=g.one_of(0, 1), **window)


def lp_pool(g: GraphBuilder) -> None:
    """LpPool."""
    x = g.pick(rank=(3, 4))
    window = _window(g, x, dilated=g.opset >= 18)
    if g.opset < 18:
        window.pop("ceil_mode", None)
    g.op("LpPool", x, p=g.one_of(1, 2, 2, 3), **window)


def global_pool(g: GraphBuilder) -> None:
    """A pooling of whole images."""
    kind = g.one_of("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
    g.op(kind, g.pick(rank=(3, 4, 5)))


OPERATORS = {
    "max_pool": (4, max_pool),
    "max_pool_with_indices": (1, max_pool_with_indices),
    "average_pool": (4, average_pool),
    "lp_pool": (1, lp_pool),
    "global_pool": (2, global_pool),
}
