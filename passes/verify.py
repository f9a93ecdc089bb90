"""Verification between stages, so that a broken invariant is reported close to its cause."""

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
    """Also verify the operations in kernels."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        op.verify(verify_nested_ops=self.bodies)
        if self.bodies:
            return
        for child in op.body.block.ops:
            child.verify(verify_nested_ops=not isinstance(child, FuncOp))
