"""Product layers: convolutions, transposed convolutions, and dense layers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerType, TensorType, i8, i32
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, prop_def

from ..inferred import FORMAT, Properties, require
from ..properties import I64, I64_ARRAY, int_array, integer, ints
from ..windows import extent, positions, spread
from .layers import HIGH, LOW, LayerOp, Shape

MAX_PAD = 15


def _require_image(shape: Shape) -> None:
    require(
        len(shape) == 4, f"activations must have the dimensions N, C, H and W, not {len(shape)}"
    )


def _require_bias(shapes: Sequence[Shape], channels: int) -> None:
    for shape in shapes:
        require(
            shape == (channels,),
            f"the bias must have one value for each of the {channels} channels, not the shape "
            f"{shape}",
        )


class ConvolutionOp(LayerOp, ABC):
    """The base of convolutions: activations, a constant weight, a constant bias in int32.

    Group g of the results reads only group g of the channels. `strides` and `dilations` are for H,
    then W; `pads` are top, left, bottom, right.
    """

    x = operand_def(TensorType)
    weight = operand_def(TensorType)
    bias = opt_operand_def(TensorType)
    strides_attr = prop_def(I64_ARRAY, prop_name="strides", default_value=int_array((1, 1)))
    pads_attr = prop_def(I64_ARRAY, prop_name="pads", default_value=int_array((0, 0, 0, 0)))
    dilations_attr = prop_def(I64_ARRAY, prop_name="dilations", default_value=int_array((1, 1)))
    groups_attr = prop_def(I64, prop_name="groups", default_value=integer(1))

    ELEMENT_TYPES: ClassVar[tuple[IntegerType, ...]] = (i8, i8, i32)
    assembly_format = FORMAT

    def __init__(
        self,
        x: SSAValue,
        weight: SSAValue,
        bias: SSAValue | None = None,
        *,
        strides: Sequence[int] = (1, 1),
        pads: Sequence[int] = (0, 0, 0, 0),
        dilations: Sequence[int] = (1, 1),
        groups: int = 1,
        shift: int = 0,
        low: int = LOW,
        high: int = HIGH,
    ):
        properties = {
            "strides": int_array(strides),
            "pads": int_array(pads),
            "dilations": int_array(dilations),
            "groups": integer(groups),
        }
        super().__init__([x, weight, bias], properties, shift=shift, low=low, high=high)

    @property
    def strides(self) -> Shape:
        """Return the strides of the window in H and W."""
        return ints(self.strides_attr)

    @property
    def pads(self) -> Shape:
        """Return the zeros around the input (transposed: cropped from the result).

        The order is top, left, bottom, right.
        """
        return ints(self.pads_attr)

    @property
    def dilations(self) -> Shape:
        """Return the distance between elements of a window in H and W."""
        return ints(self.dilations_attr)

    @property
    def groups(self) -> int:
        """Return the number of groups."""
        return self.groups_attr.value.data

    @classmethod
    def result_shape(cls, shapes: Sequence[Shape], properties: Properties) -> Shape:
        x, weight, *biases = shapes
        _require_image(x)
        require(len(weight) == 4, f"a weight must have 4 dimensions, not {len(weight)}")
        strides, pads, dilations = (ints(properties[k]) for k in ("strides", "pads", "dilations"))
        (groups,) = ints(properties["groups"])
        require(
            len(strides) == 2 and len(dilations) == 2 and len(pads) == 4,
            "strides and dilations must be two numbers, pads four",
        )
        require(
            min(*strides, *dilations, groups) >= 1, "strides, dilations and groups must be positive"
        )
        require(x[1] % groups == 0, f"{groups} groups do not divide {x[1]} channels")
        channels = cls.channels(x, weight, groups)
        _require_bias(biases, channels)
        sizes = [
            cls.size(x[2 + i], weight[2 + i], strides[i], dilations[i], pads[i], pads[2 + i])
            for i in range(2)
        ]
        return x[0], channels, *sizes

    @classmethod
    @abstractmethod
    def channels(cls, x: Shape, weight: Shape, groups: int) -> int:
        """Return the channels of the result; raise VerifyException if the weight does not match."""

    @classmethod
    @abstractmethod
    def size(
        cls, size: int, kernel: int, stride: int, dilation: int, before: int, behind: int
    ) -> int:
        """Return the result's size in one dimension; raise VerifyException if it is illegal."""


