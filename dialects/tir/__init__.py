"""tir: kernels as loop nests over buffers with storage scopes; all OpenCL C comes from here."""

from __future__ import annotations

from xdsl.ir import Dialect

from .attributes import BOUND_AXIS, IterKind, LoopKind, LoopKindAttr, Scope, ScopeAttr
from .block import BlockOp, enclosing_block
from .ops import BarrierOp, CallOp, ForOp, FuncOp, enclosing_loops

__all__ = [
    "BOUND_AXIS",
    "TIR",
    "BarrierOp",
    "BlockOp",
    "CallOp",
    "ForOp",
    "FuncOp",
    "IterKind",
    "LoopKind",
    "LoopKindAttr",
    "Scope",
    "ScopeAttr",
    "enclosing_block",
    "enclosing_loops",
]

TIR = Dialect("tir", [FuncOp, ForOp, BlockOp, CallOp, BarrierOp], [ScopeAttr, LoopKindAttr])
