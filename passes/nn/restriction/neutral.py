"""The elements that change nothing where an operation combines the elements of an axis."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import inf, nan
from typing import Any

import numpy as np
from xdsl.ir import Operation

from ....dialects import nn
from ....dialects.properties import ints, number


@dataclass(frozen=True)
class NeutralElement:
    """An element that can pad the end of some axes of an operand without changing the results."""

    operand: int
    axes: tuple[int, ...]
    element: float | None
    """None for any element, because it is not read."""

    def array(self, dtype: np.dtype[Any]) -> np.ndarray[Any, np.dtype[Any]]:
        """Return the element in a type; infinities are the extremes of integers."""
        assert self.element is not None
        if dtype.kind == "f" or abs(self.element) != inf:
            return np.array(self.element, dtype)
        if dtype.kind == "b":
            return np.array(self.element > 0)
        limits = np.iinfo(dtype)
        return np.array(limits.max if self.element > 0 else limits.min, dtype)


def neutral_elements(op: Operation) -> list[NeutralElement]:
    """Return the elements that can pad the operands without changing the results."""
    found = _NEUTRAL.get(type(op))
    return [] if found is None else [*found(op)]


def may_read_border(op: Operation) -> bool:
    """Return whether windows read beyond the end of their operand at some sizes.

    At others, they read up to the last element, and no mask would be needed.
    """
    return isinstance(op, nn.ConvolutionOp | nn.PoolOp) and any(ints(op.pads))


def _of_conv(op: nn.ConvolutionOp) -> Iterable[NeutralElement]:
    yield NeutralElement(0, (*range(2, len(nn.shape_of(op.x))),), 0)


def _of_pool(op: nn.PoolOp) -> Iterable[NeutralElement]:
    element = -inf if op.kind.data is nn.PoolKind.MAX else 0
    yield NeutralElement(0, (*range(2, len(nn.shape_of(op.x))),), element)


def _of_matmul(op: nn.MatmulOp) -> Iterable[NeutralElement]:
    ranks = [len(nn.shape_of(value)) for value in (op.a, op.b)]
    yield NeutralElement(0, (ranks[0] - (1 if op.transpose_a is None else 2),), 0)
    yield NeutralElement(1, (ranks[1] - (2 if op.transpose_b is None else 1),), 0)


_OF_REDUCTIONS: Mapping[nn.ReduceKind, float] = {
    nn.ReduceKind.PROD: 1,
    nn.ReduceKind.MAX: -inf,
    nn.ReduceKind.MIN: inf,
    nn.ReduceKind.LOG_SUM_EXP: -inf,
}
"""The elements that are not zero."""


def _of_reduce(op: nn.ReduceOp) -> Iterable[NeutralElement]:
    is_float = nn.is_float(nn.tensor_type(op.x).element_type)
    if op.kind.data is nn.ReduceKind.MEAN and not is_float:
        return  # the quotient is truncated, so that it cannot be corrected
    yield NeutralElement(0, ints(op.axes), _OF_REDUCTIONS.get(op.kind.data, 0))


def _of_arg_reduce(op: nn.ArgReduceOp) -> Iterable[NeutralElement]:
    # The last of equal elements may be a neutral one.
    if op.select_last is None:
        element = -inf if op.kind.data is nn.ArgReduceKind.MAX else inf
        yield NeutralElement(0, (op.axis.value.data,), element)


def _of_top_k(op: nn.TopKOp) -> Iterable[NeutralElement]:
    # NaN is the greatest number, and the first of equal elements precedes the others.
    greatest = nan if nn.is_float(nn.tensor_type(op.x).element_type) else inf
    yield NeutralElement(0, (op.axis.value.data,), -inf if op.largest is not None else greatest)


def _of_cumsum(op: nn.CumsumOp) -> Iterable[NeutralElement]:
    yield NeutralElement(0, (op.axis.value.data,), 0)


def _of_softmax(op: nn.SoftmaxOp) -> Iterable[NeutralElement]:
    yield NeutralElement(0, (op.axis.value.data,), -inf)


def _of_pad(op: nn.PadOp) -> Iterable[NeutralElement]:
    if op.mode.data is nn.PadMode.CONSTANT:
        element = 0 if op.value is None else number(op.value)
        yield NeutralElement(0, (*range(len(nn.shape_of(op.x))),), element)


def _of_gather(op: nn.GatherOp) -> Iterable[NeutralElement]:
    indices = nn.constant_value(op.indices)
    if indices is not None and (indices >= 0).all():
        yield NeutralElement(0, (op.axis.value.data,), None)


_NEUTRAL: Mapping[type[Operation], Callable[[Any], Iterable[NeutralElement]]] = {
    nn.ConvOp: _of_conv,
    nn.ConvTransposeOp: _of_conv,
    nn.PoolOp: _of_pool,
    nn.MatmulOp: _of_matmul,
    nn.ReduceOp: _of_reduce,
    nn.ArgReduceOp: _of_arg_reduce,
    nn.TopKOp: _of_top_k,
    nn.CumsumOp: _of_cumsum,
    nn.SoftmaxOp: _of_softmax,
    nn.PadOp: _of_pad,
    nn.GatherOp: _of_gather,
}
