"""Scalar arithmetic inside a block body, with Python's operators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, f16, f32, i1, i32
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation

from ....dialects import nn, tir

if TYPE_CHECKING:
    from .body import Body

Number = bool | int | float

_BinaryOp = type[IRDLOperation]

# name: (float, signed, unsigned); None if a class of numbers lacks the operation.
_BINARY: dict[str, tuple[_BinaryOp | None, _BinaryOp | None, _BinaryOp | None]] = {
    "add": (arith.AddfOp, arith.AddiOp, arith.AddiOp),
    "sub": (arith.SubfOp, arith.SubiOp, arith.SubiOp),
    "mul": (arith.MulfOp, arith.MuliOp, arith.MuliOp),
    "div": (arith.DivfOp, arith.DivSIOp, arith.DivUIOp),
    "rem": (None, arith.RemSIOp, arith.RemUIOp),
    "max": (arith.MaximumfOp, arith.MaxSIOp, arith.MaxUIOp),
    "min": (arith.MinimumfOp, arith.MinSIOp, arith.MinUIOp),
    "and": (None, arith.AndIOp, arith.AndIOp),
    "or": (None, arith.OrIOp, arith.OrIOp),
    "xor": (None, arith.XOrIOp, arith.XOrIOp),
    "shl": (None, arith.ShLIOp, arith.ShLIOp),
    "shr": (None, arith.ShRSIOp, arith.ShRUIOp),
    "pow": (math.PowFOp, None, None),
    "copysign": (math.CopySignOp, None, None),
}

_ALLOW_RECIPROCAL = arith.FastMathFlagsAttr([FastMathFlag.ALLOW_RECIP])
_APPROXIMATE = arith.FastMathFlagsAttr([FastMathFlag.APPROX_FUNC])
_LOSE_NAN = arith.FastMathFlagsAttr([FastMathFlag.NO_NANS])

# name: (float, signed, unsigned). Float comparisons with NaN are false, except `ne`.
_COMPARE = {
    "eq": ("oeq", "eq", "eq"),
    "ne": ("une", "ne", "ne"),
    "lt": ("olt", "slt", "ult"),
    "le": ("ole", "sle", "ule"),
    "gt": ("ogt", "sgt", "ugt"),
    "ge": ("oge", "sge", "uge"),
}

_FLOAT_FUNCTIONS: dict[str, Callable[[SSAValue], Operation]] = {
    "abs": math.AbsFOp,
    "acos": math.AcosOp,
    "acosh": math.AcoshOp,
    "asin": math.AsinOp,
    "asinh": math.AsinhOp,
    "atan": math.AtanOp,
    "atanh": math.AtanhOp,
    "ceil": math.CeilOp,
    "cos": math.CosOp,
    "cosh": math.CoshOp,
    "erf": math.ErfOp,
    "exp": math.ExpOp,
    "expm1": math.ExpM1Op,
    "floor": math.FloorOp,
    "log": math.LogOp,
    "log1p": math.Log1pOp,
    "neg": arith.NegfOp,
    "round": math.RoundEvenOp,
    "rsqrt": math.RsqrtOp,
    "sin": math.SinOp,
    "sinh": math.SinhOp,
    "sqrt": math.SqrtOp,
    "tan": math.TanOp,
    "tanh": math.TanhOp,
    "trunc": math.TruncOp,
}


def compute_type(element_type: Attribute, half: Attribute = f32) -> Attribute:
    """Return the type in which a kernel computes: `half` for halves, signless for integers."""
    return half if element_type == f16 else nn.storage_type(element_type)


def _width(type_: Attribute) -> int:
    return cast("IntegerType", type_).bitwidth


@dataclass(frozen=True)
class ScalarValue:
    """A value in a block body, with the nn element type that it represents.

    Operators accept another scalar of the same element type or a Python number.
    """

    body: Body
    ssa: SSAValue
    element_type: Attribute

    @property
    def is_float(self) -> bool:
        """Return whether this is a floating-point number."""
        return nn.is_float(self.element_type)

    def _class(self) -> int:
        """Return the column of the tables above: float, signed or unsigned."""
        if self.is_float:
            return 0
        return 2 if nn.is_unsigned(self.element_type) or self.element_type == i1 else 1

    def lift(self, other: ScalarValue | Number) -> ScalarValue:
        """Return `other` as a scalar of this type."""
        return (
            other
            if isinstance(other, ScalarValue)
            else self.body.constant(other, self.element_type)
        )

    def ratio(self, other: ScalarValue | Number) -> ScalarValue:
        """Return the quotient of floats with the device's own rounding; `/` rounds correctly.

        Use it in smooth functions, where an error in the last bit stays one.
        """
        return self._new(arith.DivfOp(self.ssa, self.lift(other).ssa, _ALLOW_RECIPROCAL))

    def root(self) -> ScalarValue:
        """Return the square root with the device's rounding; `call("sqrt")` rounds correctly."""
        return self._new(math.SqrtOp(self.ssa, _APPROXIMATE))

    def binary(self, name: str, other: ScalarValue | Number) -> ScalarValue:
        """Return add, sub, mul, div, rem, max, min, and, or, xor, shl, shr, pow or copysign.

        Integer division truncates toward zero and never traps: division by 0 gives 0, as in numpy,
        and a quotient that overflows wraps. Max and min of floats propagate NaN.
        """
        if name in ("div", "rem") and not self.is_float:
            return self._divided(name, self.lift(other))
        return self._plain(name, other)

    def _divided(self, name: str, divisor: ScalarValue) -> ScalarValue:
        """Return an integer quotient or remainder.

        Processors trap on a division by 0, and of the least number by -1. Both divisors are
        replaced by 1, whose remainder, 0, is right for either.
        """
        owner = divisor.ssa.owner
        if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
            return self._plain(name, divisor) if owner.value.value.data else self.lift(0)
        is_zero = divisor.compare("eq", 0)
        is_signed = not nn.is_unsigned(self.element_type)
        is_trap = is_zero | divisor.compare("eq", -1) if is_signed else is_zero
        result = self._plain(name, is_trap.select(self.lift(1), divisor))
        if name == "rem":
            return result
        if is_signed:
            result = divisor.compare("eq", -1).select(-self, result)
        return is_zero.select(self.lift(0), result)

    def _plain(self, name: str, other: ScalarValue | Number) -> ScalarValue:
        make = _BINARY[name][self._class()]
        if make is None:
            raise ValueError(f"{name} is not defined for {self.element_type}")
        return self.body.combined(make, self, other)

    def compare(self, name: str, other: ScalarValue | Number) -> ScalarValue:
        """Return eq, ne, lt, le, gt or ge as a boolean."""
        predicate = _COMPARE[name][self._class()]
        make = arith.CmpfOp if self.is_float else arith.CmpiOp
        return self._new(make(self.ssa, self.lift(other).ssa, predicate), i1)

    def call(self, name: str) -> ScalarValue:
        """Return an elementary function of a float, by its usual name."""
        return self._new(_FLOAT_FUNCTIONS[name](self.ssa))

    def builtin(self, name: str, *others: ScalarValue | Number) -> ScalarValue:
        """Return an OpenCL builtin whose arguments and result have this type."""
        args = [self.ssa, *(self.lift(other).ssa for other in others)]
        return self._new(tir.CallOp(name, args, self.ssa.type))

    def select(self, if_true: ScalarValue, if_false: ScalarValue | Number) -> ScalarValue:
        """Return `if_true` if this boolean holds, else `if_false`; both are computed."""
        op = arith.SelectOp(self.ssa, if_true.ssa, if_true.lift(if_false).ssa)
        return if_true._new(op)

    def __add__(self, other: ScalarValue | Number) -> ScalarValue:
        return self.binary("add", other)

    def __radd__(self, other: Number) -> ScalarValue:
        return self.lift(other) + self

    def __sub__(self, other: ScalarValue | Number) -> ScalarValue:
        return self.binary("sub", other)

    def __rsub__(self, other: Number) -> ScalarValue:
        return self.lift(other) - self

    def __mul__(self, other: ScalarValue | Number) -> ScalarValue:
        return self.binary("mul", other)

    def __rmul__(self, other: Number) -> ScalarValue:
        return self.lift(other) * self

    def __truediv__(self, other: ScalarValue | Number) -> ScalarValue:
        return self.binary("div", other)

    def __rtruediv__(self, other: Number) -> ScalarValue:
        return self.lift(other) / self

    def __neg__(self) -> ScalarValue:
        return self.call("neg") if self.is_float else self.lift(0) - self

    def __and__(self, other: ScalarValue) -> ScalarValue:
        return self.binary("and", other)

    def __or__(self, other: ScalarValue) -> ScalarValue:
        return self.binary("or", other)

    def __invert__(self) -> ScalarValue:
        return self.binary("xor", True if self.element_type == i1 else -1)

    def max(self, other: ScalarValue | Number) -> ScalarValue:
        """Return the greater one; NaN propagates."""
        if self.is_float and not isinstance(other, ScalarValue):
            # A constant is not NaN: one comparison suffices and compiles to one instruction.
            return self.compare("lt", other).select(self.lift(other), self)
        return self.binary("max", other)

    def max_of_numbers(self, other: ScalarValue) -> ScalarValue:
        """Return the greater of two floats; if one is NaN, either of them."""
        return self._new(arith.MaximumfOp(self.ssa, other.ssa, _LOSE_NAN))

    def min(self, other: ScalarValue | Number) -> ScalarValue:
        """Return the lesser one; NaN propagates."""
        if self.is_float and not isinstance(other, ScalarValue):
            return self.compare("gt", other).select(self.lift(other), self)
        return self.binary("min", other)

    def cast(self, element_type: Attribute) -> ScalarValue:
        """Return this value in another element type, by the rules of `nn.cast`."""
        return cast_scalar(self, element_type)

    def bits(self) -> ScalarValue:
        """Return the bits of an f32 as an i32."""
        return self._new(arith.BitcastOp(self.ssa, i32), i32)

    def as_float(self) -> ScalarValue:
        """Return the f32 whose bits this 32-bit integer holds."""
        return self._new(arith.BitcastOp(self.ssa, f32), f32)

    def _new(self, op: Operation, element_type: Attribute | None = None) -> ScalarValue:
        self.body.add(op)
        return ScalarValue(self.body, op.results[0], element_type or self.element_type)


