"""Operations that move elements without computing: reshape, transpose, concat, slice, pad, ..."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from ..inferred import FORMAT, Properties, require
from ..properties import I64, I64_ARRAY, int_array, integer, ints, number
from .attributes import BlockOrder, BlockOrderAttr, PadMode, PadModeAttr, scalar
from .base import MODE_FORMAT, NNOp, axis_of, normalize_axis, require_lengths, require_same_element
from .interfaces import HalfRule, Role, Zeros
from .types import Tensor, broadcast, count, shape_of, tensor_type, with_shape


@irdl_op_definition
class ReshapeOp(NNOp):
    """The same elements, in row-major order, in another shape."""

    name = "nn.reshape"
    ACCEPTS_NARROW: ClassVar[bool] = True
    HALF: ClassVar[HalfRule] = HalfRule.FOLLOWS
    MOVES_AXES: ClassVar[bool] = True
    x = operand_def(TensorType)
    shape = prop_def(I64_ARRAY)
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(self, x: SSAValue, shape: Sequence[int]):
        super().__init__([x], {"shape": int_array(shape)})

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        (x,) = operand_types
        shape = ints(properties["shape"])
        require(min(shape, default=0) >= 0, f"shape {list(shape)} has a negative dimension")
        if count(shape) != count(x.get_shape()):
            raise VerifyException(
                f"shape {list(shape)} has {count(shape)} elements but the input has "
                f"{count(x.get_shape())}"
            )
        return [with_shape(x, shape)]

    def is_zero_beyond(self, axis: int, zeros: Zeros) -> bool:
        return zeros.linked_zero(self, axis, self.x)


@irdl_op_definition
class TransposeOp(NNOp):
    """Dimension i of the result is dimension perm[i] of x."""

    name = "nn.transpose"
    ROLE: ClassVar[Role | None] = Role.INDEX
    ACCEPTS_NARROW: ClassVar[bool] = True
    HALF: ClassVar[HalfRule] = HalfRule.FOLLOWS
    MOVES_AXES: ClassVar[bool] = True
    x = operand_def(TensorType)
    perm = prop_def(I64_ARRAY)
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(self, x: SSAValue, perm: Sequence[int]):
        super().__init__([x], {"perm": int_array(perm)})

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        (x,) = operand_types
        shape, perm = x.get_shape(), ints(properties["perm"])
        require(
            sorted(perm) == list(range(len(shape))),
            f"perm {list(perm)} does not permute {len(shape)} dimensions",
        )
        return [with_shape(x, [shape[i] for i in perm])]

    def places_rows(self) -> bool:
        perm = ints(self.perm)
        return perm[-1:] == (len(perm) - 1,)


@irdl_op_definition
class ConcatOp(NNOp):
    """The operands concatenated along an axis."""

    name = "nn.concat"
    ROLE: ClassVar[Role | None] = Role.PIECES
    ACCEPTS_NARROW: ClassVar[bool] = True
    HALF: ClassVar[HalfRule] = HalfRule.JOINS
    inputs = var_operand_def(TensorType)
    axis = prop_def(I64)
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(self, inputs: Sequence[SSAValue], axis: int):
        axis = normalize_axis(axis, len(shape_of(inputs[0])))
        super().__init__([inputs], {"axis": integer(axis)})

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        require(len(operand_types) >= 1, "concat must have at least one operand")
        require_same_element(operand_types)
        shape = list(operand_types[0].get_shape())
        axis = axis_of(properties["axis"], len(shape))
        for type in operand_types[1:]:
            other = type.get_shape()
            if len(other) != len(shape) or any(
                a != b for i, (a, b) in enumerate(zip(shape, other, strict=True)) if i != axis
            ):
                raise VerifyException(
                    f"concat of {list(operand_types[0].get_shape())} and {list(other)} "
                    f"differ outside axis {axis}"
                )
            shape[axis] += other[axis]
        return [with_shape(operand_types[0], shape)]

    def has_value_of_nothing(self) -> bool:
        return True

    def is_contiguous(self) -> bool:
        return count(shape_of(self.result)[: self.axis.value.data]) == 1

    def is_zero_beyond(self, axis: int, zeros: Zeros) -> bool:
        if axis != self.axis.value.data:
            return all(zeros.is_zero(value, axis) for value in self.inputs)
        # The tail of the result is the tail of the last non-empty piece.
        last = [value for value in self.inputs if shape_of(value)[axis]][-1:]
        return all(zeros.is_zero(value, axis) for value in last)


@irdl_op_definition
class SliceOp(NNOp):
    """result[i] = x[starts + i * steps] with `sizes` elements in every dimension.

    All three have one entry per dimension; steps may be negative.
    """

    name = "nn.slice"
    ROLE: ClassVar[Role | None] = Role.INDEX
    ACCEPTS_NARROW: ClassVar[bool] = True
    HALF: ClassVar[HalfRule] = HalfRule.FOLLOWS
    x = operand_def(TensorType)
    starts = prop_def(I64_ARRAY)
    steps = prop_def(I64_ARRAY)
    sizes = prop_def(I64_ARRAY)
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(
        self,
        x: SSAValue,
        starts: Sequence[int],
        sizes: Sequence[int],
        steps: Sequence[int] | None = None,
    ):
        super().__init__(
            [x],
            {
                "starts": int_array(starts),
                "steps": int_array(steps or [1] * len(starts)),
                "sizes": int_array(sizes),
            },
        )

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        (x,) = operand_types
        shape = x.get_shape()
        starts, steps, sizes = (ints(properties[name]) for name in ("starts", "steps", "sizes"))
        require_lengths(len(shape), starts=starts, steps=steps, sizes=sizes)
        for i, (n, start, step, size) in enumerate(zip(shape, starts, steps, sizes, strict=True)):
            require(step != 0, f"step of dimension {i} is zero")
            require(size >= 0, f"size of dimension {i} is negative")
            last = start + (size - 1) * step
            if size and not (0 <= start < n and 0 <= last < n):
                raise VerifyException(
                    f"slice of dimension {i} reads from {start} to {last} but it has {n} elements"
                )
        return [with_shape(x, sizes)]


@irdl_op_definition
class PadOp(NNOp):
    """x with `low` elements added before and `high` after each dimension; negative amounts crop.

    `value` is the element to add in constant mode (zero if absent). Only constant mode crops.
    """

    name = "nn.pad"
    ROLE: ClassVar[Role | None] = Role.INDEX
    HALF: ClassVar[HalfRule] = HalfRule.FOLLOWS
    x = operand_def(TensorType)
    mode = prop_def(PadModeAttr)
    low = prop_def(I64_ARRAY)
    high = prop_def(I64_ARRAY)
    value = opt_prop_def(IntegerAttr | FloatAttr)
    result = result_def(TensorType)
    assembly_format = MODE_FORMAT

    def __init__(
        self,
        x: SSAValue,
        low: Sequence[int],
        high: Sequence[int],
        mode: PadMode | str = PadMode.CONSTANT,
        value: float = 0,
    ):
        super().__init__(
            [x],
            {
                "mode": PadModeAttr(PadMode(mode)),
                "low": int_array(low),
                "high": int_array(high),
                "value": scalar(value, tensor_type(x).element_type) if value else None,
            },
        )

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        (x,) = operand_types
        shape = x.get_shape()
        low, high = ints(properties["low"]), ints(properties["high"])
        mode = cast(PadModeAttr, properties["mode"]).data
        require_lengths(len(shape), low=low, high=high)
        value = cast("IntegerAttr | FloatAttr | None", properties.get("value"))
        if value is not None and value.type != x.element_type:
            raise VerifyException(
                f"value has type {value.type} but the elements are {x.element_type}"
            )
        for i, (n, before, after) in enumerate(zip(shape, low, high, strict=True)):
            require(n + before + after >= 0, f"dimension {i} is cropped below zero")
            if mode is PadMode.CONSTANT:
                continue
            require(min(before, after) >= 0, f"{mode} padding of dimension {i} is negative")
            require(n > 0 or before + after == 0, f"{mode} padding of empty dimension {i}")
            if mode is PadMode.REFLECT:
                require(
                    max(before, after) < n or n == 1,
                    f"reflect padding of dimension {i} requires more than {max(before, after)} "
                    f"elements but it has {n}",
                )
        return [with_shape(x, [n + a + b for n, a, b in zip(shape, low, high, strict=True)])]

    def places_rows(self) -> bool:
        amounts = (*ints(self.low), *ints(self.high))
        return self.mode.data is PadMode.CONSTANT and min(amounts, default=0) >= 0

    def has_value_of_nothing(self) -> bool:
        return True

    def has_border(self) -> bool:
        return True

    def is_zero_beyond(self, axis: int, zeros: Zeros) -> bool:
        if self.mode.data is PadMode.WRAP or not zeros.is_zero(self.x, axis):
            return False
        if self.mode.data is PadMode.CONSTANT:
            fill = 0 if self.value is None else number(self.value)
            return fill == 0 and ints(self.high)[axis] >= 0
        return ints(self.low)[axis] == ints(self.high)[axis] == 0


@irdl_op_definition
class ExpandOp(NNOp):
    """x repeated by numpy broadcasting to `shape`."""

    name = "nn.expand"
    ROLE: ClassVar[Role | None] = Role.INDEX
    ACCEPTS_NARROW: ClassVar[bool] = True
    HALF: ClassVar[HalfRule] = HalfRule.FOLLOWS
    x = operand_def(TensorType)
    shape = prop_def(I64_ARRAY)
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(self, x: SSAValue, shape: Sequence[int]):
        super().__init__([x], {"shape": int_array(shape)})

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        (x,) = operand_types
        shape = ints(properties["shape"])
        if broadcast(x.get_shape(), shape) != shape:
            raise VerifyException(f"shape {list(x.get_shape())} does not expand to {list(shape)}")
        return [with_shape(x, shape)]


@irdl_op_definition
class TileOp(NNOp):
    """x repeated `repeats` times along each dimension."""

    name = "nn.tile"
    ROLE: ClassVar[Role | None] = Role.INDEX
    ACCEPTS_NARROW: ClassVar[bool] = True
    HALF: ClassVar[HalfRule] = HalfRule.FOLLOWS
    x = operand_def(TensorType)
    repeats = prop_def(I64_ARRAY)
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(self, x: SSAValue, repeats: Sequence[int]):
        super().__init__([x], {"repeats": int_array(repeats)})

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        (x,) = operand_types
        shape, repeats = x.get_shape(), ints(properties["repeats"])
        require_lengths(len(shape), repeats=repeats)
        require(min(repeats, default=0) >= 0, f"repeats {list(repeats)} must not be negative")
        return [with_shape(x, [n * r for n, r in zip(shape, repeats, strict=True)])]


def _check_block(x: Tensor, properties: Properties) -> tuple[tuple[int, ...], int]:
    require(x.get_num_dims() == 4, f"input must have rank 4 but has rank {x.get_num_dims()}")
    (block,) = ints(properties["block"])
    require(block >= 1, f"block must be positive but is {block}")
    return x.get_shape(), block


@irdl_op_definition
class DepthToSpaceOp(NNOp):
    """Moves blocks of channels into block x block squares (ONNX DepthToSpace)."""

    name = "nn.depth_to_space"
    ROLE: ClassVar[Role | None] = Role.INDEX
    ACCEPTS_NARROW: ClassVar[bool] = True
    HALF: ClassVar[HalfRule] = HalfRule.FOLLOWS
    BY_CHANNEL: ClassVar[bool] = True
    MOVES_AXES: ClassVar[bool] = True
    x = operand_def(TensorType)
    mode = prop_def(BlockOrderAttr)
    block = prop_def(I64)
    result = result_def(TensorType)
    assembly_format = MODE_FORMAT

    def __init__(self, x: SSAValue, block: int, mode: BlockOrder | str = BlockOrder.DCR):
        super().__init__([x], {"mode": BlockOrderAttr(BlockOrder(mode)), "block": integer(block)})

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        (n, c, h, w), b = _check_block(operand_types[0], properties)
        require(c % (b * b) == 0, f"{c} channels do not divide into blocks of {b}x{b}")
        return [with_shape(operand_types[0], (n, c // (b * b), h * b, w * b))]

    def places_rows(self) -> bool:
        return True


@irdl_op_definition
class SpaceToDepthOp(NNOp):
    """The inverse of depth_to_space with the same mode (ONNX SpaceToDepth is dcr)."""

    name = "nn.space_to_depth"
    ROLE: ClassVar[Role | None] = Role.INDEX
    ACCEPTS_NARROW: ClassVar[bool] = True
    HALF: ClassVar[HalfRule] = HalfRule.FOLLOWS
    BY_CHANNEL: ClassVar[bool] = True
    MOVES_AXES: ClassVar[bool] = True
    x = operand_def(TensorType)
    mode = prop_def(BlockOrderAttr)
    block = prop_def(I64)
    result = result_def(TensorType)
    assembly_format = MODE_FORMAT

    def __init__(self, x: SSAValue, block: int, mode: BlockOrder | str = BlockOrder.DCR):
        super().__init__([x], {"mode": BlockOrderAttr(BlockOrder(mode)), "block": integer(block)})

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        (n, c, h, w), b = _check_block(operand_types[0], properties)
        require(h % b == 0 and w % b == 0, f"{h}x{w} does not divide into blocks of {b}x{b}")
        return [with_shape(operand_types[0], (n, c * b * b, h // b, w // b))]
