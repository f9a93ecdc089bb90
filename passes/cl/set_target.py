"""`cl-set-target`: record the device a module is compiled for."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...dialects.cl import set_target


@dataclass(frozen=True)
class CLSetTargetPass(ModulePass):
    """Attach the facts of the device family `device` to the module, for all later passes to read.

    What `clopt --target` does, for drivers that have no such option.
    """

    name = "cl-set-target"

    device: str

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from ...backends.targets import load_target

        set_target(op, load_target(self.device))
