"""The lowering of nn operations to loop nests: one row of `LOWERINGS` per operation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Operation
from xdsl.traits import OpTrait

from ....dialects import nn
from . import (
    attention,
    constant,
    convolution,
    elementwise,
    generic,
    indexing,
    linear,
    normalization,
    pooling,
    quantization,
    reduction,
    resize,
    shape,
    winograd,
)
from .kernel import KernelBuilder

__all__ = ["LOWERINGS", "KernelBuilder", "LoweredBy", "lowering_of"]

Lowering = Callable[[KernelBuilder, Any], None]

LOWERINGS: dict[type[Operation], Lowering] = {
    nn.ConstantOp: constant.lower_constant,
    nn.UnaryOp: elementwise.lower_unary,
    nn.ClipOp: elementwise.lower_clip,
    nn.BinaryOp: elementwise.lower_binary,
    nn.CompareOp: elementwise.lower_compare,
    nn.WhereOp: elementwise.lower_where,
    nn.CastOp: elementwise.lower_cast,
    nn.QuantizeOp: quantization.lower_quantize,
    nn.DequantizeOp: quantization.lower_dequantize,
    nn.MatmulOp: linear.lower_matmul,
    nn.AttentionScoresOp: attention.lower_attention_scores,
    nn.AttentionOp: attention.lower_attention,
    nn.ConvOp: convolution.lower_conv,
    nn.ConvTransposeOp: convolution.lower_conv_transpose,
    nn.PoolOp: pooling.lower_pool,
    nn.MaxPoolIndicesOp: pooling.lower_max_pool_indices,
    nn.BatchNormOp: normalization.lower_batch_norm,
    nn.LayerNormOp: normalization.lower_layer_norm,
    nn.RmsNormOp: normalization.lower_rms_norm,
    nn.GroupNormOp: normalization.lower_group_norm,
    nn.SoftmaxOp: normalization.lower_softmax,
    nn.ReduceOp: reduction.lower_reduce,
    nn.ArgReduceOp: reduction.lower_arg_reduce,
    nn.CumsumOp: reduction.lower_cumsum,
    nn.TopKOp: reduction.lower_top_k,
    nn.ReshapeOp: shape.lower_reshape,
    nn.TransposeOp: shape.lower_transpose,
    nn.ConcatOp: shape.lower_concat,
    nn.SliceOp: shape.lower_slice,
    nn.PadOp: shape.lower_pad,
    nn.ExpandOp: shape.lower_expand,
    nn.TileOp: shape.lower_tile,
    nn.DepthToSpaceOp: shape.lower_depth_to_space,
    nn.SpaceToDepthOp: shape.lower_space_to_depth,
    nn.GenericOp: generic.lower_generic,
    nn.GatherOp: indexing.lower_gather,
    nn.GatherElementsOp: indexing.lower_gather_elements,
    nn.GatherNDOp: indexing.lower_gather_nd,
    nn.InsertSliceOp: indexing.lower_insert_slice,
    nn.ScatterElementsOp: indexing.lower_scatter_elements,
    nn.ScatterNDOp: indexing.lower_scatter_nd,
    nn.ResizeOp: resize.lower_resize,
    nn.WinogradConvOp: winograd.lower_winograd_conv,
    nn.WinogradInputOp: winograd.lower_winograd_input,
    nn.WinogradOutputOp: winograd.lower_winograd_output,
    nn.WinogradProductOp: winograd.lower_winograd_product,
}
"""The function that defines the results of each operation (see `KernelBuilder`)."""


@dataclass(frozen=True)
class LoweredBy(OpTrait):
    """A trait that defines the lowering of an operation of another dialect."""

    lower: Lowering


def lowering_of(op: Operation) -> Lowering | None:
    """Return the lowering of an operation; None if it cannot be in a kernel."""
    if (lower := LOWERINGS.get(type(op))) is not None:
        return lower
    trait = op.get_trait(LoweredBy)
    return None if trait is None else trait.lower
