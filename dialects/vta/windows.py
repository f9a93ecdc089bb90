"""ALU layers on windows of each channel: maxima, sums, and repeated elements."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, var_operand_def

from ..inferred import FORMAT, Properties, require
from ..properties import I64, I64_ARRAY, int_array, integer, ints
from ..windows import extent, positions
from .config import Config
from .layers import HIGH, IMMEDIATE, LOW, LayerOp, Shape, shape_of


def taps_within(
    result: int, size: int, kernel: int, stride: int, dilation: int, before: int
) -> range:
    """Return the taps of a result's window inside an input of `size`, in one dimension."""
    first = result * stride - before
    return range(max(0, -(first // dilation)), min(kernel, -(-(size - first) // dilation)))


class PoolOp(LayerOp, ABC):
    """A reduction of the elements inside the input of each window of `kernel`.

    `kernel`, `strides` and `dilations` are for H, then W; `pads` are top, left, bottom, right.
    """

    x = operand_def(TensorType)
    kernel_attr = prop_def(I64_ARRAY, prop_name="kernel")
    strides_attr = prop_def(I64_ARRAY, prop_name="strides", default_value=int_array((1, 1)))
    pads_attr = prop_def(I64_ARRAY, prop_name="pads", default_value=int_array((0, 0, 0, 0)))
    dilations_attr = prop_def(I64_ARRAY, prop_name="dilations", default_value=int_array((1, 1)))
    assembly_format = FORMAT

    def __init__(
        self,
        x: SSAValue,
        kernel: Sequence[int],
        *,
        strides: Sequence[int] = (1, 1),
        pads: Sequence[int] = (0, 0, 0, 0),
        dilations: Sequence[int] = (1, 1),
        shift: int = 0,
        low: int = LOW,
        high: int = HIGH,
        properties: Mapping[str, Attribute] | None = None,
    ):
        windows = {
            "kernel": int_array(kernel),
            "strides": int_array(strides),
            "pads": int_array(pads),
            "dilations": int_array(dilations),
        }
        given = {**windows, **(properties or {})}
        super().__init__([x], given, shift=shift, low=low, high=high)

    @property
    def kernel(self) -> Shape:
        """Return the size of a window in H and W."""
        return ints(self.kernel_attr)

    @property
    def strides(self) -> Shape:
        """Return the strides of the window in H and W."""
        return ints(self.strides_attr)

    @property
    def pads(self) -> Shape:
        """Return how far windows extend beyond the input: top, left, bottom, right."""
        return ints(self.pads_attr)

    @property
    def dilations(self) -> Shape:
        """Return the distance between elements of a window in H and W."""
        return ints(self.dilations_attr)

    @classmethod
    def result_shape(cls, shapes: Sequence[Shape], properties: Properties) -> Shape:
        (x,) = shapes
        require(len(x) == 4, f"activations must have the dimensions N, C, H and W, not {len(x)}")
        names = ("kernel", "strides", "dilations", "pads")
        kernel, strides, dilations, pads = (ints(properties[name]) for name in names)
        require(
            (len(kernel), len(strides), len(dilations), len(pads)) == (2, 2, 2, 4),
            "kernel, strides and dilations must be two numbers, pads four",
        )
        require(
            min(*kernel, *strides, *dilations) >= 1, "kernel, strides, dilations must be positive"
        )
        sizes: list[int] = []
        for i, size in enumerate(x[2:]):
            window = extent(kernel[i], dilations[i])
            before, behind = pads[i], pads[2 + i]
            require(
                0 <= min(before, behind) and max(before, behind) < window,
                f"a window of {window} can extend 0 to {window - 1} beyond the input, not {before} "
                f"and {behind}",
            )
            sizes.append(positions(size + before + behind, kernel[i], strides[i], dilations[i]))
            require(sizes[-1] >= 1, f"a window of {window} exceeds a size of {size}")
            place = (size, kernel[i], strides[i], dilations[i], before)
            require(
                dilations[i] == 1 or all(taps_within(n, *place) for n in range(sizes[-1])),
                f"a window of {window} has no element inside a size of {size}",
            )
        return x[0], x[1], *sizes


@irdl_op_definition
class MaxPoolOp(PoolOp):
    """The maximum of each window, then shifted and clipped.

    `%y = vta.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64:
    1, 1, 1, 1>} : (tensor<1x64x112x112xi8>) -> tensor<1x64x56x56xi8>`
    """

    name = "vta.max_pool"


@irdl_op_definition
class SumPoolOp(PoolOp):
    """`sum * multiplier + offset` of each window, then shifted and clipped: averages."""

    name = "vta.sum_pool"
    multiplier_attr = prop_def(I64, prop_name="multiplier", default_value=integer(1))
    offset_attr = prop_def(I64, prop_name="offset", default_value=integer(0))

    def __init__(
        self,
        x: SSAValue,
        kernel: Sequence[int],
        *,
        strides: Sequence[int] = (1, 1),
        pads: Sequence[int] = (0, 0, 0, 0),
        dilations: Sequence[int] = (1, 1),
        multiplier: int = 1,
        offset: int = 0,
        shift: int = 0,
        low: int = LOW,
        high: int = HIGH,
    ):
        super().__init__(
            x, kernel, strides=strides, pads=pads, dilations=dilations, shift=shift, low=low,
            high=high, properties={"multiplier": integer(multiplier), "offset": integer(offset)},
        )  # fmt: skip

    @property
    def multiplier(self) -> int:
        """Return the factor of the sum."""
        return self.multiplier_attr.value.data

    @property
    def offset(self) -> int:
        """Return the offset added to the product."""
        return self.offset_attr.value.data

    @classmethod
    def result_shape(cls, shapes: Sequence[Shape], properties: Properties) -> Shape:
        for name in ("multiplier", "offset"):
            (value,) = ints(properties[name])
            require(
                value in IMMEDIATE, f"the {name} of vta.sum_pool must fit 16 bits, unlike {value}"
            )
        return super().result_shape(shapes, properties)


@irdl_op_definition
class UpsampleOp(LayerOp):
    """Each element repeated `factors[0]` times in H and `factors[1]` times in W, then clipped.

    It is shifted before it is clipped.

    `%y = vta.upsample %x {factors = array<i64: 2, 2>} : (tensor<1x16x8x8xi8>) ->
    tensor<1x16x16x16xi8>`
    """

    name = "vta.upsample"
    x = operand_def(TensorType)
    factors_attr = prop_def(I64_ARRAY, prop_name="factors")
    assembly_format = FORMAT

    def __init__(
        self,
        x: SSAValue,
        factors: Sequence[int],
        *,
        shift: int = 0,
        low: int = LOW,
        high: int = HIGH,
    ):
        super().__init__([x], {"factors": int_array(factors)}, shift=shift, low=low, high=high)

    @property
    def factors(self) -> Shape:
        """Return the number of repetitions in H and in W."""
        return ints(self.factors_attr)

    @classmethod
    def result_shape(cls, shapes: Sequence[Shape], properties: Properties) -> Shape:
        (x,) = shapes
        factors = ints(properties["factors"])
        require(len(x) == 4, f"activations must have the dimensions N, C, H and W, not {len(x)}")
        require(
            len(factors) == 2 and min(factors) >= 1,
            f"factors must be two positive numbers, not {factors}",
        )
        return x[0], x[1], x[2] * factors[0], x[3] * factors[1]


@irdl_op_definition
class ConcatOp(LayerOp):
    """The operands concatenated along C, neither shifted nor clipped.

    Each operand except the last has whole blocks of channels.
    """

    name = "vta.concat"
    ACTIVATIONS: ClassVar[int] = 1 << 16
    inputs = var_operand_def(TensorType)
    assembly_format = FORMAT

    def __init__(self, *inputs: SSAValue):
        result = self.infer(inputs, self.with_defaults({}))
        IRDLOperation.__init__(self, operands=[inputs], result_types=[result])

    @classmethod
    def result_shape(cls, shapes: Sequence[Shape], properties: Properties) -> Shape:
        require(len(shapes) >= 1, "vta.concat must have at least one tensor")
        names = ("shift", "low", "high")
        given = tuple(ints(properties[name])[0] for name in names)
        require(given == (0, LOW, HIGH), "vta.concat must not shift or clip")
        first, *others = shapes
        for other in others:
            require(
                (other[0], *other[2:]) == (first[0], *first[2:]),
                f"vta.concat requires tensors that differ only in C, not {first} and {other}",
            )
        return first[0], sum(shape[1] for shape in shapes), *first[2:]

    def why_not(self, config: Config) -> str:
        """Return why an operand does not start at a block of channels, or an empty string."""
        for value in self.inputs[:-1]:
            channels = shape_of(value)[1]
            if channels % config.block_in:
                return (
                    f"VTA can concatenate whole blocks of {config.block_in} channels, but an "
                    "operand that is "
                    f"not the last has {channels}"
                )
        return ""
