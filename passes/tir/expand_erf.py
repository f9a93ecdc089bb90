"""`tir-expand-erf`: the error function becomes arithmetic, where the device's own one is slow.

Libraries of OpenCL for CPUs compute `erf` lane by lane: a GELU then costs more than the product
before it. Those of GPUs may take a hundred instructions and more for a lane. Arithmetic needs no
function of the device whose error nobody states.
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


@dataclass(frozen=True)
class Fit:
    """`erf(x) = x * numerator(u) / denominator(u)` up to `end`; beyond it 1, with the sign of x.

    u is `x^2 * scale + shift`. The factors of the polynomials start with the constant.
    """

    end: float
    numerator: Sequence[float]
    denominator: Sequence[float] = ()
    scale: float = 1.0
    shift: float = 0.0
    bounded: bool = False
    """Whether rounding makes no result greater than 1."""


RATIONAL = Fit(
    3.92,
    (
        1.128379146148522,
        0.1904068053464976,
        0.05274877359873281,
        0.0037656329489763204,
        0.0002848833386073899,
        2.0500880380443486e-06,
    ),
    (
        1.0,
        0.5020763785556989,
        0.11410925683444169,
        0.014969248518897296,
        0.0011625398550725646,
        3.809175484722929e-05,
    ),
)
"""Fitted by weighted least squares on Chebyshev nodes until the largest relative error was least:
1.9e-8. Evaluated in floats it is at most 6 ulp off; OpenCL allows 16."""
POLYNOMIAL = Fit(
    3.74,
    (
        0.3780623972415924,
        -0.18851378560066223,
        0.1395745724439621,
        -0.11208192259073257,
        0.09070505946874619,
        -0.0714246928691864,
        0.0533357709646225,
        -0.03695664554834366,
        0.02458062395453453,
        -0.01646418869495392,
        0.008957820013165474,
        -0.0029128824826329947,
        0.0018206167733296752,
        -0.002145613543689251,
        0.0008425356354564428,
    ),
    scale=2 / 3.74**2,
    shift=-1.0,
    bounded=True,
)
"""Fitted in the same way, with u from -1 to 1, which keeps the terms small. In floats, whether or
not products are rounded before they are added, it is at most 2.4e-7 off, and 2.8e-7 of the result.
It has no division, for GPUs that take as long for one as for several multiply-adds."""


@dataclass(frozen=True)
class TIRExpandErfPass(ModulePass):
    """Compute `math.erf` of floats by arithmetic.

    CPUs get a rational function, other targets with `arithmetic_functions` a polynomial without a
    division.
    """

    name: ClassVar[str] = "tir-expand-erf"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = cl.target_of(op)
        if target.device.device_type != "cpu" and not target.compiler.arithmetic_functions:
            return
        fit = RATIONAL if target.device.device_type == "cpu" else POLYNOMIAL
        for func in op.ops:
            if isinstance(func, tir.FuncOp):
                for inner in list(operations_in(func.body)):
                    if isinstance(inner, math.ErfOp) and inner.result.type == f32:
                        _expand(inner, fit)


def _expand(erf: math.ErfOp, fit: Fit) -> None:
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

    x = clamped(erf.operand, fit.end)
    u = add(arith.MulfOp(x, x))
    if fit.shift:
        scaled = add(arith.MulfOp(u, constant(fit.scale)))
        u = add(arith.AddfOp(scaled, constant(fit.shift)))
    result = add(arith.MulfOp(x, polynomial(u, fit.numerator)))
    if fit.denominator:
        result = add(arith.DivfOp(result, polynomial(u, fit.denominator)))
    if not fit.bounded:
        result = clamped(result, 1.0)
    for op in made:
        op.location = erf.location
        Rewriter.insert_op(op, InsertPoint.before(erf))
    erf.result.replace_all_uses_with(result)
    Rewriter.erase_op(erf)