def constant_attr(
    value: Number, element_type: Attribute, half: Attribute = f32
) -> FloatAttr | IntegerAttr:
    """Return a number as an attribute of the compute type of `element_type`."""
    type_ = compute_type(element_type, half)
    if nn.is_float(element_type):
        return FloatAttr(float(value), cast("AnyFloat", type_))
    return IntegerAttr(int(value), cast("IntegerType", type_), truncate_bits=True)


def extremes(element_type: Attribute) -> tuple[Number, Number]:
    """Return the least and the greatest number of an element type."""
    if nn.is_float(element_type):
        return -inf, inf
    if element_type == i1:
        return 0, 1
    width = nn.numpy_dtype(element_type).itemsize * 8
    if nn.is_unsigned(element_type):
        return 0, 2**width - 1
    return -(2 ** (width - 1)), 2 ** (width - 1) - 1


def cast_scalar(x: ScalarValue, to: Attribute) -> ScalarValue:
    """Convert like `nn.cast`: float to integer truncates, to bool means `!= 0`, to half rounds."""
    source, target = x.ssa.type, compute_type(to)
    if to == x.element_type:
        return x
    if to == i1:
        return x.compare("ne", 0)
    if to == f16 and x.is_float:
        return _round_to_half(x)
    if x.is_float and nn.is_float(to):
        return _convert_float(x, to)
    if x.is_float:
        make = arith.FPToUIOp if nn.is_unsigned(to) else arith.FPToSIOp
        return _apply(x, make(x.ssa, cast("IntegerType", target)), to)
    unsigned = nn.is_unsigned(x.element_type) or x.element_type == i1
    if nn.is_float(to):
        make = arith.UIToFPOp if unsigned else arith.SIToFPOp
        wide = _apply(x, make(x.ssa, cast("AnyFloat", target)), f32 if to == f16 else to)
        return _round_to_half(wide) if to == f16 else wide
    if _width(source) == _width(target):
        return ScalarValue(x.body, x.ssa, to)
    integer = cast("IntegerType", target)
    if _width(source) > _width(target):
        return _apply(x, arith.TruncIOp(x.ssa, integer), to)
    extend = arith.ExtUIOp if unsigned else arith.ExtSIOp
    return _apply(x, extend(x.ssa, integer), to)


def _apply(x: ScalarValue, op: Operation, element_type: Attribute) -> ScalarValue:
    x.body.add(op)
    return ScalarValue(x.body, op.results[0], element_type)


def _convert_float(x: ScalarValue, to: Attribute) -> ScalarValue:
    source, target = cast("AnyFloat", x.ssa.type), cast("AnyFloat", compute_type(to))
    if source == target:
        return ScalarValue(x.body, x.ssa, to)
    make = arith.ExtFOp if source.bitwidth < target.bitwidth else arith.TruncFOp
    return _apply(x, make(x.ssa, target), to)


def _round_to_half(x: ScalarValue) -> ScalarValue:
    half = _apply(x, arith.TruncFOp(x.ssa, f16), f16)
    return _apply(half, arith.ExtFOp(half.ssa, f32), f16)
