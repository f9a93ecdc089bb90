"""Storage of a network's floats as half, and optionally contractions that accumulate in half."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, cast

import numpy as np
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import AnyFloat, FloatAttr, ModuleOp, TensorType, f16, f32
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...context import weights_of
from ...dialects import nn
from ...dialects.cl import target_of
from ...dialects.nn import Array, HalfRule
from ...dialects.remarks import add_remarks
from ...weights import Weights
from ..locations import node_name

PRECISIONS = ("f32", "f16-storage", "f16")

LARGEST_HALF = 65504.0
SMALLEST_HALF = 2.0**-14
"""The least positive number with all 11 bits of half precision (IEEE 754-2008, table 3.5)."""


def is_single(value: SSAValue) -> bool:
    """Return whether a value is a tensor of f32."""
    return isinstance(value.type, TensorType) and nn.tensor_type(value).element_type == f32


def misfit(values: Array) -> str | None:
    """Return why half cannot store an array, or None if it can.

    Small numbers may vanish next to larger ones: they add nothing to a sum that is rounded to half.
    """
    finite = np.abs(values[np.isfinite(values)])
    largest = float(finite.max(initial=0))
    if largest > LARGEST_HALF:
        return f"a constant reaches {largest:.3g}, which is beyond the range of half"
    if 0 < largest < SMALLEST_HALF:
        return f"a constant of at most {largest:.3g} would vanish in half"
    return None


@dataclass
class _Rewriting:
    """Replaces the operations of one block, in order, by operations on halves."""

    weights: Weights | None
    halves: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """The stored half behind each widened value."""
    rounded: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """The half of each f32 value that an operation on halves reads."""
    remarks: list[str] = field(default_factory=list[str])

    def run(self, block: Block) -> None:
        """Rewrite the operations of a block; the values that it returns stay f32."""
        for op in list(block.ops):
            if isinstance(op, nn.CastOp) and op.to == f16 and op.x in self.halves:
                Rewriter.replace_op(op, [], [self.halves[op.x]])
            elif isinstance(op, nn.NNOp) and self._becomes_half(op):
                self._replace(op)
        for source in (*self.halves, *self.rounded):
            owner = source.owner
            if isinstance(owner, nn.CastOp | nn.ConstantOp) and source.first_use is None:
                Rewriter.erase_op(owner)

    def _becomes_half(self, op: nn.NNOp) -> bool:
        floats = [value for value in op.operands if is_single(value)]
        rule = op.half_rule()
        if not floats or rule is HalfRule.SINGLE:
            return False
        if rule is not HalfRule.ROUNDS and _is_returned(op):
            # A kernel can read halves and store f32 at no cost; a final cast would be a kernel.
            return False
        computed = [v for v in floats if not isinstance(v.owner, nn.ConstantOp)]
        stored = [value in self.halves for value in computed]
        if (rule is HalfRule.FOLLOWS and not all(stored)) or (
            rule is HalfRule.JOINS and not any(stored)
        ):
            return False
        reasons = [misfit(array) for array in self._numbers(op, floats)]
        reason = next((text for text in reasons if text is not None), None)
        if reason is not None:
            self.remarks.append(f"{node_name(op)} stays in f32: {reason}.")
        return reason is None

    def _numbers(self, op: nn.NNOp, floats: Sequence[SSAValue]) -> list[Array]:
        """Return the constants of an operation that would become halves."""
        arrays = [nn.constant_value(value, self.weights) for value in floats]
        scalars = [_scalar(attr) for attr in op.properties.values()]
        numbers = [np.array(value) for value in scalars if value is not None]
        return [*(array for array in arrays if array is not None), *numbers]

    def _replace(self, op: nn.NNOp) -> None:
        """Replace an operation by the same one on halves, with results widened for f32 users."""
        properties = dict(op.properties)
        for name, attr in properties.items():
            value = _scalar(attr)
            properties[name] = attr if value is None else FloatAttr(value, f16)
        new = type(op).create(
            operands=[self._half(v, op) if is_single(v) else v for v in op.operands],
            properties=properties,
            attributes=dict(op.attributes),
            result_types=[_half_type(result) for result in op.results],
        )
        new.location = op.location
        results: list[SSAValue] = []
        widenings: list[Operation] = []
        for old, result in zip(op.results, new.results, strict=True):
            result.name_hint = old.name_hint
            if not is_single(old):
                results.append(result)
                continue
            wide = nn.CastOp(result, f32)
            wide.location = op.location
            widenings.append(wide)
            results.append(wide.result)
            self.halves[wide.result] = result
        Rewriter.replace_op(op, [new, *widenings], results)

    def _half(self, value: SSAValue, user: Operation) -> SSAValue:
        """Return a value as half: the stored one, or one rounding that all users share."""
        if value in self.halves:
            return self.halves[value]
        if value not in self.rounded:
            owner = value.owner
            rounding = self._rounding(value)
            rounding.location = (owner if isinstance(owner, Operation) else user).location
            if isinstance(owner, Operation):
                Rewriter.insert_op(rounding, InsertPoint.after(owner))
            else:
                Rewriter.insert_op(rounding, InsertPoint.at_start(owner))
            self.rounded[value] = rounding.results[0]
            rounding.results[0].name_hint = value.name_hint
        return self.rounded[value]

    def _rounding(self, value: SSAValue) -> Operation:
        array = nn.constant_value(value, self.weights)
        if array is None:
            return nn.CastOp(value, f16)
        half = array.astype(np.float16)
        return nn.ConstantOp.from_array(half, self.weights, nn.hint_of(value))


def _is_returned(op: Operation) -> bool:
    """Return whether only the function's return uses an operation."""
    users = [use.operation for result in op.results for use in result.uses]
    return bool(users) and all(isinstance(user, func.ReturnOp) for user in users)


def _scalar(attr: Attribute) -> float | None:
    """Return the value of a property of type f32, such as a bound of a clip, else None."""
    if not isinstance(attr, FloatAttr):
        return None
    typed = cast("FloatAttr[AnyFloat]", attr)
    return typed.value.data if typed.type == f32 else None


def _half_type(value: SSAValue) -> Attribute:
    return TensorType(f16, nn.shape_of(value)) if is_single(value) else value.type


@dataclass(frozen=True)
class NNMixedPrecisionPass(ModulePass):
    """Store the values and weights of an f32 network as half, by each operation's `nn.HalfRule`.

    `f16-storage` computes everything in float; `f16` lets contractions accumulate halves if the
    target can. Inputs and outputs stay f32. An operation stays in f32, with a remark, if half
    cannot store one of its constants.
    """

    name: ClassVar[str] = "nn-mixed-precision"
    precision: str = "f32"

    def __post_init__(self) -> None:
        if self.precision not in PRECISIONS:
            raise ValueError(
                f"precision must be one of {', '.join(PRECISIONS)}, not {self.precision}"
            )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.precision == "f32":
            return
        for function in nn.networks_of(op):
            rewriting = _Rewriting(weights_of(ctx, op))
            rewriting.run(function.body.block)
            add_remarks(op, rewriting.remarks)
        if self.precision == "f16":
            self._accumulate_in_half(op)

    def _accumulate_in_half(self, module: ModuleOp) -> None:
        target = target_of(module)
        if not target.device.fp16:
            text = (
                f"The target {target.name} has no half arithmetic: "
                "f16 is computed in float, as f16-storage."
            )
            add_remarks(module, [text])
            return
        for op in module.walk():
            if isinstance(op, nn.NNOp) and op.sums_halves():
                op.properties["accumulate"] = f16
