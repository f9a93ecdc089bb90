"""Constant folding: evaluates operations at compile time if that is cheap enough."""

from __future__ import annotations

from collections.abc import Sequence

from .. import Array, NNOp
from ..limits import MAX_COMPUTED
from . import evaluate

_ITEM = 8
"""Bytes of an intermediate element: evaluators compute in double precision."""


def fold(op: NNOp, operands: Sequence[Array]) -> tuple[Array, ...] | None:
    """Return the results of an operation on constants, or None to leave it to run time.

    An operation is not folded if it has no evaluator, or if its evaluation takes more than
    MAX_COMPUTED bytes and more elements than its operands have.
    """
    limit = max(MAX_COMPUTED // _ITEM, sum(operand.size for operand in operands))
    return evaluate(op, operands) if op.visits() <= limit else None
