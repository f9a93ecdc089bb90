"""Conversion of `arith` operations on values of type index to linear forms."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation
from xdsl.ir.affine import AffineBinaryOpKind

from ...dialects.tir.affine import Linear
from .builtins import COMPARE_INTEGERS, Sign
from .expressions import Expressions
from .index import constant
from .operations import Operations
from .values import Node

_AFFINE = {
    "arith.addi": AffineBinaryOpKind.Add,
    "arith.muli": AffineBinaryOpKind.Mul,
    "arith.floordivsi": AffineBinaryOpKind.FloorDiv,
    "arith.divui": AffineBinaryOpKind.FloorDiv,
    "arith.divsi": AffineBinaryOpKind.FloorDiv,
    "arith.remui": AffineBinaryOpKind.Mod,
    "arith.remsi": AffineBinaryOpKind.Mod,
    "arith.ceildivsi": AffineBinaryOpKind.CeilDiv,
    "arith.ceildivui": AffineBinaryOpKind.CeilDiv,
}
_TRUNCATING = ("arith.divui", "arith.divsi", "arith.remui", "arith.remsi", "arith.ceildivui")
"""Operations that equal their affine counterparts only if the indices are not negative."""


class IndexOperations:
    """A converter of index arithmetic; operations that are not affine are computed as integers."""

    def __init__(self, expressions: Expressions, operations: Operations):
        self.ex = expressions
        self.space = expressions.space
        self.operations = operations

    def __call__(self, op: Operation, operands: Sequence[Linear]) -> Linear:
        """Return the form of an operation's result."""
        if type(op) is arith.ConstantOp:
            assert isinstance(op.value, IntegerAttr)
            return constant(op.value.value.data)
        if type(op) is arith.IndexCastOp:
            return operands[0]
        if type(op) is arith.SubiOp:
            return self.space.normal(operands[0] + operands[1].scaled(-1))
        if (form := self._affine(op, operands)) is not None:
            return form
        node = self.operations(op, [self.ex.index(form) for form in operands])
        if not node.hint:
            node.hint = op.results[0].name_hint or ""
        return self.ex.to_form(node, self._extent(op, operands))

    def compare(self, op: arith.CmpiOp, lhs: Linear, rhs: Linear) -> Node:
        """Return the truth value of a comparison of indices."""
        operator = COMPARE_INTEGERS[arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]]
        if operator.sign is Sign.UNSIGNED:
            lows = [self.space.bounds(form)[0] for form in (lhs, rhs)]
            if any(low is None or low < 0 for low in lows):
                nodes = self.ex.index(lhs), self.ex.index(rhs)
                return self.ex.compare(operator.symbol, *nodes, operator.sign)
        return self.ex.compare_index(operator.symbol, lhs, rhs)

    def _affine(self, op: Operation, operands: Sequence[Linear]) -> Linear | None:
        kind = _AFFINE.get(op.name)
        if kind is None:
            return None
        lhs, rhs = operands
        if kind is AffineBinaryOpKind.Mul and not lhs.terms:
            lhs, rhs = rhs, lhs
        if kind is not AffineBinaryOpKind.Add and rhs.terms:
            return None
        if kind not in (AffineBinaryOpKind.Add, AffineBinaryOpKind.Mul) and rhs.constant <= 0:
            return None
        low, _ = self.space.bounds(lhs)
        if op.name in _TRUNCATING and (low is None or low < 0):
            return None
        return self.space.binary(kind, lhs, rhs)

    def _extent(self, op: Operation, operands: Sequence[Linear]) -> int | None:
        """Return the exclusive upper bound of a clamped index that is never negative, or None."""
        if op.name not in ("arith.minsi", "arith.maxsi"):
            return None
        is_min = op.name == "arith.minsi"
        lows, highs = zip(*map(self.space.bounds, operands), strict=True)
        positive = [low is not None and low >= 0 for low in lows]
        finite = [high for high in highs if high is not None]
        if is_min:
            return min(finite) + 1 if finite and all(positive) else None
        return max(finite) + 1 if len(finite) == 2 and any(positive) else None
