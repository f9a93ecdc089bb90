"""Scaled dot-product attention as matmuls and softmax, which passes fuse into attention."""

from __future__ import annotations

import math

import numpy as np
from xdsl.ir import SSAValue

from ....dialects import nn
from ....dialects.nn.types import shape_of
from ...builder import dtype_of_value
from ..call import FxCall, Results, Table


def _attention(call: FxCall) -> Results:
    """Import attention: a softmax of the scores weighs the values.

    The second result is only used in training, so it is not computed.
    """
    builder = call.builder
    query, key, value = (call.tensor(name) for name in ("query", "key", "value"))
    if call.number("dropout_p"):
        call.refuse("has a dropout; call eval() on the model")
    scale = call["scale"]
    if scale is None:
        scale = 1 / math.sqrt(shape_of(query)[-1])
    scores = builder.matmul(builder.binary("mul", query, scale), key, transpose_b=True)
    if call["is_causal"]:
        scores = builder.binary("add", scores, _causal(call, scores))
    if (mask := call.optional("attn_mask")) is not None:
        scores = builder.binary("add", scores, mask)
    weights = call.add(nn.SoftmaxOp(scores, -1))
    return [builder.matmul(weights, value), None]


def _causal(call: FxCall, scores: SSAValue) -> SSAValue:
    rows, columns = shape_of(scores)[-2:]
    call.builder.reserve(rows, columns)
    mask = np.triu(np.full((rows, columns), -np.inf), 1)
    return call.builder.constant(mask.astype(dtype_of_value(scores)))


TABLE: Table = {"aten._scaled_dot_product_flash_attention_for_cpu.default": _attention}
