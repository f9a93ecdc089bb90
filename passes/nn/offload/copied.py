"""A copy of a function in which an accelerator finds matches, while the original is rewritten."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from xdsl.dialects import func
from xdsl.ir import Operation

from ..forms import Forms
from .matches import Match, inputs_of


@dataclass
class Copied:
    """A copy of `original`, which may be rewritten afterwards."""

    original: func.FuncOp
    function: func.FuncOp = field(init=False)
    """The copy, in which matches are found."""

    def __post_init__(self) -> None:
        self.function = self.original.clone()
        ops = zip(self.function.body.block.ops, self.original.body.block.ops, strict=True)
        self._original_of: dict[Operation, Operation] = dict(ops)

    def in_function(self, matches: Iterable[Match], forms: Forms) -> list[Match]:
        """Return matches of the copy as matches of the original in its new form."""
        rewritten = forms.of(self.original)
        mapped: list[Match] = []
        for match in matches:
            ops = tuple(op for old in match.ops for op in rewritten[self._original_of[old]])
            mapped.append(replace(match, ops=ops, inputs=inputs_of(ops), rewritten=match.ops))
        return mapped
