"""Texels that a stage reads through a reshape: their lanes are digits of several variables.

A detection head writes `[3 x 28 x 28, 85]` and reads texels of `3 x 85` channels: channel `(i
floordiv 784) * 85 + j`. One loop over `i floordiv 784` and `j` walks the channels in order, so that
a work-item reads a texel once and writes its four elements to their places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import memref
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineDimExpr,
    AffineExpr,
)

from .....dialects import tir
from .....dialects.tir import TEXEL
from .....dialects.tir.affine import Linear, constant_of, linear
from ...schedule import Schedule
from ...schedule.analysis import accesses, memref_of, temporary


@dataclass(frozen=True)
class Digit:
    """`(variable floordiv step) mod size`."""

    variable: int
    step: int
    size: int


@dataclass(frozen=True)
class ReshapedTexels:
    """The digits whose mixed-radix number is a channel, most significant first."""

    digits: tuple[Digit, ...]

    @property
    def channels(self) -> int:
        """How many channels there are."""
        return prod(digit.size for digit in self.digits)

    @property
    def is_ragged(self) -> bool:
        """Whether the last texel has lanes without a channel."""
        return self.channels % TEXEL != 0

    def _is_innermost(self, extents: Sequence[int]) -> bool:
        """Return whether neighbouring channels are neighbours in the last variable."""
        last = max((i for i, extent in enumerate(extents) if extent > 1), default=0)
        return self.digits[-1].variable == last and self.digits[-1].step == 1

    def sizes(self, extents: Sequence[int]) -> list[int]:
        """Return the sizes of the loops that `split` makes of loops of these extents."""
        by_variable = {digit.variable: digit for digit in self.digits}
        sizes: list[int] = []
        for variable, extent in enumerate(extents):
            digit = by_variable.get(variable)
            sizes += [extent] if digit is None else _around(digit, extent)
        texels = -(-self.channels // TEXEL)
        return [*sizes, texels] if self._is_innermost(extents) else [texels, *sizes]

    def split(
        self, schedule: Schedule, loops: Sequence[tir.ForOp]
    ) -> tuple[list[tir.ForOp], tir.ForOp]:
        """Order the loops of a stage so that one runs over texels; return these and the lanes."""
        extents = [loop.size for loop in loops]
        around, digits = list[tir.ForOp](), dict[Digit, tir.ForOp]()
        by_variable = {digit.variable: digit for digit in self.digits}
        for variable, loop in enumerate(loops):
            digit = by_variable.get(variable)
            if digit is None:
                around.append(loop)
                continue
            low = high = None
            if digit.step > 1:
                loop, low = schedule.split(loop, digit.step)
            if loop.size > digit.size:
                high, loop = schedule.split(loop, digit.size)
            around += [other for other in (high, low) if other is not None]
            digits[digit] = loop
        ordered = [digits[digit] for digit in self.digits]
        schedule.reorder(*around, *ordered)
        texels, lanes = schedule.split(schedule.fuse(*ordered, name="channel"), TEXEL)
        order = [*around, texels] if self._is_innermost(extents) else [texels, *around]
        return order, lanes


def _around(digit: Digit, extent: int) -> list[int]:
    """Return the sizes of the loops that splitting off a digit leaves, if they run repeatedly."""
    high = extent // (digit.step * digit.size)
    return [*([high] if high > 1 else []), *([digit.step] if digit.step > 1 else [])]


def view_of(block: tir.BlockOp) -> ReshapedTexels | None:
    """Return how a block that writes plain memory reads texels through a reshape, or None."""
    for buffer in dict.fromkeys(op.memref for op in block.loads()):
        if temporary(buffer) is not None or memref_of(buffer).get_shape()[-1:] != (TEXEL,):
            continue
        for op, indices in accesses(block, buffer):
            lane = indices[-1]
            if isinstance(op, memref.LoadOp) and lane is not None:
                channel = _channel(lane, block.iter_extents)
                if channel is not None:
                    return _view(channel, block.iter_extents)
    return None


def _channel(lane: AffineExpr, extents: Sequence[int]) -> Linear | None:
    """Return the channel if a lane is its remainder by 4, else None."""
    form = linear(lane, extents)
    (atom,) = form.terms if len(form.terms) == 1 else (None,)
    if form.constant or not isinstance(atom, AffineBinaryOpExpr) or form.terms[atom] != 1:
        return None
    is_lane = atom.kind is AffineBinaryOpKind.Mod and atom.rhs == AffineExpr.constant(TEXEL)
    return linear(atom.lhs, extents) if is_lane else None


def _view(channel: Linear, extents: Sequence[int]) -> ReshapedTexels | None:
    """Return the digits of a channel, or None if it has other terms."""
    weighted = [(weight, _digit(atom, extents)) for atom, weight in channel.terms.items()]
    digits: list[Digit] = []
    wanted = 1
    for weight, digit in sorted(weighted, key=lambda pair: pair[0]):
        if digit is None or weight != wanted:
            return None
        digits.insert(0, digit)
        wanted *= digit.size
    variables = {digit.variable for digit in digits}
    if channel.constant or not digits or len(variables) < len(digits):
        return None
    return ReshapedTexels(tuple(digits))


def _digit(atom: AffineExpr, extents: Sequence[int]) -> Digit | None:
    """Return the digit that an atom is if the variable divides into whole ones, else None."""
    step, size = 1, None
    if isinstance(atom, AffineBinaryOpExpr) and atom.kind is AffineBinaryOpKind.Mod:
        atom, size = atom.lhs, constant_of(atom.rhs)
    if isinstance(atom, AffineBinaryOpExpr) and atom.kind is AffineBinaryOpKind.FloorDiv:
        atom, step = atom.lhs, constant_of(atom.rhs)
    if not isinstance(atom, AffineDimExpr):
        return None
    extent = extents[atom.position]
    if size is None:
        size = extent // step
    return Digit(atom.position, step, size) if extent % (step * size) == 0 else None
