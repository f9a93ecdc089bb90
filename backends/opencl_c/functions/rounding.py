"""Correctly rounded division and square root, also for devices without a build option for them.

`arith.divf` and `math.sqrt` without fast-math flags are correctly rounded, as in IEEE 754. OpenCL C
allows 2.5 ulp for `/` of floats and 3 ulp for `sqrt`, unless the program is built with an option
that not every device supports. For targets without that option, functions correct the device's
result: the residual `a - q * b` of a quotient within one ulp is exact with `fma`, and of two
neighbours the one with the smaller residual is nearer (Markstein, "IA-64 and Elementary Functions",
2000, chapter 8). Ties cannot occur: neither a quotient nor a root of floats lies halfway between
two floats.
"""

from __future__ import annotations

from math import frexp

from xdsl.dialects import arith, math
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation

from ....dialects import tir
from ....dialects.walking import operations_in
from ....machine.target import Target
from ...kernel_source import ROUNDING_OPTION
from ..types import value_type

DIVIDE = "rounded_divide"
SQRT = "rounded_sqrt"

# The scales keep the residuals of small operands above the subnormal numbers. If the residual is
# not a normal number, the device's result is returned: for zeros, infinities, NaN, quotients beyond
# 2^127, and quotients of a tiny dividend and a large divisor.
FUNCTIONS = {
    DIVIDE: """\
// a / b, rounded correctly.
static {type} {name}(const {type} a, const {type} b) {{
    const {type} scale = fabs(a) < 0x1p-40f ? ({type})(0x1p80f) : ({type})(1.0f);
    const {type} q = a / b, m = a * scale, n = b * scale;
    const {type} r = fma(-q, n, m);
    const {type} guess = q + r / n;
    const {type} rest = fma(-guess, n, m);
    const {type} next = nextafter(guess, copysign(({type})(INFINITY), rest * n));
    return isnormal(r) ? (fabs(fma(-next, n, m)) < fabs(rest) ? next : guess) : q;
}}
""",
    SQRT: """\
// The square root, rounded correctly.
static {type} {name}(const {type} x) {{
    const {type} up = x < 0x1p-60f ? ({type})(0x1p100f) : ({type})(1.0f);
    const {type} down = x < 0x1p-60f ? ({type})(0x1p-50f) : ({type})(1.0f);
    const {type} m = x * up, s = sqrt(m);
    const {type} r = fma(-s, s, m);
    const {type} guess = s + r / (s + s);
    const {type} rest = fma(-guess, guess, m);
    const {type} next = nextafter(guess, copysign(({type})(INFINITY), rest));
    return (isnormal(r) ? (fabs(fma(-next, next, m)) < fabs(rest) ? next : guess) : s) * down;
}}
""",
}


def must_round(op: Operation, target: Target) -> bool:
    """Return whether an operation is a float division or root that must be correctly rounded."""
    if not isinstance(op, arith.DivfOp | math.SqrtOp):
        return False
    return not _is_approximate(op.fastmath) and value_type(op.result.type, target).base == "float"


def may_lose_nan(op: Operation) -> bool:
    """Return whether an operation may return a number although an operand is NaN."""
    if not isinstance(op, arith.MaximumfOp | arith.MinimumfOp):
        return False
    return FastMathFlag.NO_NANS in op.fastmath.data


def remark(func: tir.FuncOp, target: Target) -> str | None:
    """Return the comment that asks for a build option, if the kernel's rounding depends on it."""
    if not target.device.correctly_rounded_division or not any(
        must_round(op, target) for op in operations_in(func.body)
    ):
        return None
    return f"// Build with {ROUNDING_OPTION} where the device takes it."


def exact_reciprocal(value: float) -> float | None:
    """Return the exact reciprocal of a power of two, or None for other numbers."""
    mantissa, exponent = frexp(value)
    return 1 / value if abs(mantissa) == 0.5 and abs(exponent) < 100 else None


def _is_approximate(flags: arith.FastMathFlagsAttr) -> bool:
    return bool({FastMathFlag.ALLOW_RECIP, FastMathFlag.APPROX_FUNC} & set(flags.data))
