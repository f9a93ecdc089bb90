"""Conversion of `arith`, `math` and `tir.call` operations on numbers to expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation

from ...dialects import tir
from ...errors import CloptError
from ...machine.target import Target
from .builtins import (
    BOOL_OPERATORS,
    CALLS,
    CASTS,
    COMPARE_FLOATS,
    COMPARE_INTEGERS,
    FUNCTIONS,
    NAN_PROPAGATING,
    NUMBERS_ONLY,
    OPERATORS,
    RELATIONAL_CALLS,
    Function,
    Sign,
)
from .expressions import Expressions
from .functions import dots
from .functions.exponential import EXP, SHORT_EXP
from .functions.hyperbolic import TANH
from .functions.rounding import DIVIDE, SQRT, exact_reciprocal, may_lose_nan, must_round
from .functions.trigonometric import COS, SIN, TAN
from .types import BOOL, CType, mask_type, value_type
from .values import Node


class Operations:
    """A converter of operations; the operation's name selects a method or a table row."""

    def __init__(self, expressions: Expressions, target: Target):
        self.ex = expressions
        self.target = target
        self._special: dict[str, Callable[[Operation, Sequence[Node]], Node]] = {
            "arith.constant": self._constant,
            "arith.cmpi": self._compare_integers,
            "arith.cmpf": self._compare_floats,
            "arith.select": lambda _, x: self.ex.select(x[0], x[1], x[2]),
            "arith.negf": lambda _, x: self.ex.unary("-", x[0].ctype, x[0]),
            "arith.bitcast": self._bitcast,
            "arith.divf": self._quotient,
            "math.sqrt": self._root,
            "math.exp": self._exponential,
            "math.sin": lambda _, x: self._trigonometric("sin", SIN, x),
            "math.cos": lambda _, x: self._trigonometric("cos", COS, x),
            "math.tan": lambda _, x: self._trigonometric("tan", TAN, x),
            "math.tanh": self._hyperbolic_tangent,
            "arith.index_cast": lambda op, x: self.ex.convert(x[0], self._type(op)),
            "arith.floordivsi": self._floor_division,
            "arith.ceildivsi": self._ceiling_division,
            "arith.ceildivui": self._ceiling_division_unsigned,
            "math.absi": self._absolute,
            "math.fpowi": self._integer_power,
            "tir.call": self._builtin,
        }

    def __call__(self, op: Operation, operands: Sequence[Node]) -> Node:
        """Return the value of an operation with one result."""
        name = op.name
        if (special := self._special.get(name)) is not None:
            return special(op, operands)
        if name in CASTS:
            return self._cast(op, operands[0])
        if name in BOOL_OPERATORS and operands[0].ctype.is_bool:
            return self.ex.logic(BOOL_OPERATORS[name], *operands)
        if (operator := OPERATORS.get(name)) is not None:
            lhs, rhs = operands
            return self.ex.binary(operator.symbol, lhs, rhs, operator.sign)
        if (function := FUNCTIONS.get(name)) is not None:
            return self._call(function, operands)
        if name in NAN_PROPAGATING:
            if self.target.compiler.builtins and may_lose_nan(op):
                return self._call(FUNCTIONS[NUMBERS_ONLY[name]], operands)
            return self._nan_propagating(NAN_PROPAGATING[name], *operands)
        raise CloptError(f"OpenCL C has no {name}: lower it before the kernel is printed")

    def _type(self, op: Operation) -> CType:
        return self.element(op.results[0].type)

    def element(self, attr: Attribute) -> CType:
        """Return the scalar C type of values of an IR type."""
        return value_type(attr, self.target)

    def _constant(self, op: Operation, _: Sequence[Node]) -> Node:
        assert isinstance(op, arith.ConstantOp)
        match op.value:
            case FloatAttr() | IntegerAttr():
                return self.ex.constant(op.value.value.data, self._type(op))
            case _:
                raise CloptError(f"a kernel's constants must be scalars, not {op.value}")

    def _compare_integers(self, op: Operation, operands: Sequence[Node]) -> Node:
        assert isinstance(op, arith.CmpiOp)
        predicate = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
        operator = COMPARE_INTEGERS[predicate]
        lhs, rhs = operands
        return self.ex.compare(operator.symbol, lhs, rhs, operator.sign)

    def _compare_floats(self, op: Operation, operands: Sequence[Node]) -> Node:
        assert isinstance(op, arith.CmpfOp)
        ex, (a, b) = self.ex, operands
        match arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data]:
            case "false" | "true" as constant:
                return ex.constant(int(constant == "true"), BOOL)
            case "ord":
                return ex.logic("&&", ex.compare("==", a, a), ex.compare("==", b, b))
            case "uno":
                return ex.logic("||", ex.compare("!=", a, a), ex.compare("!=", b, b))
            case "one":
                return ex.logic("||", ex.compare("<", a, b), ex.compare(">", a, b))
            case "ueq":
                differ = ex.logic("||", ex.compare("<", a, b), ex.compare(">", a, b))
                return ex.negate(differ)
            case predicate:
                symbol, negated = COMPARE_FLOATS[predicate]
                result = ex.compare(symbol, a, b)
                return ex.negate(result) if negated else result

    def _nan_propagating(self, symbol: str, a: Node, b: Node) -> Node:
        """Return whichever of `a` and `b` satisfies `symbol`, or NaN if one is NaN."""
        ex = self.ex
        if a.kind == "constant":
            a, b = b, a
        picks_b = ex.compare({">": "<", "<": ">"}[symbol], a, b)
        if b.kind == "constant" and b.payload == b.payload:
            return ex.select(picks_b, b, a)
        # A comparison with NaN is false, so a NaN in b is picked; a NaN in a needs a test of its
        # own.
        picks_a = ex.logic("||", ex.compare(symbol, a, b), ex.compare("!=", a, a))
        return ex.select(picks_a, a, b)

    def _call(self, function: Function, operands: Sequence[Node]) -> Node:
        operands = self.ex.unify(operands, function.sign)
        return self.ex.call(function.name, self._widest(operands), operands)

    def _widest(self, operands: Sequence[Node]) -> CType:
        return max((node.ctype for node in operands), key=lambda ctype: ctype.width)

    def _builtin(self, op: Operation, operands: Sequence[Node]) -> Node:
        assert isinstance(op, tir.CallOp)
        name = op.callee.data
        widest = self._widest(operands)
        if name in RELATIONAL_CALLS:
            result = BOOL if widest.width == 1 else mask_type(widest.bits, widest.width)
            return self.ex.call(name, result, operands)
        if name not in CALLS:
            raise CloptError(f'"{name}" is not an OpenCL C 1.2 builtin that a kernel may call')
        return self.ex.call(name, self._type(op).of_width(widest.width), operands)

    def _cast(self, op: Operation, operand: Node) -> Node:
        reads, gives = CASTS[op.name]
        ctype = self._type(op)
        if operand.ctype.is_bool:
            number = self.ex.convert(operand, CType("int") if ctype.is_float else ctype)
            if reads is Sign.SIGNED:
                number = self.ex.unary("-", number.ctype, number)
            return self.ex.convert(number, ctype)
        if ctype.base == "bool":
            # A truncation to i1 keeps the lowest bit; `arith.cmpi ne` compares all bits with zero.
            one = self.ex.constant(1, operand.ctype._replace(width=1))
            return self.ex.convert(self.ex.binary("&", operand, one), ctype)
        operand = self.ex.with_sign(operand, reads)
        if reads is Sign.UNSIGNED and not ctype.is_float:
            ctype = ctype.unsigned()
        if gives is Sign.UNSIGNED:
            ctype = ctype.unsigned()
        return self.ex.convert(operand, ctype)

    def dot(self, total: Node, a: Node, b: Node) -> Node:
        """Return `total` plus the four products of the bytes of `a` and `b`."""
        widest = self._widest((total, a, b))
        name = dots.function_of(self.target.compiler.dot_product, widest.width)
        return self.ex.call(name, widest, (total, a, b))

    def _quotient(self, op: Operation, operands: Sequence[Node]) -> Node:
        ex, (a, b) = self.ex, operands
        if self.target.device.correctly_rounded_division or not must_round(op, self.target):
            if self._serves_lanes(b, operands):
                # The reciprocal of a uniform divisor can be hoisted out of loops.
                return ex.binary("*", a, ex.binary("/", ex.constant(1.0, b.ctype), b))
            return ex.binary("/", a, b)
        if b.kind == "constant" and (factor := exact_reciprocal(b.payload)) is not None:
            return ex.binary("*", a, ex.constant(factor, b.ctype))
        return ex.call(DIVIDE, self._widest(operands), operands)

    def _serves_lanes(self, divisor: Node, operands: Sequence[Node]) -> bool:
        """Return whether one float reciprocal for all lanes replaces a division per lane."""
        return (
            self.target.compiler.arithmetic_functions
            and divisor.kind != "constant"
            and divisor.ctype.base == "float"
            and divisor.ctype.width < self._widest(operands).width
        )

    def _root(self, op: Operation, operands: Sequence[Node]) -> Node:
        is_native = self.target.device.correctly_rounded_division or not must_round(op, self.target)
        return self.ex.call("sqrt" if is_native else SQRT, operands[0].ctype, operands)

    def _exponential(self, op: Operation, operands: Sequence[Node]) -> Node:
        ctype, name = operands[0].ctype, "exp"
        if ctype.base == "float" and self.target.device.device_type == "cpu":
            name = EXP
        elif ctype.base == "float" and self.target.compiler.arithmetic_functions:
            name = SHORT_EXP
        return self.ex.call(name, ctype, operands)

    def _trigonometric(self, builtin: str, ours: str, operands: Sequence[Node]) -> Node:
        ctype = operands[0].ctype
        is_ours = (
            ctype.base == "float"
            and self.target.device.device_type == "cpu"
            and self.target.device.fp64
        )
        return self.ex.call(ours if is_ours else builtin, ctype, operands)

    def _hyperbolic_tangent(self, op: Operation, operands: Sequence[Node]) -> Node:
        ctype = operands[0].ctype
        is_ours = ctype.base == "float" and self.target.device.device_type == "cpu"
        return self.ex.call(TANH if is_ours else "tanh", ctype, operands)

    def _bitcast(self, op: Operation, operands: Sequence[Node]) -> Node:
        (operand,) = operands
        return self.ex.reinterpret(operand, self._type(op).of_width(operand.ctype.width))

    def _floor_division(self, op: Operation, operands: Sequence[Node]) -> Node:
        """Return C's quotient, minus one if C rounded up (a remainder, and signs that differ)."""
        return self._division(operands, "<", "-")

    def _ceiling_division(self, op: Operation, operands: Sequence[Node]) -> Node:
        """Return C's quotient, plus one if C rounded down (a remainder, and signs that agree)."""
        return self._division(operands, ">=", "+")

    def _division(self, operands: Sequence[Node], signs: str, correct: str) -> Node:
        ex = self.ex
        a, b = ex.unify(operands, Sign.SIGNED)
        zero = ex.constant(0, a.ctype._replace(width=1))
        rest = ex.compare("!=", ex.binary("%", a, b), zero)
        rounded = ex.logic("&&", rest, ex.compare(signs, ex.binary("^", a, b), zero))
        return ex.binary(correct, ex.binary("/", a, b), ex.convert(rounded, a.ctype))

    def _ceiling_division_unsigned(self, op: Operation, operands: Sequence[Node]) -> Node:
        ex = self.ex
        a, b = ex.unify(operands, Sign.UNSIGNED)
        zero = ex.constant(0, a.ctype._replace(width=1))
        rest = ex.compare("!=", ex.binary("%", a, b), zero)
        return ex.binary("+", ex.binary("/", a, b), ex.convert(rest, a.ctype))

    def _absolute(self, op: Operation, operands: Sequence[Node]) -> Node:
        """Return the absolute value; OpenCL's `abs` returns unsigned integers."""
        (operand,) = self.ex.unify(operands, Sign.SIGNED)
        return self.ex.call("abs", operand.ctype.unsigned(), [operand])

    def _integer_power(self, op: Operation, operands: Sequence[Node]) -> Node:
        base, exponent = operands
        exponent = self.ex.convert(exponent, CType("int"))
        return self.ex.call(
            "pown",
            self._widest([base]).of_width(max(base.ctype.width, exponent.ctype.width)),
            [base, exponent],
        )
