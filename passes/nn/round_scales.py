"""Rounding of a quantised network's scales to powers of two."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...context import weights_of
from ...dialects import nn
from ...dialects.nn import Array
from ...dialects.remarks import add_remarks
from ...weights import Weights
from ..locations import node_name
from .quantization.plan import moves_integers
from .quantization.scales import LARGEST, steps_of, weight_scale


@dataclass(frozen=True)
class NNRoundScalesPass(ModulePass):
    """Give quantised values and weights scales that are powers of two, as shifts require.

    The scale of a value becomes the power of two at or above it, so that no additional value
    saturates; its zero point stays. 8-bit weights are rounded again, symmetrically, with the same
    number of scales. A remark reports the relative error of each weight (root mean square). Values
    whose integers the application provides or reads keep their scales. So do i32 biases: integer
    accumulators round them to steps of the sums.
    """

    name: ClassVar[str] = "nn-round-scales"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        weights = weights_of(ctx, op)
        remarks: list[str] = []
        for function in nn.networks_of(op):
            ops = list(function.body.block.ops)
            for group in _groups(ops):
                _round_value(group)
            for each in ops:
                if isinstance(each, nn.DequantizeOp) and isinstance(each.q.owner, nn.ConstantOp):
                    remarks += _round_weight(each, weights)
        add_remarks(op, remarks)


def _groups(ops: list[Operation]) -> list[list[nn.QuantizeOp | nn.DequantizeOp]]:
    """Return the conversions that share each set of integers that never leaves the network.

    Integers belong to one set across operations that only move them. Sets with other producers or
    readers, or with several scales, are left out.
    """
    parent: dict[SSAValue, SSAValue] = {}

    def root(value: SSAValue) -> SSAValue:
        while parent.get(value, value) is not value:
            value = parent[value]
        return value

    for op in ops:
        if moves_integers(op) and not nn.is_float(nn.tensor_type(op.results[0]).element_type):
            for operand in op.operands:
                parent[root(operand)] = root(op.results[0])
    groups: dict[SSAValue, list[nn.QuantizeOp | nn.DequantizeOp]] = {}
    closed: dict[SSAValue, bool] = {}
    for op in ops:
        if isinstance(op, nn.DequantizeOp):
            groups.setdefault(root(op.q), []).append(op)
        for value in op.results:
            if isinstance(op, nn.QuantizeOp):
                groups.setdefault(root(value), []).append(op)
            users = [use.operation for use in value.uses]
            inner = isinstance(op, nn.QuantizeOp) or moves_integers(op)
            kept = all(isinstance(user, nn.DequantizeOp) or moves_integers(user) for user in users)
            closed[root(value)] = closed.get(root(value), True) and inner and kept
    return [
        group
        for value, group in groups.items()
        if closed.get(value, False) and len({_scale(op) for op in group}) == 1
    ]


def _scale(op: nn.QuantizeOp | nn.DequantizeOp) -> float | None:
    """Return the scale of a conversion if it is one known number, else None."""
    array = nn.constant_value(op.scale)
    return float(array.reshape(())) if array is not None and array.size == 1 else None


def _round_value(group: list[nn.QuantizeOp | nn.DequantizeOp]) -> None:
    """Give all conversions of one set of integers the power of two at or above their scale."""
    scale = _scale(group[0])
    if scale is None or not scale > 0:
        return
    for op in group:
        rounded = np.full(nn.shape_of(op.scale), 2.0 ** math.ceil(math.log2(scale)), np.float32)
        constant = nn.ConstantOp.from_array(rounded)
        constant.location = op.location
        Rewriter.insert_op(constant, InsertPoint.before(op))
        op.operands[1] = constant.result


def _round_weight(op: nn.DequantizeOp, weights: Weights | None) -> list[str]:
    """Round an 8-bit constant again; return a remark with its error."""
    arrays = [nn.constant_value(value, weights) for value in op.operands]
    q, scale, zero = arrays
    if q is None or scale is None or zero is None or q.dtype.itemsize > 1 or not q.size:
        return []
    exact = (q.astype(np.float64) - zero) * scale
    new = _like(exact, scale)
    steps = steps_of(exact, new, LARGEST, np.int8)
    assert steps is not None
    size = math.sqrt(np.square(exact).sum())
    error = math.sqrt(np.square(steps * new.astype(np.float64) - exact).sum())
    made = nn.ConstantOp.from_array(steps, weights, nn.hint_of(op.q))
    step = nn.ConstantOp.from_array(new, weights)
    symmetric = nn.ConstantOp.from_array(np.zeros((), np.int8))
    back = nn.DequantizeOp(made.result, step.result, symmetric.result)
    for each in (made, step, symmetric, back):
        each.location = op.location
    name = nn.hint_of(op.q) or op.q.name_hint or node_name(op)
    Rewriter.replace_op(op, [made, step, symmetric, back])
    return [f"{name} is {error / size if size else 0:.2%} off by scales of powers of two."]


def _like(exact: Array, scale: Array) -> Array:
    """Return power-of-two scales for an array: one, or one per channel like `scale`."""
    aligned = (1,) * (exact.ndim - scale.ndim) + scale.shape
    axes = [axis for axis, size in enumerate(aligned) if size > 1]
    return weight_scale(exact, axes[0] if len(axes) == 1 else None, shifts=True)
