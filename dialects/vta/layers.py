"""Layers on int8 tensors, with exact integer arithmetic.

Tensors have the logical order N, C, H, W; in DRAM they are in tiles. Each result is computed from a
32-bit sum: `(sum + 2^(shift - 1)) >> shift`, which rounds half up, or the sum itself for a shift of
0; then it is clipped to `low` to `high`. Sums wrap at 32 bits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeAlias, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType, TensorType, i8
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def

from ..inferred import FORMAT, InferredOp, Properties, require
from ..properties import I64, I64_ARRAY, int_array, integer, ints

Shape: TypeAlias = tuple[int, ...]

LOW, HIGH = -128, 127
MAX_SHIFT = 30
MAX_LEFT_SHIFT = 16
IMMEDIATE = range(-(1 << 15), 1 << 15)


class LayerOp(InferredOp, ABC):
    """A layer: int8 activations, optional constants, one int8 result.

    A subclass has the properties `shift`, `low` and `high`, and implements `result_shape`, the only
    definition of its rules. It may be built and verified outside a graph: the message of the
    VerifyException says why VTA cannot compute it.
    """

    shift_attr = prop_def(I64, prop_name="shift", default_value=integer(0))
    low_attr = prop_def(I64, prop_name="low", default_value=integer(LOW))
    high_attr = prop_def(I64, prop_name="high", default_value=integer(HIGH))
    result = result_def(TensorType)

    ELEMENT_TYPES: ClassVar[tuple[IntegerType, ...]] = (i8,)
    """The element types of the operands; the last one also applies to all further operands."""
    ACTIVATIONS: ClassVar[int] = 1
    """The number of leading operands that are activations; the others are constants."""

    def __init__(
        self,
        operands: Sequence[SSAValue | None],
        properties: Mapping[str, Attribute] | None = None,
        *,
        shift: int = 0,
        low: int = LOW,
        high: int = HIGH,
    ):
        """Create the layer; `properties` are specific to its kind."""
        given = {
            "shift": integer(shift),
            "low": integer(low),
            "high": integer(high),
            **(properties or {}),
        }
        present = [value for value in operands if value is not None]
        result = self.infer(present, self.with_defaults(given))
        super().__init__(operands=_segments(operands), properties=given, result_types=[result])

    @property
    def shift(self) -> int:
        """Return the right shift of the sum."""
        return self.shift_attr.value.data

    @property
    def low(self) -> int:
        """Return the minimum result."""
        return self.low_attr.value.data

    @property
    def high(self) -> int:
        """Return the maximum result."""
        return self.high_attr.value.data

    @classmethod
    def infer(cls, operands: Sequence[SSAValue], properties: Properties) -> TensorType[IntegerType]:
        """Return the type of the result; raise VerifyException for illegal operands."""
        shapes = [_checked_shape(cls, i, value) for i, value in enumerate(operands)]
        shift, low, high = (ints(properties[name])[0] for name in ("shift", "low", "high"))
        require(0 <= shift <= MAX_SHIFT, f"a shift must be 0 to {MAX_SHIFT}, not {shift}")
        require(
            LOW <= low <= high <= HIGH,
            f"results must be clipped to a range within {LOW} to {HIGH}, not {low} to {high}",
        )
        return TensorType(i8, cls.result_shape(shapes, properties))

    @classmethod
    @abstractmethod
    def result_shape(cls, shapes: Sequence[Shape], properties: Properties) -> Shape:
        """Return the shape of the result; raise VerifyException for illegal shapes of operands."""

    def verify_(self) -> None:
        expected = self.infer(self.operands, self.with_defaults(self.properties))
        require(
            expected == self.result.type,
            f"the result must be {expected}, not {self.result.type}",
        )


def _segments(operands: Sequence[SSAValue | None]) -> list[Sequence[SSAValue] | SSAValue]:
    """Return the operands as xDSL expects them: the optional last operand as a list."""
    return [[] if value is None else value for value in operands]


def _checked_shape(layer: type[LayerOp], index: int, value: SSAValue) -> Shape:
    type_ = value.type
    expected = layer.ELEMENT_TYPES[min(index, len(layer.ELEMENT_TYPES) - 1)]
    require(
        isinstance(type_, TensorType)
        and cast("TensorType[Attribute]", type_).element_type == expected,
        f"operand {index} of {layer.name} must be a tensor of {expected}, not {type_}",
    )
    shape = cast("TensorType[Attribute]", type_).get_shape()
    require(DYNAMIC_INDEX not in shape, f"{type_} has a dynamic dimension")
    require(
        index >= layer.ACTIVATIONS or (len(shape) >= 2 and 0 not in shape),
        f"activations must have the dimensions N and C and not be empty, not {type_}",
    )
    return shape


def shape_of(value: SSAValue) -> Shape:
    """Return the shape of a value of a verified graph."""
    return cast("TensorType[Attribute]", value.type).get_shape()


@irdl_op_definition
class AddOp(LayerOp):
    """`(a << left_shifts[0]) + (b << left_shifts[1])`, then shifted and clipped.

    The left shifts bring both operands to one scale.
    """

    name = "vta.add"
    ACTIVATIONS: ClassVar[int] = 2
    a = operand_def(TensorType)
    b = operand_def(TensorType)
    left_shifts_attr = prop_def(I64_ARRAY, prop_name="left_shifts", default_value=int_array((0, 0)))
    assembly_format = FORMAT

    def __init__(
        self,
        a: SSAValue,
        b: SSAValue,
        *,
        left_shifts: Sequence[int] = (0, 0),
        shift: int = 0,
        low: int = LOW,
        high: int = HIGH,
    ):
        properties = {"left_shifts": int_array(left_shifts)}
        super().__init__([a, b], properties, shift=shift, low=low, high=high)

    @property
    def left_shifts(self) -> Shape:
        """Return the left shift of each operand."""
        return ints(self.left_shifts_attr)

    @classmethod
    def result_shape(cls, shapes: Sequence[Shape], properties: Properties) -> Shape:
        a, b = shapes
        require(a == b, f"vta.add requires two tensors of the same shape, not {a} and {b}")
        shifts = ints(properties["left_shifts"])
        require(
            len(shifts) == 2 and 0 <= min(shifts) and max(shifts) <= MAX_LEFT_SHIFT,
            f"left_shifts must be two numbers from 0 to {MAX_LEFT_SHIFT}, not {shifts}",
        )
        return a


@irdl_op_definition
class ScaleOp(LayerOp):
    """`x * multiplier + offset`, then shifted and clipped: relu, clip, and changes of scale."""

    name = "vta.scale"
    x = operand_def(TensorType)
    multiplier_attr = prop_def(I64, prop_name="multiplier", default_value=integer(1))
    offset_attr = prop_def(I64, prop_name="offset", default_value=integer(0))
    assembly_format = FORMAT

    def __init__(
        self,
        x: SSAValue,
        *,
        multiplier: int = 1,
        offset: int = 0,
        shift: int = 0,
        low: int = LOW,
        high: int = HIGH,
    ):
        properties = {"multiplier": integer(multiplier), "offset": integer(offset)}
        super().__init__([x], properties, shift=shift, low=low, high=high)

    @property
    def multiplier(self) -> int:
        """Return the factor of x."""
        return self.multiplier_attr.value.data

    @property
    def offset(self) -> int:
        """Return the offset added to the product."""
        return self.offset_attr.value.data

    @classmethod
    def result_shape(cls, shapes: Sequence[Shape], properties: Properties) -> Shape:
        for name in ("multiplier", "offset"):
            (value,) = ints(properties[name])
            require(value in IMMEDIATE, f"the {name} of vta.scale must fit 16 bits, unlike {value}")
        return shapes[0]
