"""Attributes of the nn dialect."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import (
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.str_enum import StrEnum

from ..kinds import BinaryKind, PoolKind
from .types import AnyFloatType, is_float


@irdl_attr_definition
class WeightAttr(ParametrizedAttribute):
    """The key of an array in the weights store; the hint is its name in the original model."""

    name = "nn.weight"
    key: StringAttr
    hint: StringAttr

    def __init__(self, key: str, hint: str = ""):
        super().__init__(StringAttr(key), StringAttr(hint))


class UnaryKind(StrEnum):
    """An elementwise function of one tensor."""

    NEG = "neg"
    ABS = "abs"
    SIGN = "sign"
    FLOOR = "floor"
    CEIL = "ceil"
    ROUND = "round"
    SQRT = "sqrt"
    RSQRT = "rsqrt"
    RECIPROCAL = "reciprocal"
    EXP = "exp"
    LOG = "log"
    SIN = "sin"
    COS = "cos"
    TAN = "tan"
    ASIN = "asin"
    ACOS = "acos"
    ATAN = "atan"
    SINH = "sinh"
    COSH = "cosh"
    TANH = "tanh"
    ASINH = "asinh"
    ACOSH = "acosh"
    ATANH = "atanh"
    ERF = "erf"
    RELU = "relu"
    SIGMOID = "sigmoid"
    GELU = "gelu"
    GELU_TANH = "gelu_tanh"
    SILU = "silu"
    SOFTPLUS = "softplus"
    SOFTSIGN = "softsign"
    MISH = "mish"
    HARD_SWISH = "hard_swish"
    LEAKY_RELU = "leaky_relu"
    ELU = "elu"
    SELU = "selu"
    CELU = "celu"
    HARD_SIGMOID = "hard_sigmoid"
    THRESHOLDED_RELU = "thresholded_relu"
    SHRINK = "shrink"
    SWISH = "swish"
    LOGICAL_NOT = "logical_not"
    BITWISE_NOT = "bitwise_not"
    ISNAN = "isnan"
    ISINF = "isinf"


class CompareKind(StrEnum):
    """An elementwise comparison."""

    EQ = "eq"
    NE = "ne"
    LT = "lt"
    LE = "le"
    GT = "gt"
    GE = "ge"


class ReduceKind(StrEnum):
    """The function of a reduction."""

    SUM = "sum"
    MEAN = "mean"
    MAX = "max"
    MIN = "min"
    PROD = "prod"
    L1 = "l1"
    L2 = "l2"
    LOG_SUM = "log_sum"
    LOG_SUM_EXP = "log_sum_exp"
    SUM_SQUARE = "sum_square"


class ArgReduceKind(StrEnum):
    """The extreme element whose index is returned."""

    MAX = "max"
    MIN = "min"


class PadMode(StrEnum):
    """The source of padded elements."""

    CONSTANT = "constant"
    REFLECT = "reflect"
    EDGE = "edge"
    WRAP = "wrap"


class ScatterReduction(StrEnum):
    """The function that combines a scattered update with the element at its index."""

    NONE = "none"
    ADD = "add"
    MUL = "mul"
    MIN = "min"
    MAX = "max"


class ResizeMode(StrEnum):
    """The interpolation of a resize."""

    NEAREST = "nearest"
    LINEAR = "linear"
    CUBIC = "cubic"


class CoordinateMode(StrEnum):
    """The mapping from output to input coordinates of a resize (ONNX Resize)."""

    HALF_PIXEL = "half_pixel"
    HALF_PIXEL_SYMMETRIC = "half_pixel_symmetric"
    PYTORCH_HALF_PIXEL = "pytorch_half_pixel"
    ALIGN_CORNERS = "align_corners"
    ASYMMETRIC = "asymmetric"
    TF_CROP_AND_RESIZE = "tf_crop_and_resize"
    TF_HALF_PIXEL_FOR_NN = "tf_half_pixel_for_nn"


class NearestMode(StrEnum):
    """The rounding of input coordinates in a nearest resize (ONNX Resize)."""

    ROUND_PREFER_FLOOR = "round_prefer_floor"
    ROUND_PREFER_CEIL = "round_prefer_ceil"
    FLOOR = "floor"
    CEIL = "ceil"


class Rounding(StrEnum):
    """How quantisation rounds numbers halfway between two integers."""

    HALF_EVEN = "half_even"
    HALF_UP = "half_up"


class BlockOrder(StrEnum):
    """The order of channels in depth_to_space: block offset (dcr) or depth (crd) outermost."""

    DCR = "dcr"
    CRD = "crd"


@irdl_attr_definition
class UnaryKindAttr(EnumAttribute[UnaryKind], SpacedOpaqueSyntaxAttribute):
    """`#nn<unary_kind relu>`."""

    name = "nn.unary_kind"


@irdl_attr_definition
class BinaryKindAttr(EnumAttribute[BinaryKind], SpacedOpaqueSyntaxAttribute):
    """`#nn<binary_kind add>`."""

    name = "nn.binary_kind"


@irdl_attr_definition
class CompareKindAttr(EnumAttribute[CompareKind], SpacedOpaqueSyntaxAttribute):
    """`#nn<compare_kind eq>`."""

    name = "nn.compare_kind"


@irdl_attr_definition
class PoolKindAttr(EnumAttribute[PoolKind], SpacedOpaqueSyntaxAttribute):
    """`#nn<pool_kind max>`."""

    name = "nn.pool_kind"


@irdl_attr_definition
class ReduceKindAttr(EnumAttribute[ReduceKind], SpacedOpaqueSyntaxAttribute):
    """`#nn<reduce_kind sum>`."""

    name = "nn.reduce_kind"


@irdl_attr_definition
class ArgReduceKindAttr(EnumAttribute[ArgReduceKind], SpacedOpaqueSyntaxAttribute):
    """`#nn<arg_reduce_kind max>`."""

    name = "nn.arg_reduce_kind"


@irdl_attr_definition
class PadModeAttr(EnumAttribute[PadMode], SpacedOpaqueSyntaxAttribute):
    """`#nn<pad_mode constant>`."""

    name = "nn.pad_mode"


@irdl_attr_definition
class ScatterReductionAttr(EnumAttribute[ScatterReduction], SpacedOpaqueSyntaxAttribute):
    """`#nn<scatter_reduction none>`."""

    name = "nn.scatter_reduction"


@irdl_attr_definition
class ResizeModeAttr(EnumAttribute[ResizeMode], SpacedOpaqueSyntaxAttribute):
    """`#nn<resize_mode linear>`."""

    name = "nn.resize_mode"


@irdl_attr_definition
class CoordinateModeAttr(EnumAttribute[CoordinateMode], SpacedOpaqueSyntaxAttribute):
    """`#nn<coordinate_mode half_pixel>`."""

    name = "nn.coordinate_mode"


@irdl_attr_definition
class NearestModeAttr(EnumAttribute[NearestMode], SpacedOpaqueSyntaxAttribute):
    """`#nn<nearest_mode floor>`."""

    name = "nn.nearest_mode"


@irdl_attr_definition
class BlockOrderAttr(EnumAttribute[BlockOrder], SpacedOpaqueSyntaxAttribute):
    """`#nn<block_order dcr>`."""

    name = "nn.block_order"


@irdl_attr_definition
class RoundingAttr(EnumAttribute[Rounding], SpacedOpaqueSyntaxAttribute):
    """`#nn<rounding half_even>`."""

    name = "nn.rounding"


ATTRIBUTES: list[type[Attribute]] = [
    WeightAttr,
    UnaryKindAttr,
    BinaryKindAttr,
    CompareKindAttr,
    PoolKindAttr,
    ReduceKindAttr,
    ArgReduceKindAttr,
    PadModeAttr,
    ScatterReductionAttr,
    ResizeModeAttr,
    CoordinateModeAttr,
    NearestModeAttr,
    BlockOrderAttr,
    RoundingAttr,
]


def scalar(value: float | bool, element_type: Attribute) -> Attribute:
    """Return a scalar attribute of a tensor's element type."""
    if is_float(element_type):
        return FloatAttr(float(value), cast(AnyFloatType, element_type))
    return IntegerAttr(int(value), cast(IntegerType, element_type))
