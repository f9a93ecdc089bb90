"""The operators of random graphs: one function each, and the table of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..builder import GraphBuilder
from . import (
    convolution,
    elementwise,
    linear,
    normalization,
    pooling,
    quantization,
    recurrent,
    reduction,
    resize,
    selection,
    shape,
)

Operator = Callable[[GraphBuilder], None]

OPERATORS: Mapping[str, tuple[int, Operator]] = {
    **convolution.OPERATORS,
    **elementwise.OPERATORS,
    **linear.OPERATORS,
    **normalization.OPERATORS,
    **pooling.OPERATORS,
    **quantization.OPERATORS,
    **recurrent.OPERATORS,
    **reduction.OPERATORS,
    **resize.OPERATORS,
    **selection.OPERATORS,
    **shape.OPERATORS,
}
"""By name: how often relative to the others it is drawn, and the function."""
