"""OpenCL C spellings of `arith`, `math` and `tir.call` operations: one row per operation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Sign(Enum):
    """The signedness with which an operation interprets its integers."""

    ANY = "any"
    SIGNED = "signed"
    UNSIGNED = "unsigned"


@dataclass(frozen=True)
class Operator:
    """A binary operator of C."""

    symbol: str
    sign: Sign = Sign.ANY


@dataclass(frozen=True)
class Function:
    """A call of a builtin whose operands and result have the type of the operation's result."""

    name: str
    sign: Sign = Sign.ANY


PRECEDENCE = {
    "*": 12, "/": 12, "%": 12, "+": 11, "-": 11, "<<": 10, ">>": 10,
    "<": 9, "<=": 9, ">": 9, ">=": 9, "==": 8, "!=": 8, "&": 7, "^": 6, "|": 5, "&&": 4, "||": 3,
}  # fmt: skip
PRIMARY = 14
UNARY = 13
CONDITIONAL = 2

Text = tuple[str, int]
"""The text of an expression, and the precedence of its outermost operator."""


def atom(text: Text, precedence: int) -> str:
    """Return the text, in parentheses if its operator binds less tightly than `precedence`."""
    return text[0] if text[1] >= precedence else f"({text[0]})"


WIDEST_CALL = 8
"""Widest vector on which builtins are called; PoCL 3 cannot compile some wider calls."""

OPERATORS: dict[str, Operator] = {
    "arith.addf": Operator("+"),
    "arith.subf": Operator("-"),
    "arith.mulf": Operator("*"),
    "arith.addi": Operator("+"),
    "arith.subi": Operator("-"),
    "arith.muli": Operator("*"),
    "arith.divsi": Operator("/", Sign.SIGNED),
    "arith.divui": Operator("/", Sign.UNSIGNED),
    "arith.remsi": Operator("%", Sign.SIGNED),
    "arith.remui": Operator("%", Sign.UNSIGNED),
    "arith.andi": Operator("&"),
    "arith.ori": Operator("|"),
    "arith.xori": Operator("^"),
    "arith.shli": Operator("<<"),
    "arith.shrsi": Operator(">>", Sign.SIGNED),
    "arith.shrui": Operator(">>", Sign.UNSIGNED),
}

BOOL_OPERATORS = {
    "arith.andi": "&&", "arith.muli": "&&", "arith.minui": "&&",
    "arith.ori": "||", "arith.maxui": "||",
    "arith.xori": "!=", "arith.addi": "!=", "arith.subi": "!=",
}  # fmt: skip
"""Logical operators for the same operations on scalar truth values; on masks, `&&`, `||` and `!=`
become `&`, `|` and `^` (`MASK_OPERATORS`)."""

MASK_OPERATORS = {"&&": "&", "||": "|", "!=": "^"}

FUNCTIONS: dict[str, Function] = {
    "arith.maxnumf": Function("fmax"),
    "arith.minnumf": Function("fmin"),
    "arith.maxsi": Function("max", Sign.SIGNED),
    "arith.minsi": Function("min", Sign.SIGNED),
    "arith.maxui": Function("max", Sign.UNSIGNED),
    "arith.minui": Function("min", Sign.UNSIGNED),
    "math.ctlz": Function("clz", Sign.UNSIGNED),
    "math.ctpop": Function("popcount", Sign.UNSIGNED),
    "math.absf": Function("fabs"),
    "math.absi": Function("abs", Sign.SIGNED),
    "math.roundeven": Function("rint"),
    "math.fma": Function("fma"),
    "math.powf": Function("pow"),
    "math.fpowi": Function("pown"),
} | {
    f"math.{name}": Function(name)
    for name in (
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign",
        "cos", "cosh", "erf", "exp", "exp2", "expm1", "floor", "log", "log10", "log1p", "log2",
        "round", "rsqrt", "sin", "sinh", "tan", "tanh", "trunc",
    )
}  # fmt: skip

