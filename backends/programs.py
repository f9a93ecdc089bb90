"""The queue program of a compiled module, and the weights that it reads."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ..dialects import clml
from ..dialects.cl import ConstantOp, ProgramOp
from ..errors import CloptError


def program_of(module: ModuleOp) -> ProgramOp:
    """The one program of `module`; raises CloptError if it has none or several."""
    programs = [op for op in module.body.block.ops if isinstance(op, ProgramOp)]
    if len(programs) != 1:
        raise CloptError(
            f"A compiled module has one cl.program, this one has {len(programs)}; lower it with "
            "the pipeline opencl first."
        )
    return programs[0]


def weights_read(module: ModuleOp) -> set[str]:
    """The keys of the arrays that a compiled module's program and its graphs of CLML name."""
    readers = [op for op in module.body.block.ops if isinstance(op, ProgramOp | clml.GraphOp)]
    named = (op for reader in readers for op in reader.walk())
    return {op.key.data for op in named if isinstance(op, ConstantOp | clml.ConstantOp)}
