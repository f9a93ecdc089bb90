"""Kernels in layouts, and what they took where somebody measured them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeAlias, cast

from xdsl.ir import SSAValue

from ....dialects.nn import LayoutAttr
from .kernels import Work

MeasuredTimes: TypeAlias = Mapping[str, float]
"""Microseconds by `Variant.key`, on one device."""


@dataclass(frozen=True)
class Variant:
    """A kernel with the layouts of all that it reads and writes; None is plain."""

    work: Work
    operands: tuple[LayoutAttr | None, ...]
    """Of the inputs of `work`. Those that are constants have the layout that suits the others."""
    result: LayoutAttr | None

    @property
    def key(self) -> str:
        """A number for what the kernel computes in these layouts, in which no names count."""
        rows, number = cast("tuple[tuple[object, ...], int]", self.work.key)
        layouts = [str(layout) for layout in (*self.operands, self.result)]
        text = "\n".join([*map(_text, rows), str(number), *layouts])
        return sha256(text.encode()).hexdigest()[:16]


def main_operand(work: Work, variables: Mapping[SSAValue, object]) -> SSAValue | None:
    """The operand on whose layout a kernel's time depends most; None if all are constants.

    It is the one that a contraction multiplies by its weights, else the first one.
    """
    operands = [value for value in work.inputs if value in variables]
    if work.contraction is not None and work.contraction.operands[0] in operands:
        return work.contraction.operands[0]
    return operands[0] if operands else None


def _text(part: object) -> str:
    """A part of a structure, the same in every process."""
    if isinstance(part, tuple):
        return f"({', '.join(map(_text, cast('tuple[object, ...]', part)))})"
    return str(part)