@irdl_op_definition
class ConvOp(ConvolutionOp):
    """Convolution with a weight of O x I/groups x kh x kw, plus the bias.

    `%y = vta.conv %x, %w, %b {pads = array<i64: 1, 1, 1, 1>, shift = 8 : i64, low = 0 : i64} :
    (tensor<1x64x56x56xi8>, tensor<64x64x3x3xi8>, tensor<64xi32>) -> tensor<1x64x56x56xi8>`

    `low` 0 fuses a relu.
    """

    name = "vta.conv"

    @classmethod
    def channels(cls, x: Shape, weight: Shape, groups: int) -> int:
        require(
            weight[1] * groups == x[1],
            f"the weight has {weight[1]} channels in each of {groups} groups but the input has "
            f"{x[1]}",
        )
        require(weight[0] % groups == 0, f"{groups} groups do not divide {weight[0]} results")
        return weight[0]

    @classmethod
    def size(
        cls, size: int, kernel: int, stride: int, dilation: int, before: int, behind: int
    ) -> int:
        _require_pads(before, behind, extent(kernel, dilation))
        result = positions(size + before + behind, kernel, stride, dilation)
        require(result >= 1, f"a window of {kernel} exceeds a size of {size}")
        return result


def _require_pads(before: int, behind: int, window: int) -> None:
    most = min(MAX_PAD, window - 1)
    require(
        0 <= min(before, behind) and max(before, behind) <= most,
        f"VTA can pad a window of {window} by 0 to {most}, not by {before} and {behind}",
    )


@irdl_op_definition
class ConvTransposeOp(ConvolutionOp):
    """Transposed convolution with a weight of I x O/groups x kh x kw, plus the bias.

    `pads` crop the result; a negative pad at the bottom or right extends it instead.
    """

    name = "vta.conv_transpose"

    @classmethod
    def channels(cls, x: Shape, weight: Shape, groups: int) -> int:
        require(
            weight[0] == x[1],
            f"the weight has {weight[0]} channels but the input has {x[1]}",
        )
        return weight[1] * groups

    @classmethod
    def size(
        cls, size: int, kernel: int, stride: int, dilation: int, before: int, behind: int
    ) -> int:
        window = extent(kernel, dilation)
        require(
            0 <= before < window and -stride < behind < window,
            f"a transposed window of {window} with stride {stride} can be cropped by 0 to "
            f"{window - 1}, "
            f"at the end by more than {-stride}, not by {before} and {behind}",
        )
        require(
            (window - 1) // stride <= MAX_PAD,
            f"VTA can pad by at most {MAX_PAD}, but a transposed window of {window} needs more",
        )
        result = spread(size, kernel, stride, dilation) - before - behind
        require(result >= 1, f"pads of {before} and {behind} crop the result to nothing")
        return result


@irdl_op_definition
class DenseOp(LayerOp):
    """Product of activations N x C with the transposed weight O x C, plus the bias.

    Activations of N x C x H x W are one vector per image, with a weight of O x C x H x W.
    """

    name = "vta.dense"
    x = operand_def(TensorType)
    weight = operand_def(TensorType)
    bias = opt_operand_def(TensorType)

    ELEMENT_TYPES: ClassVar[tuple[IntegerType, ...]] = (i8, i8, i32)
    assembly_format = FORMAT

    def __init__(
        self,
        x: SSAValue,
        weight: SSAValue,
        bias: SSAValue | None = None,
        *,
        shift: int = 0,
        low: int = LOW,
        high: int = HIGH,
    ):
        super().__init__([x, weight, bias], shift=shift, low=low, high=high)

    @classmethod
    def result_shape(cls, shapes: Sequence[Shape], properties: Properties) -> Shape:
        x, weight, *biases = shapes
        require(
            len(weight) == len(x) and weight[1:] == x[1:],
            f"the weight must have the shape O x {' x '.join(map(str, x[1:]))}, not {weight}",
        )
        _require_bias(biases, weight[0])
        return x[0], weight[0]
