"""Normalisations and softmax in numpy, computed in double precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation

from ... import nn
from .. import Array, floats, ints


def _per_channel(vector: Array, rank: int) -> Array:
    return vector.reshape(-1, *(1,) * (rank - 2))


def _normalized(x: Array, axes: tuple[int, ...], epsilon: float) -> Array:
    centred = x - x.mean(axes, keepdims=True)
    return centred / np.sqrt(np.square(centred).mean(axes, keepdims=True) + epsilon)


def _double(operands: Sequence[Array]) -> list[Array]:
    return [x.astype(np.float64) for x in operands]


def _batch_norm(op: nn.BatchNormOp, operands: Sequence[Array]) -> Array:
    x, *vectors = _double(operands)
    scale, bias, mean, var = (_per_channel(v, x.ndim) for v in vectors)
    return (x - mean) / np.sqrt(var + floats(op.epsilon)[0]) * scale + bias


def _layer_norm(op: nn.LayerNormOp, operands: Sequence[Array]) -> Array:
    x, scale, *bias = _double(operands)
    axes = tuple(range(ints(op.axis)[0], x.ndim))
    return _normalized(x, axes, floats(op.epsilon)[0]) * scale + (bias[0] if bias else 0)


def _rms_norm(op: nn.RmsNormOp, operands: Sequence[Array]) -> Array:
    x, scale = _double(operands)
    axes = tuple(range(ints(op.axis)[0], x.ndim))
    return x / np.sqrt(np.square(x).mean(axes, keepdims=True) + floats(op.epsilon)[0]) * scale


def _group_norm(op: nn.GroupNormOp, operands: Sequence[Array]) -> Array:
    x, scale, bias = _double(operands)
    grouped = x.reshape(x.shape[0], ints(op.num_groups)[0], -1)
    normal = _normalized(grouped, (2,), floats(op.epsilon)[0]).reshape(x.shape)
    return normal * _per_channel(scale, x.ndim) + _per_channel(bias, x.ndim)


def _softmax(op: nn.SoftmaxOp, operands: Sequence[Array]) -> Array:
    (x,) = _double(operands)
    (axis,) = ints(op.axis)
    shifted = x - x.max(axis, keepdims=True, initial=-np.inf)
    total = np.exp(shifted).sum(axis, keepdims=True)
    return np.exp(shifted) / total if op.log is None else shifted - np.log(total)


EVALUATORS: dict[type[Operation], Callable[[Any, Sequence[Array]], Any]] = {
    nn.BatchNormOp: _batch_norm,
    nn.LayerNormOp: _layer_norm,
    nn.RmsNormOp: _rms_norm,
    nn.GroupNormOp: _group_norm,
    nn.SoftmaxOp: _softmax,
}
