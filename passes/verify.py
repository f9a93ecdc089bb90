"""Check the module between stages, so that a broken invariant shows where it broke."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..dialects.tir import FuncOp


@dataclass(frozen=True)
class VerifyPass(ModulePass):
    """Run the verifiers of every operation."""

    name: ClassVar[str] = "verify"

    bodies: bool = True
    """Also those of operations in kernels."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        op.verify(verify_nested_ops=self.bodies)
        if self.bodies:
            return
        for each in op.body.block.ops:
            each.verify(verify_nested_ops=not isinstance(each, FuncOp))
