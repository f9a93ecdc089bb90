"""The work of a program's commands: multiply-adds, and bytes between memory and device."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ...dialects import cl, tir
from ...dialects.cl.ops import byte_count
from ...passes.tir.work import kernel_work


@dataclass(frozen=True)
class ProfileWork:
    """The work of one command, in all iterations if it is repeated."""

    multiply_adds: int | None
    """Float operations; a sum and a product that only the sum uses count as one, and both branches
    of a condition count. None for a kernel with unknown loops, as in a saved program."""
    bytes: int
    """The size of each argument, counted once and limited to what the kernel accesses."""

    def times(self, count: int) -> ProfileWork:
        """Return the work of repeating the command."""
        adds = None if self.multiply_adds is None else self.multiply_adds * count
        return ProfileWork(adds, self.bytes * count)


def works_of(program: cl.ProgramOp, ops: list[cl.Command]) -> list[ProfileWork]:
    """Return the work of each command in `ops`."""
    module = program.parent_op()
    assert isinstance(module, ModuleOp), "a program is part of a module"
    functions = (op for op in module.ops if isinstance(op, tir.FuncOp))
    kernels = {function.sym_name.data: _of_kernel(function) for function in functions}
    for function, turns in tir.kernels_with_turns(module).items():
        taken = [kernels[turn.kernel_name] for turn in turns]
        adds = sum(work.multiply_adds or 0 for work in taken)
        kernels[function.sym_name.data] = ProfileWork(adds, sum(work.bytes for work in taken))
    graphs = cl.graphs_in(program)
    commands = {name: graph.commands for name, graph in graphs.items()}
    works: list[ProfileWork] = []
    for op in ops:
        match op:
            case cl.EnqueueKernelOp():
                size = sum(byte_count(argument.type) for argument in op.args)
                work = kernels.get(op.kernel_name, ProfileWork(None, size))
            case cl.EnqueueCopyOp():
                work = ProfileWork(0, 2 * byte_count(op.source.type))
            case cl.EnqueueOffloadOp():
                done = graphs[op.graph_name].work(commands[op.graph_name][op.index])
                work = ProfileWork(done.multiply_adds, done.bytes)
        works.append(work.times(cl.trips_of(op)))
    return works


def _of_kernel(function: tir.FuncOp) -> ProfileWork:
    work = kernel_work(function)
    return ProfileWork(work.multiply_adds, work.bytes)
