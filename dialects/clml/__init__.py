"""The clml dialect: graphs that Qualcomm's CLML (`cl_qcom_ml_ops`) computes instead of kernels.

A `clml.graph` is a list of commands on `!clml.tensor` values, one command per operation of the API;
`clml.call` uses it among nn operations. The rules of a command are in one place, its `infer`; if
CLML cannot compute something, the verifier reports why.

Most commands require the optimal layout, whose size in bytes only the device knows. Matrix products
and softmax of maps require NCHW; elementwise functions accept any layout shared by all their
tensors. The inputs and outputs of a graph are NCHW tensors, which are plain buffers; `clml.copy`
changes a layout.

CLML also lists permute, transpose and fill among its operations. Their calls are not public, so
this dialect omits them.
"""

from xdsl.ir import Dialect

from ..inferred import Properties
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
from .base import ArithmeticOp, MLOp, Unit
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
    "Unit",
    "Usage",
    "UsageAttr",
    "ml_tensor",
]
