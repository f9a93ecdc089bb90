"""The queue program of a compiled module."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ..dialects.cl import ProgramOp
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
