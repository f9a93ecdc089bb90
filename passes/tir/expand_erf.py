"""`tir-expand-erf`: replaces the error function by arithmetic where the device's own is slow.

OpenCL libraries for CPUs compute `erf` lane by lane, so a GELU costs more than the matrix product
before it. GPU libraries may take a hundred instructions or more per lane. Arithmetic also avoids
device functions whose error is unspecified.
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
    """`erf(x) = x * numerator(u) / denominator(u)` up to |x| = `end`, then sign(x).

    u is `x^2 * scale + shift`. The coefficients of the polynomials start with the constant.
    """

    end: float
    numerator: Sequence[float]
    denominator: Sequence[float] = ()
    scale: float = 1.0
    shift: float = 0.0
    bounded: bool = False
    """Whether rounding keeps all results at most 1."""


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
"""Fitted by weighted least squares on Chebyshev nodes; the largest relative error is 1.9e-8.

Evaluated in floats, the error is at most 6 ulp; OpenCL allows 16 ulp.
"""
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
"""Fitted in the same way, with u from -1 to 1, which keeps the terms small.

In floats, with or without fused multiply-adds, the error is at most 2.4e-7 absolute and 2.8e-7
relative. It needs no division, which on some GPUs takes as long as several multiply-adds.
"""


@dataclass(frozen=True)
class TIRExpandErfPass(ModulePass):
    """Replace `math.erf` of floats by arithmetic.

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
    """Replace one `math.erf`."""
    created: list[Operation] = []

    def add(op: Operation) -> SSAValue:
        created.append(op)
        return op.results[0]

    def constant(value: float) -> SSAValue:
        return add(arith.ConstantOp(FloatAttr(value, f32)))

    def clamped(x: SSAValue, end: float) -> SSAValue:
        # Comparisons with NaN are false, so a NaN is passed through.
        for limit, outside in ((end, "ogt"), (-end, "olt")):
            bound = constant(limit)
            x = add(arith.SelectOp(add(arith.CmpfOp(x, bound, outside)), bound, x))
        return x

    def polynomial(t: SSAValue, factors: Sequence[float]) -> SSAValue:
        """Return the polynomial at `t` by Horner's scheme; `factors` start with the constant."""
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
    for op in created:
        op.location = erf.location
        Rewriter.insert_op(op, InsertPoint.before(erf))
    erf.result.replace_all_uses_with(result)
    Rewriter.erase_op(erf)
