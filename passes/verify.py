"""Check the module, so that a broken invariant shows at the stage that broke it."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass


class VerifyPass(ModulePass):
    """Run the verifiers of every operation."""

    name = "verify"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        op.verify()
