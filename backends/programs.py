"""The queue program of a compiled module, and the weights that it reads."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ..dialects.cl import (
    ConstantOp,
    EnqueueKernelOp,
    KernelOp,
    ProgramOp,
    RepeatOp,
    commands,
    graphs_in,
)
from ..dialects.offload import OffloadGraphOp
from ..dialects.tir import FuncOp, kernels_with_turns
from ..errors import CloptError


def program_of(module: ModuleOp) -> ProgramOp:
    """Return the only program of `module`; raise CloptError if it has none or several."""
    programs = [op for op in module.body.block.ops if isinstance(op, ProgramOp)]
    if len(programs) != 1:
        remedy = (
            "keep one of its networks, each of which is a func.func of nn operations"
            if programs
            else "lower it with the pipeline opencl first"
        )
        raise CloptError(
            f"A compiled module has one cl.program, but this has {len(programs)}; {remedy}."
        )
    return programs[0]


def refuse_repetitions(program: ProgramOp, what: str) -> None:
    """Raise CloptError for a program with a repetition, which `what` cannot express."""
    if any(isinstance(op, RepeatOp) for op in program.body.block.ops):
        raise CloptError(
            f"@{program.sym_name.data} repeats commands for a loop of the network, which {what} do "
            "not support yet; run it from Python."
        )


def program_alone(program: ProgramOp) -> ModuleOp:
    """Return a module with only `program` and what it launches, as backends expect it."""
    module = program.parent_op()
    assert isinstance(module, ModuleOp)
    names = {op.kernel_name for op in commands(program) if isinstance(op, EnqueueKernelOp)}
    names |= graphs_in(program).keys()
    for func, turns in kernels_with_turns(module).items():
        if func.sym_name.data in names:
            names |= {turn.kernel_name for turn in turns}
    kept = (
        op
        for op in module.body.block.ops
        if op is program
        or (isinstance(op, FuncOp | KernelOp | OffloadGraphOp) and op.sym_name.data in names)
    )
    return ModuleOp([op.clone() for op in kept], dict(module.attributes))


def weights_read(module: ModuleOp) -> set[str]:
    """Return the keys of the arrays that a compiled module's program and graphs name."""
    keys: set[str] = set()
    for op in module.body.block.ops:
        if isinstance(op, ProgramOp):
            keys.update(inner.key.data for inner in op.walk() if isinstance(inner, ConstantOp))
        elif isinstance(op, OffloadGraphOp):
            keys.update(op.weight_keys)
    return keys
