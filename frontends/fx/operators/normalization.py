"""Normalisations and softmaxes."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from ....dialects import nn
from ....dialects.nn.types import shape_of
from ...builder import dtype_of_value
from ..call import FxCall, Handler, Results, Table


def _constant(
    call: FxCall, name: str, like: SSAValue, shape: tuple[int, ...], number: float
) -> SSAValue:
    """Return an optional argument, or if it is absent a constant filled with `number`."""
    given = call.optional(name)
    if given is not None:
        return given
    return call.builder.constant(np.full(shape, number, dtype_of_value(like)))


def _batch_norm(call: FxCall) -> Results:
    """Normalise by running statistics; the other results are only used in training."""
    if call["training"]:
        call.refuse("uses batch statistics; call eval() on the model")
    x = call.tensor("input")
    channels = (shape_of(x)[1],)
    scale = _constant(call, "weight", x, channels, 1.0)
    bias = _constant(call, "bias", x, channels, 0.0)
    mean, var = call.tensor("running_mean"), call.tensor("running_var")
    return [call.add(nn.BatchNormOp(x, scale, bias, mean, var, call.number("eps"))), None, None]


def _layer_norm(call: FxCall) -> Results:
    x, normalized = call.tensor("input"), call.ints("normalized_shape")
    scale = _constant(call, "weight", x, normalized, 1.0)
    axis = len(shape_of(x)) - len(normalized)
    op = nn.LayerNormOp(x, scale, call.optional("bias"), axis, call.number("eps"))
    return [call.add(op), None, None]


def _group_norm(call: FxCall) -> Results:
    x = call.tensor("input")
    channels = (shape_of(x)[1],)
    scale = _constant(call, "weight", x, channels, 1.0)
    bias = _constant(call, "bias", x, channels, 0.0)
    return [
        call.add(nn.GroupNormOp(x, scale, bias, int(call["group"]), call.number("eps"))),
        None,
        None,
    ]


def softmax(log: bool) -> Handler:
    """Return the importer of a softmax, or of its logarithm."""

    def handler(call: FxCall) -> SSAValue:
        x = call.builder.cast(call.tensor(), call.form().element)
        return call.add(nn.SoftmaxOp(x, call.axis(), log))

    return handler


TABLE: Table = {
    "aten._log_softmax.default": softmax(log=True),
    "aten._native_batch_norm_legit_no_training.default": _batch_norm,
    "aten._softmax.default": softmax(log=False),
    "aten.native_batch_norm.default": _batch_norm,
    "aten.native_group_norm.default": _group_norm,
    "aten.native_layer_norm.default": _layer_norm,
}
