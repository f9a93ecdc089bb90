"""Names of the commands of a program for reports."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from ..dialects import cl
from ..passes.locations import node_name


def names_of(program: cl.ProgramOp, ops: Sequence[cl.Command]) -> list[str]:
    """Return the name of each command: a kernel, a copy, `toy.product @toy_0[3]`."""
    graphs = {name: graph.commands for name, graph in cl.graphs_in(program).items()}
    names: list[str] = []
    for op in ops:
        match op:
            case cl.EnqueueKernelOp():
                names.append(op.kernel_name)
            case cl.EnqueueCopyOp():
                names.append("copy")
            case cl.EnqueueOffloadOp():
                command = graphs[op.graph_name][op.index]
                names.append(f"{command.name} @{op.graph_name}[{op.index}]")
    return names


def title(op: Operation, kernel: str) -> str:
    """Return the name of a command's node, or else of its kernel."""
    name = node_name(op)
    return kernel if name == op.name else name
