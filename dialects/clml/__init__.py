"""The clml dialect: what Qualcomm's CLML (`cl_qcom_ml_ops`) computes in the place of kernels.

A `clml.graph` is a list of commands on `!clml.tensor` values, one command for each operation of the
API, and `clml.call` uses it among nn operations. Each command has one place that knows its rules,
its `infer`; where CLML cannot compute something, the verifier's sentence says why.

Most commands take the optimal layout, of which only the device knows the bytes. Matrix products and
softmax of maps take NCHW, functions of single elements whatever all their tensors have. A graph
takes and returns NCHW, which is a plain buffer; `clml.copy` stands where layouts meet.

CLML also lists permute, transpose and fill among its operations. How to call them is not public, so
there are none here.
"""

from xdsl.ir import Dialect

from .attributes import (
    ATTRIBUTES,
    ELEMENT_TYPES,
    Activation,
    ActivationAttr,
    Arithmetic,
    ArithmeticAttr,
    BinaryKind,
    BinaryKindAttr,
    ConvMode,
    ConvModeAttr,
    Layout,
    LayoutAttr,
    PadMode,
    PadModeAttr,
    PoolKind,
    PoolKindAttr,
    Usage,
    UsageAttr,
)
from .base import ArithmeticOp, MLOp, Properties
from .convolution import (
    ConvActivationOp,
    ConvBatchNormActivationOp,
    ConvBatchNormOp,
    Convolution,
    ConvOp,
)
from .elementwise import ActivationOp, BinaryOp, ClipOp
from .graph import VERSIONS, CallOp, ConstantOp, GraphOp, ReturnOp
from .linear import FullyConnectedOp, GemmOp
from .normalization import BatchNormOp, SoftmaxOp
from .pooling import PoolOp
from .resize import ResizeBilinearOp
from .shape import ConcatOp, CopyOp, DepthToSpaceOp, PadOp, ReshapeOp
from .types import MAX_SIZE, MLTensorType, Shape, ml_tensor

CLML = Dialect(
    "clml",
    [
        ActivationOp,
        BatchNormOp,
        BinaryOp,
        CallOp,
        ClipOp,
        ConcatOp,
        ConstantOp,
        ConvActivationOp,
        ConvBatchNormActivationOp,
        ConvBatchNormOp,
        ConvOp,
        CopyOp,
        DepthToSpaceOp,
        FullyConnectedOp,
        GemmOp,
        GraphOp,
        PadOp,
        PoolOp,
        ReshapeOp,
        ResizeBilinearOp,
        ReturnOp,
        SoftmaxOp,
    ],
    [*ATTRIBUTES, MLTensorType],
)

__all__ = [
    "ATTRIBUTES",
    "CLML",
    "ELEMENT_TYPES",
    "MAX_SIZE",
    "VERSIONS",
    "Activation",
    "ActivationAttr",
    "ActivationOp",
    "Arithmetic",
    "ArithmeticAttr",
    "ArithmeticOp",
    "BatchNormOp",
    "BinaryKind",
    "BinaryKindAttr",
    "BinaryOp",
    "CallOp",
    "ClipOp",
    "ConcatOp",
    "ConstantOp",
    "ConvActivationOp",
    "ConvBatchNormActivationOp",
    "ConvBatchNormOp",
    "ConvMode",
    "ConvModeAttr",
    "ConvOp",
    "Convolution",
    "CopyOp",
    "DepthToSpaceOp",
    "FullyConnectedOp",
    "GemmOp",
    "GraphOp",
    "Layout",
    "LayoutAttr",
    "MLOp",
    "MLTensorType",
    "PadMode",
    "PadModeAttr",
    "PadOp",
    "PoolKind",
    "PoolKindAttr",
    "PoolOp",
    "Properties",
    "ReshapeOp",
    "ResizeBilinearOp",
    "ReturnOp",
    "Shape",
    "SoftmaxOp",
    "Usage",
    "UsageAttr",
    "ml_tensor",
]
