"""Convolutions, alone and fused with a following batch normalisation and activation."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from math import prod
from typing import ClassVar, cast

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, prop_def, result_def

from ..inferred import FORMAT, Properties, require
from ..properties import F64, I64_ARRAY, int_array, ints, real
from ..windows import extent, positions, spread
from .attributes import Activation, ActivationAttr, ConvMode, ConvModeAttr
from .base import ArithmeticOp, Unit, require_pads, require_pairs, require_vectors
from .normalization import EPSILON_VERSION, require_epsilon
from .types import MLTensorType, Shape, ml_tensor, sizes_text

ACTIVATION_FORMAT = "$activation " + FORMAT
"""Assembly format of commands with an activation."""


def convolution_properties(
    mode: ConvMode | str, strides: Sequence[int], dilations: Sequence[int], pads: Sequence[int]
) -> dict[str, Attribute]:
    """Return the properties common to all convolutions."""
    return {
        "mode": ConvModeAttr(ConvMode(mode)),
        "strides": int_array(strides),
        "dilations": int_array(dilations),
        "pads": int_array(pads),
    }


def _output_channels(mode: ConvMode, x: Shape, w: Shape) -> int:
    """Return the channels of the result; raise VerifyException if the weight does not match."""
    if mode is ConvMode.DEPTHWISE:
        require(
            w[:2] == (1, x[1]),
            f"a depthwise weight for {x[1]} channels must have the sizes "
            f"1x{x[1]}x{w[2]}x{w[3]}, not "
            f"{sizes_text(w)}: CLML has one filter per channel and no other groups",
        )
        return x[1]
    require(
        w[1] == x[1],
        f"the weight {sizes_text(w)} has {w[1]} channels but the input has {x[1]}: CLML "
        "supports no "
        "groups other than depthwise ones",
    )
    return w[0]


def _size(mode: ConvMode, n: int, kernel: int, stride: int, dilation: int, pad: int) -> int:
    """Return the size of the result in one dimension; `pad` is the sum of both ends."""
    if mode is ConvMode.TRANSPOSE:
        size = spread(n, kernel, stride, dilation) - pad
        require(size >= 1, f"pads of {pad} crop a result of {size + pad} to nothing")
        return size
    size, span = positions(n + pad, kernel, stride, dilation), extent(kernel, dilation)
    require(size >= 1, f"a filter over {span} does not fit into a padded size of {n + pad}")
    return size


class Convolution(ArithmeticOp, ABC):
    """The base of all convolutions: x, a weight, and a bias with one value per result channel.

    The weight has the sizes O x I x kh x kw, in mode `depthwise` 1 x C x kh x kw. `pads` are top,
    left, bottom, right; `strides` and `dilations` are for H, then W.
    """

    x = operand_def(MLTensorType)
    w = operand_def(MLTensorType)
    b = opt_operand_def(MLTensorType)
    mode = prop_def(ConvModeAttr, default_value=ConvModeAttr(ConvMode.CONVOLUTION))
    strides = prop_def(I64_ARRAY)
    dilations = prop_def(I64_ARRAY)
    pads = prop_def(I64_ARRAY)
    result = result_def(MLTensorType)

    CONSTANT_TAIL: ClassVar[bool] = True

    @property
    def adds_up(self) -> bool:
        return True

    @property
    def unit(self) -> Unit:
        is_depthwise = self.mode.data is ConvMode.DEPTHWISE
        return Unit.DEPTHWISE if is_depthwise else Unit.CONVOLUTION

    @property
    def multiply_adds(self) -> int:
        """Return the filter taps times the positions of the result (transposed: of the input)."""
        is_transposed = self.mode.data is ConvMode.TRANSPOSE
        _, _, h, w = ml_tensor(self.x if is_transposed else self.result).get_shape()
        return prod(ml_tensor(self.w).get_shape()) * h * w

    @classmethod
    def infer(
        cls, operand_types: Sequence[MLTensorType], properties: Properties, asked: Shape
    ) -> Shape:
        mode = cast(ConvModeAttr, properties["mode"]).data
        x, w = (type_.get_shape() for type_ in operand_types[:2])
        strides, dilations, pads = (ints(properties[k]) for k in ("strides", "dilations", "pads"))
        require_pairs(strides=strides, dilations=dilations)
        require_pads(pads)
        function = _fused_function(properties)
        channels = _output_channels(mode, x, w)
        require(
            mode is not ConvMode.DEPTHWISE
            or w[2:] != (3, 3)
            or dilations == (1, 1)
            or function is Activation.RELU6,
            "CLML computes a dilated depthwise 3x3 convolution only with relu6 fused",
        )
        require_vectors(operand_types[2:], channels)
        h, w_ = (
            _size(mode, x[2 + i], w[2 + i], strides[i], dilations[i], pads[i] + pads[i + 2])
            for i in range(2)
        )
        return x[0], channels, h, w_

    def _size_hint(self) -> str:
        return ": CLML has no output_padding" if self.mode.data is ConvMode.TRANSPOSE else ""


def _fused_function(properties: Properties) -> Activation | None:
    if "activation" not in properties:
        return None
    function = cast(ActivationAttr, properties["activation"]).data
    require(
        function in (Activation.RELU, Activation.RELU6),
        f"CLML can fuse relu or relu6 with a convolution, not {function}",
    )
    return function


@irdl_op_definition
class ConvOp(Convolution):
    """Convolution of x with the weight w, plus the bias b."""

    name = "clml.conv"
    assembly_format = FORMAT

    def __init__(
        self,
        x: SSAValue,
        w: SSAValue,
        b: SSAValue | None,
        result_type: MLTensorType,
        *,
        mode: ConvMode | str = ConvMode.CONVOLUTION,
        strides: Sequence[int] = (1, 1),
        dilations: Sequence[int] = (1, 1),
        pads: Sequence[int] = (0, 0, 0, 0),
    ):
        properties = convolution_properties(mode, strides, dilations, pads)
        super().__init__([x, w, b], properties, result_type)


@irdl_op_definition
class ConvActivationOp(Convolution):
    """Convolution followed by relu or relu6."""

    name = "clml.conv_activation"
    activation = prop_def(ActivationAttr)
    assembly_format = ACTIVATION_FORMAT

    def __init__(
        self,
        x: SSAValue,
        w: SSAValue,
        b: SSAValue | None,
        result_type: MLTensorType,
        *,
        activation: Activation | str,
        mode: ConvMode | str = ConvMode.CONVOLUTION,
        strides: Sequence[int] = (1, 1),
        dilations: Sequence[int] = (1, 1),
        pads: Sequence[int] = (0, 0, 0, 0),
    ):
        properties = convolution_properties(mode, strides, dilations, pads)
        properties["activation"] = ActivationAttr(Activation(activation))
        super().__init__([x, w, b], properties, result_type)


class ConvolutionBatchNorm(Convolution, ABC):
    """The base of convolutions fused with a batch normalisation."""

    # Redeclared because xDSL orders the operands of a class before those of its bases.
    x = operand_def(MLTensorType)
    w = operand_def(MLTensorType)
    b = opt_operand_def(MLTensorType)
    mean = operand_def(MLTensorType)
    variance = operand_def(MLTensorType)
    scale = operand_def(MLTensorType)
    bias = operand_def(MLTensorType)
    epsilon = prop_def(F64)

    REQUIRED_VERSION: ClassVar[int] = EPSILON_VERSION

    @classmethod
    def infer(
        cls, operand_types: Sequence[MLTensorType], properties: Properties, asked: Shape
    ) -> Shape:
        require_epsilon(properties)
        return super().infer(operand_types, properties, asked)


@irdl_op_definition
class ConvBatchNormOp(ConvolutionBatchNorm):
    """Convolution, then (y - mean) / sqrt(variance + epsilon) * scale + bias for each channel."""

    name = "clml.conv_batch_norm"
    assembly_format = FORMAT

    def __init__(
        self,
        x: SSAValue,
        w: SSAValue,
        b: SSAValue | None,
        mean: SSAValue,
        variance: SSAValue,
        scale: SSAValue,
        bias: SSAValue,
        result_type: MLTensorType,
        *,
        epsilon: float,
        mode: ConvMode | str = ConvMode.CONVOLUTION,
        strides: Sequence[int] = (1, 1),
        dilations: Sequence[int] = (1, 1),
        pads: Sequence[int] = (0, 0, 0, 0),
    ):
        properties = convolution_properties(mode, strides, dilations, pads)
        properties["epsilon"] = real(epsilon)
        super().__init__([x, w, b, mean, variance, scale, bias], properties, result_type)


@irdl_op_definition
class ConvBatchNormActivationOp(ConvolutionBatchNorm):
    """Convolution, then a batch normalisation, then relu or relu6."""

    name = "clml.conv_batch_norm_activation"
    activation = prop_def(ActivationAttr)
    assembly_format = ACTIVATION_FORMAT

    def __init__(
        self,
        x: SSAValue,
        w: SSAValue,
        b: SSAValue | None,
        mean: SSAValue,
        variance: SSAValue,
        scale: SSAValue,
        bias: SSAValue,
        result_type: MLTensorType,
        *,
        activation: Activation | str,
        epsilon: float,
        mode: ConvMode | str = ConvMode.CONVOLUTION,
        strides: Sequence[int] = (1, 1),
        dilations: Sequence[int] = (1, 1),
        pads: Sequence[int] = (0, 0, 0, 0),
    ):
        properties: Mapping[str, Attribute] = {
            **convolution_properties(mode, strides, dilations, pads),
            "activation": ActivationAttr(Activation(activation)),
            "epsilon": real(epsilon),
        }
        super().__init__([x, w, b, mean, variance, scale, bias], properties, result_type)
