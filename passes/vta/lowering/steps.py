"""What follows the sum of a layer, as steps of the ALU."""

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
    """Every element with a constant."""

    kind: AluKind
    value: int


@dataclass(frozen=True)
class AddBias:
    """Every element plus the value of its channel, which `bias` holds in tiles."""

    bias: SSAValue


@dataclass(frozen=True)
class AddTensor:
    """Every element plus that of other activations, shifted to the left."""

    tensor: SSAValue
    left_shift: int


Step: TypeAlias = Immediate | AddBias | AddTensor

COPY: tuple[Step, ...] = (Immediate(AluKind.MAX, LOW),)
"""An operation that changes no int8: only results of operations are stored."""


def requantize(layer: LayerOp, *, rounds: bool = True) -> list[Step]:
    """Round, shift and clip the sum of a layer; without `rounds` its bias has done the first."""
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
    """Return the steps behind the sums or elements of windows."""
    if isinstance(layer, SumPoolOp):
        return scaled(layer)
    is_plain = (layer.shift, layer.low, layer.high) == (0, LOW, HIGH)
    return [] if is_plain else requantize(layer)


def shift_right(amount: int) -> list[Step]:
    """Shift to the right, by up to 15 at a time."""
    parts = [MAX_SHR] * (amount // MAX_SHR) + [amount % MAX_SHR]
    return [Immediate(AluKind.SHR, part) for part in parts if part]


def shift_left(amount: int) -> list[Step]:
    """Shift to the left, by up to 16."""
    return [Immediate(AluKind.SHR, -amount)] if amount else []


def steps_behind(layer: LayerOp, operand: int) -> list[Step]:
    """Return the steps of an elementwise layer whose `operand` the accumulator holds."""
    if isinstance(layer, AddOp):
        other = layer.operands[1 - operand]
        shifts = layer.left_shifts
        sum_ = AddTensor(other, shifts[1 - operand])
        return [*shift_left(shifts[operand]), sum_, *requantize(layer)]
    assert isinstance(layer, ScaleOp)
    return scaled(layer)


def scaled(layer: ScaleOp | SumPoolOp) -> list[Step]:
    """Return the steps that multiply, add, and requantize."""
    steps: list[Step] = []
    if layer.multiplier != 1:
        steps.append(Immediate(AluKind.MUL, layer.multiplier))
    if layer.offset:
        steps.append(Immediate(AluKind.ADD, layer.offset))
    return [*steps, *requantize(layer)]
