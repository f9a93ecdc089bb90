"""Kernels in given layouts, as keys of their measured times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import SSAValue

from ....dialects import nn
from ....dialects.nn import LayoutAttr
from .kernels import Work

MeasuredTimes: TypeAlias = Mapping[tuple[str, str], float]
"""Microseconds by `Variant.key` on one device; infinite for a kernel that does not run there."""


@dataclass(frozen=True)
class Variant:
    """A kernel with the layouts of all its operands and its result; None is plain."""

    work: Work
    operands: tuple[LayoutAttr | None, ...]
    """Layouts of the inputs of `work`; constants have the layout that suits the others."""
    result: LayoutAttr | None

    @property
    def layouts(self) -> str:
        """Return the layouts in words, without constants: `plain; [1 by 8] -> [1 by 8]`."""
        pairs = zip(self.work.inputs, self.operands, strict=True)
        words = [_words(layout) for value, layout in pairs if nn.constant_of(value) is None]
        return f"{'; '.join(words)} -> {_words(self.result)}"

    @property
    def key(self) -> tuple[str, str]:
        """Return a key of the computation and its layouts, independent of names."""
        return self.work.digest, self.layouts


def main_operand(work: Work, variables: Mapping[SSAValue, object]) -> SSAValue | None:
    """Return the operand whose layout affects a kernel's time most; None if all are constants.

    This is the operand that a contraction multiplies by its weights, else the first one.
    """
    operands = [value for value in work.inputs if value in variables]
    if work.contraction is not None and work.contraction.operands[0] in operands:
        return work.contraction.operands[0]
    return operands[0] if operands else None


def _words(layout: LayoutAttr | None) -> str:
    """Return a layout as it is printed, without the attribute's name."""
    return "plain" if layout is None else str(layout).removeprefix("#nn.layout<").removesuffix(">")
