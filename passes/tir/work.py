"""The work of a kernel: multiply-adds, and memory traffic in bytes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeGuard, cast

from xdsl.dialects import affine, arith, math, scf
from xdsl.dialects.builtin import AnyFloat, MemRefType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects import tir
from ...dialects.cl.ops import byte_count

_ARITHMETIC = (
    arith.FloatingPointLikeBinaryOperation,
    arith.NegfOp,
    math.FloatingPointLikeUnaryMathOperation,
    math.FloatingPointLikeBinaryMathOperation,
    math.FmaOp,
    tir.CallOp,
)

_BELOW = 2
"""The predicate `slt` of `arith.cmpi`."""


@dataclass(frozen=True)
class KernelWork:
    """The arithmetic and the memory traffic of a launch."""

    multiply_adds: int
    """Float operations, where an addition and the product that only it uses count as one. Of the
    two branches of a condition the larger one counts, unless the condition assigns work-items to
    the parts of a joint kernel."""
    bytes: int
    """The bytes of each argument, counted once and limited to what the kernel accesses."""


def kernel_work(kernel: tir.FuncOp) -> KernelWork:
    """Count the work of one launch in the kernel's loops."""
    count = _Count(dict.fromkeys(kernel.params, 0))
    count.block(kernel.body.block, 1)
    size = sum(_bytes(param.type, times) for param, times in count.accesses.items())
    return KernelWork(count.multiply_adds, size)


@dataclass
class _Count:
    accesses: dict[SSAValue, int]
    """The number of loads and stores of each parameter."""
    multiply_adds: int = 0

    def block(self, block: Block, times: int) -> None:
        """Count a block that runs `times` times."""
        for op in block.ops:
            if isinstance(op, scf.IfOp):
                self._condition(op, times)
                continue
            for region in op.regions:
                inner = times * op.size if isinstance(op, tir.ForOp) else times
                for child in region.blocks:
                    self.block(child, inner)
            for operand in op.operands:
                if operand in self.accesses:
                    self.accesses[operand] += times
            if _counts(op):
                self.multiply_adds += times

    def _condition(self, op: scf.IfOp, times: int) -> None:
        held = _share(op)
        shares = (1, 1) if held is None else (held, 1 - held)
        sides = [
            self._side(region, int(times * share))
            for region, share in zip(op.regions, shares, strict=True)
        ]
        # Usually both branches do the same work, with and without index tests.
        counted = sides if held is not None else [max(sides, key=lambda side: side.multiply_adds)]
        for side in counted:
            self.multiply_adds += side.multiply_adds
            for param, accesses in side.accesses.items():
                self.accesses[param] += accesses

    def _side(self, region: Region, times: int) -> _Count:
        side = _Count(dict.fromkeys(self.accesses, 0))
        for block in region.blocks:
            side.block(block, times)
        return side


def _share(op: scf.IfOp) -> Fraction | None:
    """Return how often one function of a loop variable is below another.

    None for any other condition.
    """
    compare = op.cond.owner
    if not isinstance(compare, arith.CmpiOp) or compare.predicate.value.data != _BELOW:
        return None
    sides = [side for side in (compare.lhs.owner, compare.rhs.owner) if _is_function(side)]
    variables = {value for side in sides for value in side.operands}
    if len(sides) < 2 or len(variables) > 1:
        return None
    loop = next(iter(variables)).owner
    loop = loop.parent_op() if isinstance(loop, Block) else None
    if not isinstance(loop, tir.ForOp) or not loop.size:
        return None
    low, high = (side.map.data for side in sides)
    held = sum(low.eval([i], []) < high.eval([i], []) for i in range(loop.size))
    return Fraction(held, loop.size)


def _is_function(op: Operation | Block) -> TypeGuard[affine.ApplyOp]:
    return isinstance(op, affine.ApplyOp) and len(op.operands) == 1


def _counts(op: Operation) -> bool:
    if not isinstance(op, _ARITHMETIC) or not isinstance(op.results[0].type, AnyFloat):
        return False
    return not (
        isinstance(op, arith.AddfOp | arith.SubfOp) and any(map(_is_only_its_product, op.operands))
    )


def _is_only_its_product(operand: SSAValue) -> bool:
    return isinstance(operand.owner, arith.MulfOp) and operand.has_one_use()


def _bytes(type_: Attribute, accesses: int) -> int:
    size = byte_count(type_)
    elements = cast("MemRefType[Attribute]", type_).element_count()
    return min(size, accesses * size // elements) if elements else 0
