"""The pattern of a border: an element if a condition holds, else a constant."""

from __future__ import annotations

from dataclasses import dataclass
from math import copysign

from xdsl.dialects import affine, arith, memref, scf
from xdsl.dialects.builtin import FloatAttr, IntegerAttr


@dataclass(frozen=True)
class Fill:
    """`scf.if %condition { load, perhaps widened } else { constant }`."""

    op: scf.IfOp
    load: memref.LoadOp
    widening: arith.ExtFOp | None
    constant: arith.ConstantOp

    @property
    def is_zero(self) -> bool:
        """Whether the constant equals a read outside an image: zero, but not negative zero."""
        match self.constant.value:
            case FloatAttr(value=number):
                return number.data == 0 and copysign(1, number.data) > 0
            case IntegerAttr(value=number):
                return number.data == 0
            case _:
                return False

    def hoist(self) -> None:
        """Move everything except the load in front of the `if`."""
        block = self.op.parent_block()
        assert block is not None
        moved = [op for op in self.op.true_region.block.ops if op is not self.load]
        for op in (*moved, self.constant):
            if op.parent_op() is self.op and not isinstance(op, scf.YieldOp):
                op.detach()
                block.insert_op_before(op, self.op)


def fill_of(op: scf.IfOp) -> Fill | None:
    """Match the pattern at `op`.

    Return None if the `if` contains more than a load and its indices.
    """
    if len(op.results) != 1 or not op.false_region.blocks:
        return None
    *ops, end = op.true_region.block.ops
    value = end.operands[0].owner
    widening = value if isinstance(value, arith.ExtFOp) else None
    load = value if widening is None else widening.input.owner
    constant = _constant(op)
    if not isinstance(load, memref.LoadOp) or constant is None:
        return None
    if any(
        not isinstance(other, affine.ApplyOp | arith.ConstantOp)
        for other in ops
        if other is not load and other is not widening
    ):
        return None
    return Fill(op, load, widening, constant) if load in ops else None


def _constant(op: scf.IfOp) -> arith.ConstantOp | None:
    end = op.false_region.block.last_op
    value = end.operands[0].owner if isinstance(end, scf.YieldOp) else None
    return value if isinstance(value, arith.ConstantOp) else None
