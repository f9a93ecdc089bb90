"""ALU steps on the sum of a layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import SSAValue

from ....dialects.vta import (
    AddOp,
    AluKind,
    LayerOp,
    PoolOp,
    ScaleOp,
    SumPoolOp,
    UpsampleOp,
)
from ....dialects.vta.layers import HIGH, LOW

MAX_SHR = 15


@dataclass(frozen=True)
class Immediate:
    """An ALU operation on every element, with a constant."""

    kind: AluKind
    value: int


@dataclass(frozen=True)
class AddBias:
    """The addition of a bias, stored in tiles, to every element of its channel."""

    bias: SSAValue


@dataclass(frozen=True)
class AddTensor:
    """The addition of another tensor, shifted left, to every element."""

    tensor: SSAValue
    left_shift: int


Step: TypeAlias = Immediate | AddBias | AddTensor

COPY: tuple[Step, ...] = (Immediate(AluKind.MAX, LOW),)
"""An operation that leaves int8 values unchanged: only results of operations can be stored."""


def requantize(layer: LayerOp, *, rounds: bool = True) -> list[Step]:
    """Return the steps that round, shift and clip a sum.

    Without `rounds`, the bias already includes the rounding constant.
    """
    shift = layer.shift
    steps: list[Step] = []
    if rounds and shift > MAX_SHR:
        # (x + 2^(n-1)) >> n is ((x >> (n-1)) + 1) >> 1, whose constant is an immediate.
        steps, shift = [*shift_right(shift - 1), Immediate(AluKind.ADD, 1)], 1
    elif rounds and shift:
        steps = [Immediate(AluKind.ADD, 1 << shift - 1)]
    bounds = [Immediate(AluKind.MAX, layer.low), Immediate(AluKind.MIN, layer.high)]
    return [*steps, *shift_right(shift), *bounds]


def behind_window(layer: PoolOp | UpsampleOp) -> list[Step]:
    """Return the steps after the sums or elements of windows."""
    if isinstance(layer, SumPoolOp):
        return scaled(layer)
    is_plain = (layer.shift, layer.low, layer.high) == (0, LOW, HIGH)
    return [] if is_plain else requantize(layer)


def shift_right(amount: int) -> list[Step]:
    """Return steps that shift right, by up to 15 each."""
    parts = [MAX_SHR] * (amount // MAX_SHR) + [amount % MAX_SHR]
    return [Immediate(AluKind.SHR, part) for part in parts if part]


def shift_left(amount: int) -> list[Step]:
    """Return a step that shifts left by up to 16."""
    return [Immediate(AluKind.SHR, -amount)] if amount else []


def steps_behind(layer: LayerOp, operand: int) -> list[Step]:
    """Return the steps of an elementwise layer whose `operand` is in the accumulator."""
    if isinstance(layer, AddOp):
        other = layer.operands[1 - operand]
        shifts = layer.left_shifts
        sum_ = AddTensor(other, shifts[1 - operand])
        return [*shift_left(shifts[operand]), sum_, *requantize(layer)]
    assert isinstance(layer, ScaleOp)
    return scaled(layer)


def scaled(layer: ScaleOp | SumPoolOp) -> list[Step]:
    """Return the steps that multiply, add and requantize."""
    steps: list[Step] = []
    if layer.multiplier != 1:
        steps.append(Immediate(AluKind.MUL, layer.multiplier))
    if layer.offset:
        steps.append(Immediate(AluKind.ADD, layer.offset))
    return [*steps, *requantize(layer)]
