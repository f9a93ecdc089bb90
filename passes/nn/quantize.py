"""Quantisation of a float network's products to int8."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType, i8
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...context import weights_of
from ...dialects import nn
from ...dialects.cl import target_of
from ...dialects.nn import Array, BinaryKind, Rounding
from ...errors import CloptError
from ...targets import needs_shifts
from ...weights import Weights
from .quantization.plan import QuantizationPlan, is_product, plan_of, site_names
from .quantization.scales import (
    LARGEST,
    clear_ranges,
    ranges_of,
    step_of,
    steps_of,
    weight_scale,
)

GLOBAL_SCALE = 8.0
"""The assumed largest magnitude of activations without measured ranges."""


@dataclass
class _Quantizing:
    """The rewriting of one network by its plan; `largest` is by the roots of the plan's sites."""

    function: func.FuncOp
    plan: QuantizationPlan
    largest: dict[SSAValue, float]
    per_channel: bool
    shifts: bool
    weights: Weights | None
    integers: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """The int8 form of each float that is dequantised from int8."""

    @property
    def block(self) -> Block:
        """Return the block of the network."""
        return self.function.body.block

    def run(self) -> list[SSAValue]:
        """Rewrite the network; return its sites as dequantised floats."""
        sites = [self._quantize(value) for value in self.plan.sites]
        moved = set(self.plan.moved)
        for op in list(self.block.ops):
            if op.results and op.results[0] in moved:
                self._move(op)
        for op in self.plan.readers:
            if is_product(op):
                self._quantize_weights(op)
        return sites

    def scale(self, value: SSAValue) -> float:
        """Return the step of a value's int8 form."""
        return step_of(self.largest[self.plan.root(value)], self.shifts)

    def _quantize(self, value: SSAValue) -> SSAValue:
        """Round a value; all readers except results of the network read the dequantised value."""
        users = [use for use in value.uses if not isinstance(use.operation, func.ReturnOp)]
        owner = value.owner
        point = (
            InsertPoint.after(owner)
            if isinstance(owner, Operation)
            else InsertPoint.at_start(self.block)
        )
        scale = nn.ConstantOp.from_array(np.array(self.scale(value), np.float32))
        zero = nn.ConstantOp.from_array(np.array(0, np.int8))
        rounding = Rounding.HALF_UP if self.shifts else Rounding.HALF_EVEN
        rounded = nn.QuantizeOp(value, scale.result, zero.result, rounding)
        back = nn.DequantizeOp(rounded.result, scale.result, zero.result)
        if value.name_hint:
            rounded.result.name_hint = f"{value.name_hint}_int8"
        self._insert((scale, zero, rounded, back), point, owner)
        for use in users:
            use.operation.operands[use.index] = back.result
        self.integers[back.result] = rounded.result
        return back.result

    def _move(self, op: Operation) -> None:
        """Replace a data movement by the same one on int8."""
        (value,) = op.results
        moved = type(op).create(
            operands=[self.integers[operand] for operand in op.operands],
            properties=dict(op.properties),
            attributes=dict(op.attributes),
            result_types=[TensorType(i8, nn.shape_of(value))],
        )
        scale = nn.ConstantOp.from_array(np.array(self.scale(value), np.float32))
        zero = nn.ConstantOp.from_array(np.array(0, np.int8))
        back = nn.DequantizeOp(moved.results[0], scale.result, zero.result)
        moved.results[0].name_hint = value.name_hint
        self._insert((moved, scale, zero, back), InsertPoint.after(op), op)
        Rewriter.replace_op(op, [], [back.result])
        self.integers[back.result] = moved.results[0]

    def _quantize_weights(self, op: Operation) -> None:
        """Round the weights of a product, and its bias in steps of its sums."""
        at = next(i for i, v in enumerate(op.operands) if isinstance(v.owner, nn.ConstantOp))
        array = self._array(op.operands[at])
        if array is None:
            return
        kept = _kept_axis(op, at) if self.per_channel else None
        scale = weight_scale(array, kept, self.shifts)
        steps = steps_of(array, scale, LARGEST, np.int8)
        assert steps is not None
        op.operands[at] = self._constant(op, op.operands[at], steps, scale)
        source = self._step_of(op.operands[1 - at])
        if source is None:
            return
        sums = source * scale.astype(np.float64)
        if isinstance(op, nn.ConvolutionOp):
            if op.b is not None:
                self._quantize_bias(op, 2, sums.reshape(-1) if sums.ndim else sums)
        else:
            added = _added_constant(op)
            if added is not None:
                self._quantize_bias(*added, sums)

    def _step_of(self, value: SSAValue) -> float | None:
        """Return the scale of a value that is dequantised from int8, else None."""
        owner = value.owner
        scale = nn.constant_value(owner.scale) if isinstance(owner, nn.DequantizeOp) else None
        return None if scale is None else float(scale)

    def _quantize_bias(self, op: Operation, at: int, scale: Array) -> None:
        """Round a constant in steps of a product's sums if 32 bits can hold it."""
        array = self._array(op.operands[at])
        if array is None or np.broadcast_shapes(array.shape, scale.shape) != array.shape:
            return
        steps = steps_of(array, scale, 2**31 - 1, np.int32)
        if steps is not None:
            op.operands[at] = self._constant(op, op.operands[at], steps, scale)

    def _constant(self, user: Operation, old: SSAValue, steps: Array, scale: Array) -> SSAValue:
        """Return a dequantised constant of integers in place of a constant of floats."""
        made = nn.ConstantOp.from_array(steps, self.weights, nn.hint_of(old))
        step = nn.ConstantOp.from_array(scale.astype(np.float32), self.weights)
        zero = nn.ConstantOp.from_array(np.zeros((), steps.dtype))
        back = nn.DequantizeOp(made.result, step.result, zero.result)
        made.result.name_hint = old.name_hint
        self._insert((made, step, zero, back), InsertPoint.before(user), old.owner)
        return back.result

    def _array(self, value: SSAValue) -> Array | None:
        return nn.constant_value(value, self.weights)

    def _insert(
        self, ops: tuple[Operation, ...], point: InsertPoint, named: Operation | Block
    ) -> None:
        for op in ops:
            if isinstance(named, Operation):
                op.location = named.location
        Rewriter.insert_op(ops, point)


