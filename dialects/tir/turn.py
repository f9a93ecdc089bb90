"""`tir.turn`: kernels that take turns in one launch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import (
    FlatSymbolRefAttrConstr,
    MemRefType,
    ModuleOp,
    SymbolRefAttr,
    i32,
)
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

if TYPE_CHECKING:
    from .func import FuncOp

COUNTERS = MemRefType(i32, [2, 16])
"""The type of the counters of a kernel with turns, each in a cache line of its own: shares of
work-items that were taken, and shares that are finished."""


@irdl_op_definition
class TurnOp(IRDLOperation):
    """All work-items of a kernel, once those of the turns before have finished.

    `tir.turn @conv_0(%x, %w, %y) : memref<…>, memref<…>, memref<…>`

    A `tir.func` with turns has nothing else. Its first parameter, an output, holds its `COUNTERS`,
    which must be zero before each launch. Its work-groups take shares of the kernels' work-items in
    order, from a counter. So a work-group only waits for others that are running, and any number of
    work-groups computes all work-items.
    """

    name = "tir.turn"
    kernel = prop_def(FlatSymbolRefAttrConstr)
    args = var_operand_def(MemRefType)
    assembly_format = "$kernel `(` $args `)` attr-dict `:` type($args)"

    def __init__(self, kernel: str, args: Sequence[SSAValue]):
        super().__init__(operands=[args], properties={"kernel": SymbolRefAttr(kernel)})

    @property
    def kernel_name(self) -> str:
        """Return the name of the kernel."""
        return self.kernel.root_reference.data


def turns_of(func: FuncOp) -> list[TurnOp]:
    """Return the turns of a kernel, which are none for most."""
    if not isinstance(func.body.block.first_op, TurnOp):
        return []
    return [op for op in func.body.block.ops if isinstance(op, TurnOp)]


def kernels_with_turns(module: ModuleOp) -> dict[FuncOp, list[TurnOp]]:
    """Return the kernels of a module that have turns."""
    from .func import FuncOp

    functions = (op for op in module.body.block.ops if isinstance(op, FuncOp))
    return {func: turns for func in functions if (turns := turns_of(func))}


def called_kernels(module: ModuleOp) -> set[str]:
    """Return the names of the kernels that run in turns only: nothing launches them."""
    return {turn.kernel_name for turns in kernels_with_turns(module).values() for turn in turns}


def verify_turns(func: FuncOp) -> None:
    """Verify that a kernel with turns has its counters and nothing else."""
    turns = turns_of(func)
    if not turns:
        if any(isinstance(op, TurnOp) for op in func.body.block.ops):
            raise VerifyException("a kernel with turns must have nothing else")
        return
    if len(turns) != sum(1 for _ in func.body.block.ops):
        raise VerifyException("a kernel with turns must have nothing else")
    if not func.params or func.params[0].type != COUNTERS or 0 not in func.output_indices:
        raise VerifyException(f"the first parameter of turns must be an output of type {COUNTERS}")