NAN_PROPAGATING = {"arith.maximumf": ">", "arith.minimumf": "<"}
"""Maximum and minimum that return NaN if an operand is NaN, with the comparison that picks the left
operand."""

NUMBERS_ONLY = {"arith.maximumf": "arith.maxnumf", "arith.minimumf": "arith.minnumf"}
"""Cheaper replacements for the operations above, for use where NaN need not propagate."""

CALLS = frozenset(
    """
    abs abs_diff acos acosh acospi add_sat asin asinh asinpi atan atan2 atan2pi atanh atanpi cbrt
    ceil clamp clz copysign cos cosh cospi degrees erf erfc exp exp10 exp2 expm1 fabs fdim floor fma
    fmax fmin fmod hadd hypot lgamma log log10 log1p log2 logb mad max maxmag min minmag mix mul_hi
    native_cos native_divide native_exp native_exp10 native_exp2 native_log native_log10 native_log2
    native_powr native_recip native_rsqrt native_sin native_sqrt native_tan nextafter popcount pow
    powr radians remainder rint rotate round rsqrt sign sin sinh sinpi smoothstep sqrt step sub_sat
    tan tanh tanpi tgamma trunc
    """.split()
)
"""Builtins that `tir.call` may name."""

RELATIONAL_CALLS = frozenset("isnan isinf isfinite isnormal signbit".split())
"""Builtins that return a truth value."""

COMPARE_INTEGERS: dict[str, Operator] = {
    "eq": Operator("=="),
    "ne": Operator("!="),
    "slt": Operator("<", Sign.SIGNED),
    "sle": Operator("<=", Sign.SIGNED),
    "sgt": Operator(">", Sign.SIGNED),
    "sge": Operator(">=", Sign.SIGNED),
    "ult": Operator("<", Sign.UNSIGNED),
    "ule": Operator("<=", Sign.UNSIGNED),
    "ugt": Operator(">", Sign.UNSIGNED),
    "uge": Operator(">=", Sign.UNSIGNED),
}

COMPARE_FLOATS: dict[str, tuple[str, bool]] = {
    "oeq": ("==", False),
    "ogt": (">", False),
    "oge": (">=", False),
    "olt": ("<", False),
    "ole": ("<=", False),
    "une": ("!=", False),
    "ugt": ("<=", True),
    "uge": ("<", True),
    "ult": (">=", True),
    "ule": (">", True),
}
"""Comparison, and whether to negate it: `a ugt b` (greater or unordered) is `!(a <= b)`."""

CASTS: dict[str, tuple[Sign, Sign]] = {
    "arith.extsi": (Sign.SIGNED, Sign.SIGNED),
    "arith.extui": (Sign.UNSIGNED, Sign.UNSIGNED),
    "arith.trunci": (Sign.ANY, Sign.SIGNED),
    "arith.sitofp": (Sign.SIGNED, Sign.ANY),
    "arith.uitofp": (Sign.UNSIGNED, Sign.ANY),
    "arith.fptosi": (Sign.ANY, Sign.SIGNED),
    "arith.fptoui": (Sign.ANY, Sign.UNSIGNED),
    "arith.extf": (Sign.ANY, Sign.ANY),
    "arith.truncf": (Sign.ANY, Sign.ANY),
}
"""Conversions: the signedness of the integers that they read, and of the integers that they
produce."""

_WORDS = frozenset(
    """
    auto break case char const continue default do double else enum extern float for goto if inline
    int long register restrict return short signed sizeof static struct switch typedef union
    unsigned void volatile while bool half uchar ushort uint ulong size_t ptrdiff_t kernel global
    local constant generic private pipe true false NULL main read_only write_only
    read_write barrier select convert isnan isinf dot cross length normalize distance any all
    bitselect shuffle ldexp ilogb frexp modf fract nan prefetch printf M_PI NAN INFINITY I y0 y1 j0
    j1 gamma
    """.split()
)
RESERVED = _WORDS | CALLS
"""Names that a variable or a kernel must not have."""
