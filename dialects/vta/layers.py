"""Layers on int8 tensors, with their integer arithmetic stated exactly.

Tensors are in the logical order N, C, H, W; in DRAM they lie in tiles. Each result is made of a
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
    """A layer: int8 activations, perhaps constants, one int8 result.

    A subclass has the properties `shift`, `low` and `high`, and implements `result_shape`, the only
    place for its rules. It may be built and verified outside of a graph: the sentence of the
    VerifyException says why VTA does not compute it.
    """

    shift_attr = prop_def(I64, prop_name="shift", default_value=integer(0))
    low_attr = prop_def(I64, prop_name="low", default_value=integer(LOW))
    high_attr = prop_def(I64, prop_name="high", default_value=integer(HIGH))
    result = result_def(TensorType)

    ELEMENT_TYPES: ClassVar[tuple[IntegerType, ...]] = (i8,)
    """Those of the operands; the last one is that of all further operands."""
    ACTIVATIONS: ClassVar[int] = 1
    """The number of its first operands that are activations; the others are constants."""

    def __init__(
        self,
        operands: Sequence[SSAValue | None],
        properties: Mapping[str, Attribute] | None = None,
        *,
        shift: int = 0,
        low: int = LOW,
        high: int = HIGH,
    ):
        """`properties` are those that not every layer has."""
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
        """How far the sum is shifted to the right."""
        return self.shift_attr.value.data

    @property
    def low(self) -> int:
        """The smallest result."""
        return self.low_attr.value.data

    @property
    def high(self) -> int:
        """The largest result."""
        return self.high_attr.value.data

    @classmethod
    def infer(cls, operands: Sequence[SSAValue], properties: Properties) -> TensorType[IntegerType]:
        """The type of the result. Raises VerifyException."""
        shapes = [_checked_shape(cls, i, value) for i, value in enumerate(operands)]
        shift, low, high = (ints(properties[name])[0] for name in ("shift", "low", "high"))
        require(0 <= shift <= MAX_SHIFT, f"a shift is 0 to {MAX_SHIFT}, not {shift}")
        require(
            LOW <= low <= high <= HIGH,
            f"results are clipped to a range within {LOW} to {HIGH}, not to {low} to {high}",
        )
        return TensorType(i8, cls.result_shape(shapes, properties))

    @classmethod
    @abstractmethod
    def result_shape(cls, shapes: Sequence[Shape], properties: Properties) -> Shape:
        """The shape of the result, of the shapes of the operands. Raises VerifyException."""

    def verify_(self) -> None:
        expected = self.infer(self.operands, self.with_defaults(self.properties))
        require(
            expected == self.result.type,
            f"the result is {expected}, not {self.result.type}",
        )


def _segments(operands: Sequence[SSAValue | None]) -> list[Sequence[SSAValue] | SSAValue]:
    """Operands as xDSL takes them: an optional one, which is the last, as a list."""
    return [[] if value is None else value for value in operands]


def _checked_shape(layer: type[LayerOp], index: int, value: SSAValue) -> Shape:
    type_ = value.type
    expected = layer.ELEMENT_TYPES[min(index, len(layer.ELEMENT_TYPES) - 1)]
    require(
        isinstance(type_, TensorType)
        and cast("TensorType[Attribute]", type_).element_type == expected,
        f"operand {index} of {layer.name} is a tensor of {expected}, not {type_}",
    )
    shape = cast("TensorType[Attribute]", type_).get_shape()
    require(DYNAMIC_INDEX not in shape, f"{type_} has a dynamic dimension")
    require(
        index >= layer.ACTIVATIONS or (len(shape) >= 2 and 0 not in shape),
        f"activations have the dimensions N and C, and elements, which {type_} has not",
    )
    return shape


def shape_of(value: SSAValue) -> Shape:
    """The shape of a value of a verified graph."""
    return cast("TensorType[Attribute]", value.type).get_shape()


@irdl_op_definition
class AddOp(LayerOp):
    """`(a << left_shifts[0]) + (b << left_shifts[1])`, then shifted and clipped.

    The shifts to the left bring both to one scale.
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
        """How far each operand is shifted to the left."""
        return ints(self.left_shifts_attr)

    @classmethod
    def result_shape(cls, shapes: Sequence[Shape], properties: Properties) -> Shape:
        a, b = shapes
        require(a == b, f"vta.add takes two tensors of one shape, not {a} and {b}")
        shifts = ints(properties["left_shifts"])
        require(
            len(shifts) == 2 and 0 <= min(shifts) and max(shifts) <= MAX_LEFT_SHIFT,
            f"left_shifts are two numbers from 0 to {MAX_LEFT_SHIFT}, not {shifts}",
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
        """What x is multiplied by."""
        return self.multiplier_attr.value.data

    @property
    def offset(self) -> int:
        """What is added to the product."""
        return self.offset_attr.value.data

    @classmethod
    def result_shape(cls, shapes: Sequence[Shape], properties: Properties) -> Shape:
        for name in ("multiplier", "offset"):
            (value,) = ints(properties[name])
            require(value in IMMEDIATE, f"the {name} of vta.scale has 16 bits, {value} has more")
        return shapes[0]
