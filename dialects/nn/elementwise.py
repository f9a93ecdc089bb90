"""Elementwise operations: unary, clip, binary, compare, where, cast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, cast

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, TensorType, UnitAttr, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from ..inferred import FORMAT, Properties, require
from ..properties import F64_ARRAY, flag, float_array, floats, number
from .attributes import (
    BinaryKind,
    BinaryKindAttr,
    CompareKind,
    CompareKindAttr,
    UnaryKind,
    UnaryKindAttr,
    scalar,
)
from .base import KIND_FORMAT, NNOp, require_same_element
from .interfaces import HalfRule, Role, Zeros
from .types import (
    Tensor,
    broadcast,
    count,
    is_bool,
    is_float,
    is_integer,
    is_unsigned,
    numpy_dtype,
    tensor_type,
    with_shape,
)

Domain: TypeAlias = Literal["number", "signed", "float", "integer", "bool"]
"""The element types of a function; `number` is float or integer, `signed` excludes unsigned."""


def in_domain(element_type: Attribute, domain: Domain) -> bool:
    """Return whether an element type belongs to a domain."""
    match domain:
        case "number":
            return is_float(element_type) or is_integer(element_type)
        case "signed":
            return in_domain(element_type, "number") and not is_unsigned(element_type)
        case "float":
            return is_float(element_type)
        case "integer":
            return is_integer(element_type)
        case "bool":
            return is_bool(element_type)


@dataclass(frozen=True)
class UnaryRow:
    """An elementwise function: parameter names, domain, and whether its result is i1."""

    params: tuple[str, ...] = ()
    domain: Domain = "float"
    result_bool: bool = False


UNARY: dict[UnaryKind, UnaryRow] = {
    **{kind: UnaryRow() for kind in UnaryKind},
    UnaryKind.NEG: UnaryRow(domain="signed"),
    UnaryKind.ABS: UnaryRow(domain="number"),
    UnaryKind.SIGN: UnaryRow(domain="number"),
    UnaryKind.RELU: UnaryRow(domain="signed"),
    UnaryKind.LEAKY_RELU: UnaryRow(("alpha",)),
    UnaryKind.ELU: UnaryRow(("alpha",)),
    UnaryKind.SELU: UnaryRow(("alpha", "gamma")),
    UnaryKind.CELU: UnaryRow(("alpha",)),
    UnaryKind.HARD_SIGMOID: UnaryRow(("alpha", "beta")),
    UnaryKind.THRESHOLDED_RELU: UnaryRow(("alpha",)),
    UnaryKind.SHRINK: UnaryRow(("bias", "lambd"), domain="number"),
    UnaryKind.SWISH: UnaryRow(("alpha",)),
    UnaryKind.LOGICAL_NOT: UnaryRow(domain="bool"),
    UnaryKind.BITWISE_NOT: UnaryRow(domain="integer"),
    UnaryKind.ISNAN: UnaryRow(result_bool=True),
    UnaryKind.ISINF: UnaryRow(("detect_negative", "detect_positive"), result_bool=True),
}

BINARY: dict[BinaryKind, Domain] = {
    **{kind: "number" for kind in BinaryKind},
    BinaryKind.AND: "bool",
    BinaryKind.OR: "bool",
    BinaryKind.XOR: "bool",
    BinaryKind.BIT_AND: "integer",
    BinaryKind.BIT_OR: "integer",
    BinaryKind.BIT_XOR: "integer",
    BinaryKind.SHL: "integer",
    BinaryKind.SHR: "integer",
}


def _require_domain(type: Tensor, domain: Domain, kind: str) -> None:
    require(
        in_domain(type.element_type, domain),
        f"{kind} requires {domain} elements but got {type.element_type}",
    )


_CHEAP = frozenset(
    map(
        UnaryKind,
        "neg abs sign floor ceil round relu leaky_relu hard_sigmoid hard_swish thresholded_relu "
        "shrink logical_not bitwise_not isnan isinf sqrt reciprocal".split(),
    )
)
"""Functions without a transcendental function, which cost less than a load."""

# Common arguments of these overflow f16 (maximum 65504) or lie near a pole. sin and cos often take
# positions, which f16 does not represent exactly.
_SINGLE_UNARY = frozenset(map(UnaryKind, "exp sinh cosh tan reciprocal rsqrt sin cos".split()))
_SINGLE_BINARY = frozenset(map(BinaryKind, "pow mod fmod".split()))


@irdl_op_definition
class UnaryOp(NNOp):
    """An elementwise function; `params` are its parameters in the order of `UNARY[kind]`."""

    name = "nn.unary"
    ROLE: ClassVar[Role | None] = Role.ELEMENTWISE
    HALF: ClassVar[HalfRule] = HalfRule.FOLLOWS
    x = operand_def(TensorType)
    kind = prop_def(UnaryKindAttr)
    params = opt_prop_def(F64_ARRAY)
    result = result_def(TensorType)
    assembly_format = KIND_FORMAT

    def __init__(self, x: SSAValue, kind: UnaryKind | str, params: Sequence[float] = ()):
        super().__init__(
            [x],
            {
                "kind": UnaryKindAttr(UnaryKind(kind)),
                "params": float_array(params) if params else None,
            },
        )

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        (x,) = operand_types
        kind = cast(UnaryKindAttr, properties["kind"]).data
        row = UNARY[kind]
        _require_domain(x, row.domain, kind)
        given = len(floats(properties.get("params")))
        if given != len(row.params):
            raise VerifyException(f"{kind} must have {len(row.params)} params but has {given}")
        return [TensorType(i1 if row.result_bool else x.element_type, x.get_shape())]

    def half_rule(self) -> HalfRule:
        return HalfRule.SINGLE if self.kind.data in _SINGLE_UNARY else self.HALF

    def is_costly(self) -> bool:
        return self.kind.data not in _CHEAP


@irdl_op_definition
class ClipOp(NNOp):
    """min(max(x, low), high); an absent bound is infinite."""

    name = "nn.clip"
    ROLE: ClassVar[Role | None] = Role.ELEMENTWISE
    HALF: ClassVar[HalfRule] = HalfRule.FOLLOWS
    x = operand_def(TensorType)
    low = opt_prop_def(IntegerAttr | FloatAttr)
    high = opt_prop_def(IntegerAttr | FloatAttr)
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(self, x: SSAValue, low: float | None = None, high: float | None = None):
        type = tensor_type(x).element_type
        super().__init__(
            [x],
            {
                "low": None if low is None else scalar(low, type),
                "high": None if high is None else scalar(high, type),
            },
        )

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        (x,) = operand_types
        _require_domain(x, "number", "clip")
        for bound in ("low", "high"):
            attr = cast("IntegerAttr | FloatAttr | None", properties.get(bound))
            if attr is not None and attr.type != x.element_type:
                raise VerifyException(
                    f"{bound} has type {attr.type} but the elements are {x.element_type}"
                )
        return [x]

    def bounds(self) -> tuple[float | None, float | None]:
        """Return the bounds as Python numbers."""
        return (
            None if self.low is None else number(self.low),
            None if self.high is None else number(self.high),
        )


@irdl_op_definition
class BinaryOp(NNOp):
    """An elementwise function of two tensors with numpy broadcasting.

    Integer `div` truncates toward zero, `mod` has the sign of the divisor, `fmod` the sign of the
    dividend; for integers, all three yield 0 if the divisor is 0. `prelu` is a where a >= 0,
    else a * b.
    """

    name = "nn.binary"
    ROLE: ClassVar[Role | None] = Role.ELEMENTWISE
    HALF: ClassVar[HalfRule] = HalfRule.FOLLOWS
    a = operand_def(TensorType)
    b = operand_def(TensorType)
    kind = prop_def(BinaryKindAttr)
    result = result_def(TensorType)
    assembly_format = KIND_FORMAT

    def __init__(self, a: SSAValue, b: SSAValue, kind: BinaryKind | str):
        super().__init__([a, b], {"kind": BinaryKindAttr(BinaryKind(kind))})

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        a, b = operand_types
        kind = cast(BinaryKindAttr, properties["kind"]).data
        require_same_element(operand_types)
        _require_domain(a, BINARY[kind], kind)
        return [with_shape(a, broadcast(a.get_shape(), b.get_shape()))]

    def half_rule(self) -> HalfRule:
        # x * x overflows f16 from x = 256 on.
        is_square = self.kind.data is BinaryKind.MUL and self.a is self.b
        return HalfRule.SINGLE if is_square or self.kind.data in _SINGLE_BINARY else self.HALF

    def is_costly(self) -> bool:
        return self.kind.data is BinaryKind.POW


@irdl_op_definition
class CompareOp(NNOp):
    """An elementwise comparison with numpy broadcasting."""

    name = "nn.compare"
    ROLE: ClassVar[Role | None] = Role.ELEMENTWISE
    a = operand_def(TensorType)
    b = operand_def(TensorType)
    kind = prop_def(CompareKindAttr)
    result = result_def(TensorType)
    assembly_format = KIND_FORMAT

    def __init__(self, a: SSAValue, b: SSAValue, kind: CompareKind | str):
        super().__init__([a, b], {"kind": CompareKindAttr(CompareKind(kind))})

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        a, b = operand_types
        require_same_element(operand_types)
        return [TensorType(i1, broadcast(a.get_shape(), b.get_shape()))]


@irdl_op_definition
class WhereOp(NNOp):
    """`a` where the condition holds, else `b`, with numpy broadcasting.

    If it is `lazy`, its condition is one number, and kernels that compute only the operand that is
    not selected return at once. It reads both operands from memory.
    """

    name = "nn.where"
    ROLE: ClassVar[Role | None] = Role.ELEMENTWISE
    ACCEPTS_NARROW: ClassVar[bool] = True
    HALF: ClassVar[HalfRule] = HalfRule.FOLLOWS
    condition = operand_def(TensorType)
    a = operand_def(TensorType)
    b = operand_def(TensorType)
    lazy = opt_prop_def(UnitAttr)
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(self, condition: SSAValue, a: SSAValue, b: SSAValue, lazy: bool = False):
        super().__init__([condition, a, b], {"lazy": flag(lazy)})

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        condition, a, b = operand_types
        _require_domain(condition, "bool", "the condition of where")
        require(
            "lazy" not in properties or count(condition.get_shape()) == 1,
            f"the condition of a lazy where must be one number, not {condition}",
        )
        require_same_element([a, b])
        return [with_shape(a, broadcast(condition.get_shape(), a.get_shape(), b.get_shape()))]

    def reads_memory(self) -> bool:
        return self.lazy is not None

    def is_zero_beyond(self, axis: int, zeros: Zeros) -> bool:
        return all(zeros.linked_zero(self, axis, value) for value in (self.a, self.b))


@irdl_op_definition
class CastOp(NNOp):
    """Conversion of elements: float to integer truncates, anything to i1 is `!= 0`.

    Narrow floats round to nearest even, integers below 8 bits keep the low bits. A float of 8 bits
    saturates: beyond its range the result is the largest number, or with `unsaturated` infinity, or
    NaN in types without infinities. A float of 4 bits always saturates.
    """

    name = "nn.cast"
    ROLE: ClassVar[Role | None] = Role.ELEMENTWISE
    ACCEPTS_NARROW: ClassVar[bool] = True
    x = operand_def(TensorType)
    to = prop_def(Attribute)
    unsaturated = opt_prop_def(UnitAttr)
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(self, x: SSAValue, to: Attribute, unsaturated: bool = False):
        super().__init__([x], {"to": to, "unsaturated": flag(unsaturated)})

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        (x,) = operand_types
        numpy_dtype(properties["to"])
        return [TensorType(properties["to"], x.get_shape())]
