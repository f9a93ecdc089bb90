"""`clopt -t plans`: the plans of a module's kernels as a file, to store, edit and read back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from ..dialects import cl, tir
from ..errors import CloptError
from ..passes.tir.plan_file import Entry, entry_of, plan_text
from ..passes.tir.rules.stages import is_naive


@dataclass(frozen=True)
class PlansTarget(Target):
    """Prints a file of plans: those that `tir-choose-plan` chose, before they are carried out.

    Raises CloptError for a module without such plans.
    """

    name = "plans"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(plan_text(_entries(module)))


def _entries(module: ModuleOp) -> Iterator[Entry]:
    kernels = [op for op in module.ops if isinstance(op, tir.FuncOp) and op.plan is not None]
    if not all(map(is_naive, kernels)) or not kernels:
        raise CloptError(
            "the module has no pending plans; run the passes up to "
            "tir-choose-plan, as in -p simplify,fuse,lower,tir-choose-plan -t plans."
        )
    target = cl.target_of(module)
    return (entry_of(kernel, target) for kernel in kernels)
