"""Evaluates operations on constants at compile time, if that is cheap enough."""

from __future__ import annotations

from collections.abc import Sequence

from .. import Array, NNOp
from ..limits import MAX_COMPUTED
from . import evaluate

_ITEM = 8
"""The bytes of an intermediate element, since evaluators compute in double precision."""


def fold(op: NNOp, operands: Sequence[Array]) -> tuple[Array, ...] | None:
    """The results of an operation on constants; None if it is left to run time.

    Operations without an evaluator are left to run time, and those whose evaluation takes more
    than MAX_COMPUTED bytes, unless the operands themselves take that many.
    """
    limit = max(MAX_COMPUTED // _ITEM, sum(operand.size for operand in operands))
    return evaluate(op, operands) if op.visits() <= limit else None
