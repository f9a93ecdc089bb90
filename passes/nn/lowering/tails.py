"""Tails of packed axes: the loops that run over them, and the values that are zero there.

A layout pads the last block of an axis. This tail must hold zeros, so that sums may run over it.
The lowering determines which axes of operands and results share an index (`links_of`), and an
operation defines whether zeros stay zeros (`is_zero_beyond`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from ....dialects import nn
from ....dialects.nn.evaluation import evaluate
from ....dialects.tir.affine import simplify
from .reads import reads_of

Link = tuple[SSAValue, int, int]
"""An operand, one of its axes, and the axis of the result with the same index and extent."""

Axis = tuple[SSAValue, int]


class Tails:
    """The tails of the values in a kernel, from the layouts of its operands and results.

    `params` and `results` are the extents, tails included, of the tensors that it reads and writes,
    `undefined` the axes whose tails do not hold zeros.
    """

    def __init__(
        self,
        params: Mapping[SSAValue, Sequence[int]],
        results: Iterable[tuple[SSAValue, Sequence[int]]],
        undefined: Collection[Axis] = (),
    ):
        self._parent: dict[Axis, Axis] = {}
        self._read: dict[Axis, int] = {}
        self._written: dict[Axis, int] = {}
        self._params = params
        self._undefined = undefined
        self._zero: dict[Axis, bool] = {}
        self._linked: dict[Operation, Sequence[Link]] = {}
        results = list(results)
        if any(nn.shape_of(v) != tuple(e) for v, e in [*params.items(), *results]):
            self._link([value for value, _ in results])
        for value, extents in params.items():
            self._note(self._read, value, extents)
        for value, extents in results:
            self._note(self._written, value, extents)

    def read(self, value: SSAValue, axis: int) -> int:
        """Return the extent of an operand's axis, with its tail in memory."""
        if value in self._params:
            return self._params[value][axis]
        return self._read.get(self._root((value, axis)), nn.shape_of(value)[axis])

    def written(self, value: SSAValue, axis: int) -> int:
        """Return the extent of an axis, with the tails of the results that share its index."""
        return self._written.get(self._root((value, axis)), nn.shape_of(value)[axis])

    def is_zero(self, value: SSAValue, axis: int) -> bool:
        """Return whether elements beyond the extent of an axis are zero, for finite operands."""
        key = value, axis
        if key not in self._zero:
            owner = value.owner
            if value in self._params:
                self._zero[key] = key not in self._undefined
            else:
                self._zero[key] = isinstance(owner, nn.NNOp) and _is_zero(self, owner, axis)
        return self._zero[key]

    def linked_zero(self, op: Operation, axis: int, operand: SSAValue) -> bool:
        """Return whether an operand is zero at indices beyond the extent of the result's axis."""
        return any(
            self.is_zero(value, i)
            for value, i, j in self._links(op)
            if value is operand and j == axis
        )

    def _link(self, results: Sequence[SSAValue]) -> None:
        pending, seen = list(results), set[Operation]()
        while pending:
            owner = pending.pop().owner
            if not isinstance(owner, Operation) or owner in seen:
                continue
            seen.add(owner)
            pending += owner.operands
            for operand, axis, result_axis in self._links(owner):
                a, b = self._root((operand, axis)), self._root((owner.results[0], result_axis))
                if a != b:
                    self._parent[a] = b

    def _links(self, op: Operation) -> Sequence[Link]:
        if op not in self._linked:
            self._linked[op] = links_of(op)
        return self._linked[op]

    def _root(self, axis: Axis) -> Axis:
        while axis in self._parent:
            axis = self._parent[axis]
        return axis

    def _note(self, noted: dict[Axis, int], value: SSAValue, extents: Sequence[int]) -> None:
        for axis, extent in enumerate(extents):
            root = self._root((value, axis))
            noted[root] = max(noted.get(root, 0), extent)


def links_of(op: Operation) -> list[Link]:
    """Return the operand axes that have, in all reads, the index of one axis of the result."""
    shape = nn.shape_of(op.results[0])
    links: dict[tuple[int, int], int | None] = {}
    for read in reads_of(op):
        operand_shape = nn.shape_of(op.operands[read.operand])
        for axis, position in enumerate(read.index):
            index = simplify(position, read.extents)
            at = index.position if isinstance(index, AffineDimExpr) else len(shape)
            linked = at if at < len(shape) and shape[at] == operand_shape[axis] else None
            key = read.operand, axis
            links[key] = linked if links.get(key, linked) == linked else None
    return [(op.operands[i], axis, at) for (i, axis), at in links.items() if at is not None]


def _is_zero(tails: Tails, op: nn.NNOp, axis: int) -> bool:
    """Return whether the first result of an operation is zero beyond the extent of an axis."""
    stated = op.is_zero_beyond(axis, tails)
    if stated is not None:
        return stated
    match op.ROLE:
        case nn.Role.ELEMENTWISE:
            return _computes_zero(tails, op, axis)
        case nn.Role.INDEX:
            return tails.linked_zero(op, axis, op.operands[0])
        case _:
            return False


def _computes_zero(tails: Tails, op: Operation, axis: int) -> bool:
    """Return whether a function of zeros, and of the constants in the kernel, is zero."""
    samples: list[nn.Array] = []
    for operand in op.operands:
        type_ = nn.tensor_type(operand)
        constant = nn.constant_value(operand)
        if constant is not None and constant.size == 1:
            samples.append(constant)
        elif _broadcasts(op, operand, axis) or not tails.linked_zero(op, axis, operand):
            return False
        else:
            samples.append(
                np.zeros([1] * len(type_.get_shape()), nn.numpy_dtype(type_.element_type))
            )
    results = evaluate(op, samples)
    return results is not None and not results[0].any()


def _broadcasts(op: Operation, operand: SSAValue, axis: int) -> bool:
    """Return whether the operand has one element for all positions along a result's axis."""
    shape = nn.shape_of(operand)
    at = axis - (len(nn.shape_of(op.results[0])) - len(shape))
    return len(op.operands) > 1 and (at < 0 or shape[at] == 1)