def _kept_axis(op: Operation, at: int) -> int | None:
    """Return the axis of a weight along which each sum can have its own scale, or None."""
    match op:
        case nn.ConvOp():
            return 0
        case nn.MatmulOp() if at == 1:
            rank = len(nn.shape_of(op.b))
            return rank - 1 if op.transpose_b is None else rank - 2
        case nn.MatmulOp():
            rank = len(nn.shape_of(op.a))
            return rank - 2 if op.transpose_a is None else rank - 1
        case _:
            return None


def _added_constant(op: Operation) -> tuple[Operation, int] | None:
    """Return the sum that alone reads a product, and the position of its constant, or None."""
    uses = list(op.results[0].uses)
    if len(uses) != 1:
        return None
    user = uses[0].operation
    if not isinstance(user, nn.BinaryOp) or user.kind.data is not BinaryKind.ADD:
        return None
    at = 1 - uses[0].index
    return (user, at) if isinstance(user.operands[at].owner, nn.ConstantOp) else None


@dataclass(frozen=True)
class NNQuantizePass(ModulePass):
    """Round the inputs of products with constant weights to int8: `nn.quantize`, `nn.dequantize`.

    Residual sums and averages between products read int8, too, and data movement handles int8
    directly; everything else stays float. Zero points are 0, and 127 steps reach the end of a
    range. With `shifts`, or if an accelerator of the target needs shifts, scales are powers of two
    and rounding is half up: rescaling is then a shift. Activations range from -128 to 127, weights
    from -127 to 127, and biases are i32 in steps of their product's sums. `per_channel` gives each
    output channel of a weight its own scale.

    The range of a value is measured (the attribute `nn.ranges` of the network), or else
    `global_scale`, the assumed largest magnitude of all values. Bodies of loops stay in floats.
    Runs after `simplify`.
    """

    name: ClassVar[str] = "nn-quantize"
    global_scale: float = GLOBAL_SCALE
    per_channel: bool = False
    shifts: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.global_scale) and self.global_scale > 0):
            raise ValueError(f"global_scale must be a positive number, got {self.global_scale}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        shifts = self.shifts or needs_shifts(target_of(op))
        for function in nn.entries_of(op):
            replace(self, shifts=shifts).quantize(function, weights_of(ctx, op))

    def quantize(self, function: func.FuncOp, weights: Weights | None) -> list[SSAValue]:
        """Quantise one network; return its sites as dequantised floats, in order."""
        plan = plan_of(function)
        largest = self._largest(function, plan)
        sites = _Quantizing(function, plan, largest, self.per_channel, self.shifts, weights).run()
        clear_ranges(function)
        return sites

    def _largest(self, function: func.FuncOp, plan: QuantizationPlan) -> dict[SSAValue, float]:
        """Return the largest magnitude of the sites that share a scale, by their root."""
        ranges = ranges_of(function)
        largest: dict[SSAValue, float] = {}
        for value, name in zip(plan.sites, site_names(function, plan), strict=True):
            if ranges is not None and name not in ranges:
                raise CloptError(
                    f"nn.ranges of @{function.sym_name.data} has no range for {name}; "
                    "calibrate this network again."
                )
            found = self.global_scale if ranges is None else ranges[name]
            if not math.isfinite(found):
                raise CloptError(
                    f"{name} reaches {found} on the calibration data; "
                    "leave out the inputs that overflow."
                )
            root = plan.root(value)
            largest[root] = max(largest.get(root, 0.0), found)
        return largest
