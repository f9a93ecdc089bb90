"""`recall-choices`: gives a module the choices that were faster, from tuning databases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..decisions.database import Tuning
from ..decisions.recorded import recall
from ..dialects import cl


@dataclass(frozen=True)
class RecallChoicesPass(Tuning, ModulePass):
    """Give a module the choices that made networks faster, by tuning databases.

    They become the attribute `cl.recorded`. A pass that decides takes the recorded choice of a site
    if nothing is demanded and the site has it. Plans are not among them: `tir-choose-plan` reads
    these itself. A remark says if a choice was taken that another device measured than `device`.
    `places` lists databases that the user did not name: a mistake in one is a remark, not an error.
    """

    name: ClassVar[str] = "recall-choices"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = cl.target_of(op)
        recall(op, self.database(target), target, self.place)
