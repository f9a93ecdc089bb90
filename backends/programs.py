"""The queue program of a compiled module, and the weights that it reads."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ..dialects.cl import ConstantOp, ProgramOp
from ..dialects.offload import OffloadGraphOp
from ..errors import CloptError


def program_of(module: ModuleOp) -> ProgramOp:
    """The one program of `module`; raises CloptError if it has none or several."""
    programs = [op for op in module.body.block.ops if isinstance(op, ProgramOp)]
    if len(programs) != 1:
        remedy = (
            "keep one of its networks, each of which is a func.func of nn operations"
            if programs
            else "lower it with the pipeline opencl first"
        )
        raise CloptError(
            f"A compiled module has one cl.program, this one has {len(programs)}; {remedy}."
        )
    return programs[0]


def weights_read(module: ModuleOp) -> set[str]:
    """The keys of the arrays that a compiled module's program and graphs name."""
    keys: set[str] = set()
    for op in module.body.block.ops:
        if isinstance(op, ProgramOp):
            keys.update(each.key.data for each in op.walk() if isinstance(each, ConstantOp))
        elif isinstance(op, OffloadGraphOp):
            keys.update(op.weight_keys)
    return keys
