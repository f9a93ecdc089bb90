"""Attributes of the clml dialect."""

from __future__ import annotations

from xdsl.dialects.builtin import f16, f32
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.str_enum import StrEnum

from ..kinds import BinaryKind, PoolKind


class Layout(StrEnum):
    """The order of a tensor in memory: device-specific, or row-major in an order of axes."""

    OPTIMAL = "optimal"
    NCHW = "nchw"
    NHWC = "nhwc"


class Usage(StrEnum):
    """The use of a tensor: feature map, feature map of a transformer, constant."""

    CNN = "cnn"
    TNN = "tnn"
    PARAMETER = "parameter"


class Arithmetic(StrEnum):
    """The element type of the tensors, and the accumulation type of products."""

    FP32 = "fp32"
    FP16 = "fp16"
    FP16_ACC32 = "fp16_acc32"


ELEMENT_TYPES: dict[Arithmetic, Attribute] = {
    Arithmetic.FP32: f32,
    Arithmetic.FP16: f16,
    Arithmetic.FP16_ACC32: f16,
}
"""The element type of tensors, by arithmetic."""


class ConvMode(StrEnum):
    """The kind of a convolution: over all channels, per channel, or transposed."""

    CONVOLUTION = "convolution"
    DEPTHWISE = "depthwise"
    TRANSPOSE = "transpose"


class Activation(StrEnum):
    """An activation function."""

    RELU = "relu"
    RELU6 = "relu6"
    SIGMOID = "sigmoid"
    TANH = "tanh"


class PadMode(StrEnum):
    """The padding: zeros, or a reflection that skips or repeats the border element."""

    CONSTANT = "constant"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"


@irdl_attr_definition
class LayoutAttr(EnumAttribute[Layout], SpacedOpaqueSyntaxAttribute):
    """`#clml<layout optimal>`."""

    name = "clml.layout"


@irdl_attr_definition
class UsageAttr(EnumAttribute[Usage], SpacedOpaqueSyntaxAttribute):
    """`#clml<usage cnn>`."""

    name = "clml.usage"


@irdl_attr_definition
class ArithmeticAttr(EnumAttribute[Arithmetic], SpacedOpaqueSyntaxAttribute):
    """`#clml<arithmetic fp32>`."""

    name = "clml.arithmetic"


@irdl_attr_definition
class ConvModeAttr(EnumAttribute[ConvMode], SpacedOpaqueSyntaxAttribute):
    """`#clml<conv_mode depthwise>`."""

    name = "clml.conv_mode"


@irdl_attr_definition
class ActivationAttr(EnumAttribute[Activation], SpacedOpaqueSyntaxAttribute):
    """`#clml<activation relu>`."""

    name = "clml.activation"


@irdl_attr_definition
class PoolKindAttr(EnumAttribute[PoolKind], SpacedOpaqueSyntaxAttribute):
    """`#clml<pool_kind max>`."""

    name = "clml.pool_kind"


@irdl_attr_definition
class PadModeAttr(EnumAttribute[PadMode], SpacedOpaqueSyntaxAttribute):
    """`#clml<pad_mode reflect>`."""

    name = "clml.pad_mode"


@irdl_attr_definition
class BinaryKindAttr(EnumAttribute[BinaryKind], SpacedOpaqueSyntaxAttribute):
    """`#clml<binary_kind add>`."""

    name = "clml.binary_kind"


ATTRIBUTES: list[type[Attribute]] = [
    LayoutAttr,
    UsageAttr,
    ArithmeticAttr,
    ConvModeAttr,
    ActivationAttr,
    PoolKindAttr,
    PadModeAttr,
    BinaryKindAttr,
]
