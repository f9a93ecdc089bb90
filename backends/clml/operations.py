"""The C form of each command of a graph: one table row per class.

Descriptors are positional initialisers, because the order of their members is public but most of
their names are not. Enumerators are printed as names, whose values only a header defines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isinf
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import Operation, SSAValue

from ...dialects import clml
from ...dialects.clml import Activation, Arithmetic, BinaryKind, ConvMode, PadMode, PoolKind
from ...dialects.properties import ints, is_true, number
from ..host_c.c_text import braces

ARITHMETIC = {
    Arithmetic.FP32: "CL_ARITHMETIC_MODE_FP32_QCOM",
    Arithmetic.FP16: "CL_ARITHMETIC_MODE_FP16_QCOM",
    Arithmetic.FP16_ACC32: "CL_ARITHMETIC_MODE_FP16_ACC32_QCOM",
}
_CONVOLUTIONS = {
    ConvMode.CONVOLUTION: "CL_CONVOLUTION_MODE_CONVOLUTION_QCOM",
    ConvMode.DEPTHWISE: "CL_CONVOLUTION_MODE_DEPTHWISE_QCOM",
    ConvMode.TRANSPOSE: "CL_CONVOLUTION_MODE_TRANSPOSE_QCOM",
}
_ACTIVATIONS = {
    Activation.RELU: "CL_ACTIVATION_RELU",
    Activation.RELU6: "CL_ACTIVATION_RELU6",
    Activation.SIGMOID: "CLOPT_CLML_ACTIVATION_SIGMOID",
    Activation.TANH: "CLOPT_CLML_ACTIVATION_TANH",
}
_POOLINGS = {
    PoolKind.MAX: "CL_POOLING_MODE_MAX_QCOM",
    PoolKind.AVERAGE: "CL_POOLING_MODE_AVERAGE_EXCLUDE_PADDING_QCOM",
}
_PADS = {
    PadMode.CONSTANT: "CL_PAD_MODE_CONSTANT_QCOM",
    PadMode.REFLECT: "CL_PAD_MODE_REFLECT_QCOM",
    PadMode.SYMMETRIC: "CL_PAD_MODE_SYMMETRIC_QCOM",
}
_BINARIES = {
    BinaryKind.ADD: "CL_TENSOR_OP_ADD_QCOM",
    BinaryKind.SUB: "CL_TENSOR_OP_SUB_QCOM",
    BinaryKind.MUL: "CL_TENSOR_OP_MUL_QCOM",
    BinaryKind.DIV: "CL_TENSOR_OP_DIV_QCOM",
    BinaryKind.MIN: "CL_TENSOR_OP_MIN_QCOM",
    BinaryKind.MAX: "CL_TENSOR_OP_MAX_QCOM",
}

Members: TypeAlias = Sequence[str]
"""All members of a descriptor except the last, which is always the arithmetic mode."""

_Op: TypeAlias = Any  # a command of the class that the table names


@dataclass(frozen=True)
class Descriptor:
    """A structure of the header, `cl_ml_op_<name>_desc_qcom`, and its contents."""

    name: str
    members: Callable[[_Op], Members]


def _all_operands(op: Operation) -> Sequence[SSAValue | None]:
    return op.operands


@dataclass(frozen=True)
class Kind:
    """The C form of the commands of one class."""

    name: str
    """Its name in the C runtime, after `clopt_clml_`."""
    descriptor: Descriptor | None = None
    batch_norm: Descriptor | None = None
    activation: Descriptor | None = None
    operands: Callable[[_Op], Sequence[SSAValue | None]] = _all_operands
    """The inputs in the order of the C runtime; None for an absent input."""

    @property
    def descriptors(self) -> Mapping[str, Descriptor]:
        """Its descriptors, by the fields of its row."""
        fields = {
            "descriptor": self.descriptor,
            "batch_norm": self.batch_norm,
            "activation": self.activation,
        }
        return {name: descriptor for name, descriptor in fields.items() if descriptor}


def float_text(value: float) -> str:
    """Return a C float constant that reads back as the same float."""
    if isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    text = repr(float(str(np.float32(value))))  # the shortest text with the same bits
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"


def _scalar(value: float) -> str:
    return braces([braces([float_text(value)]), "CL_FLOAT"])


def _numbers(*values: int) -> str:
    return braces(map(str, values))


def _truth(value: bool) -> str:
    return "CL_TRUE" if value else "CL_FALSE"


def _convolution(op: clml.Convolution) -> Members:
    top, left, bottom, right = ints(op.pads)
    strides, dilations = ints(op.strides), ints(op.dilations)
    before, after = _numbers(top, left), _numbers(bottom, right)
    mode = _CONVOLUTIONS[op.mode.data]
    return [mode, "1", "4", before, after, _numbers(*strides), _numbers(*dilations), "0"]


def _activation(op: _Op) -> Members:
    return [_ACTIVATIONS[op.activation.data], "CL_PROPAGATE_NAN_QCOM"]


def _batch_norm(op: Operation) -> Members:
    del op
    return ["CL_BATCHNORM_MODE_SPATIAL_QCOM"]


def _pooling(op: clml.PoolOp) -> Members:
    top, left, bottom, right = ints(op.pads)
    strides, kernel = _numbers(*ints(op.strides)), _numbers(*ints(op.kernel))
    before, after = _numbers(top, left), _numbers(bottom, right)
    return [_POOLINGS[op.kind.data], "4", before, after, strides, kernel, "CL_PROPAGATE_NAN_QCOM"]


def _softmax(op: clml.SoftmaxOp) -> Members:
    del op
    return ["CL_SOFTMAX_ALGORITHM_ACCURATE_QCOM", "CLOPT_CLML_SOFTMAX_OVER_CHANNELS"]


def _pad(op: clml.PadOp) -> Members:
    top, left, bottom, right = ints(op.pads)
    widths = _numbers(top, bottom, left, right, 0, 0, 0, 0)
    return [_PADS[op.mode.data], _numbers(0, 0), widths]


def _concat(op: clml.ConcatOp) -> Members:
    return ["1", str(len(op.inputs))]


def _fully_connected(op: clml.FullyConnectedOp) -> Members:
    transform = "TRANSPOSE" if is_true(op.transpose) else "NONE"
    return ["1", f"CL_FC_WEIGHT_TRANSFORM_{transform}_QCOM"]


def _gemm(op: clml.GemmOp) -> Members:
    turned = ("TRANSPOSE" if is_true(flag) else "NONE" for flag in (op.transpose_a, op.transpose_b))
    transforms = [f"CL_GEMM_TRANSFORM_{name}_QCOM" for name in turned]
    sizes = [str(number(size)) for size in (op.m, op.n, op.k)]
    return [*sizes, *transforms, _scalar(1), _scalar(0)]


def _binary(op: clml.BinaryOp) -> Members:
    return [_BINARIES[op.kind.data], _scalar(1), _scalar(1), _scalar(0)]


def _clip(op: clml.ClipOp) -> Members:
    return ["CL_CLIP_BY_VALUE_QCOM", _scalar(number(op.maximum)), _scalar(number(op.minimum))]


def _depth_to_space(op: clml.DepthToSpaceOp) -> Members:
    return [str(number(op.block))]


def _resize(op: clml.ResizeBilinearOp) -> Members:
    return [_truth(is_true(op.align_corners)), _truth(False)]


def _with_bias(op: _Op) -> Sequence[SSAValue | None]:
    return [op.x, op.w, op.b]


def _with_statistics(op: _Op) -> Sequence[SSAValue | None]:
    return [op.x, op.w, op.b, op.mean, op.variance, op.scale, op.bias]


_CONVOLUTION = Descriptor("convolution", _convolution)
_ACTIVATION = Descriptor("activation", _activation)
_BATCH_NORM = Descriptor("batchnorm", _batch_norm)

KINDS: Mapping[type[Operation], Kind] = {
    clml.ConvOp: Kind("convolution", _CONVOLUTION, operands=_with_bias),
    clml.ConvActivationOp: Kind(
        "convolution_activation", _CONVOLUTION, activation=_ACTIVATION, operands=_with_bias
    ),
    clml.ConvBatchNormOp: Kind(
        "convolution_batch_norm", _CONVOLUTION, _BATCH_NORM, operands=_with_statistics
    ),
    clml.ConvBatchNormActivationOp: Kind(
        "convolution_batch_norm_activation",
        _CONVOLUTION,
        _BATCH_NORM,
        _ACTIVATION,
        _with_statistics,
    ),
    clml.BatchNormOp: Kind("batch_norm", batch_norm=_BATCH_NORM),
    clml.ActivationOp: Kind("activation", activation=_ACTIVATION),
    clml.PoolOp: Kind("pooling", Descriptor("pooling", _pooling)),
    clml.SoftmaxOp: Kind("softmax", Descriptor("softmax", _softmax)),
    clml.PadOp: Kind("pad", Descriptor("pad", _pad)),
    clml.ReshapeOp: Kind("reshape"),
    clml.ConcatOp: Kind("concat", Descriptor("concat", _concat)),
    clml.FullyConnectedOp: Kind(
        "fully_connected", Descriptor("fully_connected", _fully_connected), operands=_with_bias
    ),
    clml.GemmOp: Kind("gemm", Descriptor("gemm", _gemm)),
    clml.BinaryOp: Kind("binary", Descriptor("binary", _binary)),
    clml.ClipOp: Kind("clip", Descriptor("clip", _clip)),
    clml.DepthToSpaceOp: Kind("depth_to_space", Descriptor("depthtospace", _depth_to_space)),
    clml.ResizeBilinearOp: Kind("resize_bilinear", Descriptor("resize_bilinear", _resize)),
    clml.CopyOp: Kind("copy"),
}
"""The C form of commands, by class."""
