"""`tir-expand-erf`: the error function becomes arithmetic, which CPUs do in vectors.

Libraries of OpenCL for CPUs compute `erf` lane by lane: a GELU then costs more than the product
before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, ModuleOp, f32
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import cl, tir
from ...dialects.walking import operations_in

# erf(x) / x = P(x^2) / Q(x^2) up to 3.92; from there on the nearest float is 1. Fitted by weighted
# least squares on Chebyshev nodes until the largest relative error was least: 1.9e-8. Evaluated in
# floats it is at most 6 ulp off; OpenCL allows 16.
END = 3.92
NUMERATOR = (
    1.128379146148522,
    0.1904068053464976,
    0.05274877359873281,
    0.0037656329489763204,
    0.0002848833386073899,
    2.0500880380443486e-06,
)
DENOMINATOR = (
    1.0,
    0.5020763785556989,
    0.11410925683444169,
    0.014969248518897296,
    0.0011625398550725646,
    3.809175484722929e-05,
)


@dataclass(frozen=True)
class TIRExpandErfPass(ModulePass):
    """Compute `math.erf` of floats by a rational function, in kernels of CPUs."""

    name: ClassVar[str] = "tir-expand-erf"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if cl.target_of(op).device_type != "cpu":
            return
        for func in op.ops:
            if isinstance(func, tir.FuncOp):
                for inner in list(operations_in(func.body)):
                    if isinstance(inner, math.ErfOp) and inner.result.type == f32:
                        _expand(inner)


def _expand(erf: math.ErfOp) -> None:
    made: list[Operation] = []

    def add(op: Operation) -> SSAValue:
        made.append(op)
        return op.results[0]

    def constant(value: float) -> SSAValue:
        return add(arith.ConstantOp(FloatAttr(value, f32)))

    def clamped(x: SSAValue, end: float) -> SSAValue:
        # Comparisons with NaN fail, so that a NaN stays.
        for limit, outside in ((end, "ogt"), (-end, "olt")):
            bound = constant(limit)
            x = add(arith.SelectOp(add(arith.CmpfOp(x, bound, outside)), bound, x))
        return x

    def polynomial(t: SSAValue, factors: Sequence[float]) -> SSAValue:
        """By Horner's scheme; the factors start with the constant."""
        *rest, last = factors
        total = constant(last)
        for factor in reversed(rest):
            total = add(arith.AddfOp(add(arith.MulfOp(total, t)), constant(factor)))
        return total

    x = clamped(erf.operand, END)
    t = add(arith.MulfOp(x, x))
    odd = add(arith.MulfOp(x, polynomial(t, NUMERATOR)))
    result = clamped(add(arith.DivfOp(odd, polynomial(t, DENOMINATOR))), 1.0)
    for op in made:
        op.location = erf.location
        Rewriter.insert_op(op, InsertPoint.before(erf))
    erf.result.replace_all_uses_with(result)
    Rewriter.erase_op(erf)
