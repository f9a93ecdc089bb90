"""Decompositions that torch lacks: the fused calls of torch.nn.MultiheadAttention in eval()."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

_OF_QUERIES = 0
"""The mask type for a mask [queries, keys]. Type 1 is [batch, keys]; type 2 has all four axes."""


def decompositions(torch: Any) -> Mapping[Any, Any]:
    """Return the decompositions, keyed by operators of `torch`."""
    aten = torch.ops.aten
    return {
        aten._native_multi_head_attention.default: partial(_attention, torch),
        aten._transformer_encoder_layer_fwd.default: partial(_encoder_layer, torch),
    }


def _attention(
    torch: Any,
    query: Any,
    key: Any,
    value: Any,
    embed_dim: int,
    num_head: int,
    qkv_weight: Any,
    qkv_bias: Any,
    proj_weight: Any,
    proj_bias: Any,
    mask: Any = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> tuple[Any, Any]:
    """Compute multi-head attention. Return its result, and the attention weights if needed."""
    linear = torch.nn.functional.linear
    batch, length, _ = query.shape

    if query is key and key is value:  # one product, and no weights to slice at run time
        projected = linear(query, qkv_weight, qkv_bias).chunk(3, -1)
    else:
        parts = zip((query, key, value), qkv_weight.chunk(3), qkv_bias.chunk(3), strict=True)
        projected = [linear(*part) for part in parts]
    q, k, v = (
        x.view(batch, -1, num_head, embed_dim // num_head).transpose(1, 2) for x in projected
    )
    scores = (q * (1 / math.sqrt(embed_dim // num_head))) @ k.transpose(-2, -1)
    if mask is not None:
        shape = (1, 1, *mask.shape) if mask_type == _OF_QUERIES else (batch, -1, 1, mask.shape[-1])
        hidden = mask if mask.dim() == 4 else mask.reshape(shape)
        scores = scores.masked_fill(hidden.to(torch.bool), -math.inf)
    weights = scores.softmax(-1)
    joined = (weights @ v).transpose(1, 2).reshape(batch, length, embed_dim)
    if not need_weights:
        returned = query.new_empty(0)
    else:
        returned = weights.mean(1) if average_attn_weights else weights
    return linear(joined, proj_weight, proj_bias), returned


def _encoder_layer(
    torch: Any,
    src: Any,
    embed_dim: int,
    num_heads: int,
    qkv_weight: Any,
    qkv_bias: Any,
    proj_weight: Any,
    proj_bias: Any,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Any,
    norm_bias_1: Any,
    norm_weight_2: Any,
    norm_bias_2: Any,
    ffn_weight_1: Any,
    ffn_bias_1: Any,
    ffn_weight_2: Any,
    ffn_bias_2: Any,
    mask: Any = None,
    mask_type: int | None = None,
) -> Any:
    functional = torch.nn.functional
    products = (qkv_weight, qkv_bias, proj_weight, proj_bias, mask, False, True, mask_type)

    def attend(x: Any) -> Any:
        return _attention(torch, x, x, x, embed_dim, num_heads, *products)[0]

    def feed(x: Any) -> Any:
        activate = functional.gelu if use_gelu else functional.relu
        hidden = activate(functional.linear(x, ffn_weight_1, ffn_bias_1))
        return functional.linear(hidden, ffn_weight_2, ffn_bias_2)

    def normal_1(x: Any) -> Any:
        return functional.layer_norm(x, (embed_dim,), norm_weight_1, norm_bias_1, eps)

    def normal_2(x: Any) -> Any:
        return functional.layer_norm(x, (embed_dim,), norm_weight_2, norm_bias_2, eps)

    if norm_first:
        x = src + attend(normal_1(src))
        return x + feed(normal_2(x))
    x = normal_1(src + attend(src))
    return normal_2(x + feed(x))
