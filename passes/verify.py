"""Check the module between stages, so that a broken invariant shows where it broke."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass


class VerifyPass(ModulePass):
    """Run the verifiers of every operation."""

    name = "verify"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        op.verify()
