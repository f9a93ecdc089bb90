"""`cl.run`: one inference of a program of the module, in a function of any compiler."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import FlatSymbolRefAttrConstr, MemRefType, SymbolRefAttr
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, traits_def, var_operand_def
from xdsl.traits import (
    MemoryReadEffect,
    MemoryWriteEffect,
    SymbolTable,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from .program import ProgramOp


class _RunsProgram(SymbolUserOpInterface):
    """Verifies that a run binds each port of its program to a buffer of the port's type."""

    def verify(self, op: Operation) -> None:
        run = cast("RunOp", op)
        program = SymbolTable.lookup_symbol(op, run.program)
        if not isinstance(program, ProgramOp):
            raise VerifyException(f"the module has no cl.program @{run.program_name}")
        ports = program.ports
        if len(ports) != len(run.args):
            raise VerifyException(
                f"@{run.program_name} takes {len(ports)} buffers, inputs before outputs; the call "
                f"has {len(run.args)}"
            )
        for port, arg in zip(ports, run.args, strict=True):
            if arg.type != port.storage_type:
                raise VerifyException(
                    f'@{run.program_name} takes {port.storage_type} for "{port.name}", not '
                    f"{arg.type}"
                )


@irdl_op_definition
class RunOp(IRDLOperation):
    """Runs a program of the module on the caller's buffers: the inputs, then the outputs.

    `cl.run @main(%image, %result) : memref<1x3x16x16xf32>, memref<1x8x16x16xf32>`

    It appears in functions of any dialect, outside programs. The compiler of the function chooses
    the queue for the commands and must keep their order. After the operation, the outputs are valid
    for later commands of the same queue; the host must wait for the queue before it reads them.
    """

    name = "cl.run"
    program = prop_def(FlatSymbolRefAttrConstr)
    args = var_operand_def(MemRefType)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect(), _RunsProgram())
    assembly_format = "$program `(` $args `)` attr-dict (`:` type($args)^)?"

    def __init__(self, program: str, args: Sequence[SSAValue]):
        super().__init__(operands=[args], properties={"program": SymbolRefAttr(program)})

    @property
    def program_name(self) -> str:
        """Return the name of the program."""
        return self.program.root_reference.data
