"""A profile computed from times that a device measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from ...dialects import cl, tir
from ...dialects.offload import OffloadGraphOp
from ..commands import names_of, title
from .values import COPY, KERNEL, Profile, ProfileRow, Roof, TimeSpan
from .work import works_of


class Timed(Protocol):
    """The time of a command, as a runtime reports it."""

    @property
    def start(self) -> int:
        """By the device's clock, in nanoseconds."""
        ...

    @property
    def nanoseconds(self) -> int:
        """The time from its start to its end."""
        ...


def profile_of(
    program: cl.ProgramOp, target: cl.Target, runs: Sequence[Sequence[Timed]]
) -> Profile:
    """Return the profile of a program that is part of a module, for `target`.

    Each of `runs` has one timing for each of `cl.enqueued(program)`.
    """
    ops = cl.enqueued(program)
    roof = Roof(
        target.machine.mads_per_nanosecond * target.device.compute_units, target.machine.bandwidth
    )
    spans = [[TimeSpan(timed.start, timed.nanoseconds) for timed in run] for run in runs]
    of_command = list(zip(*spans, strict=True)) or [() for _ in ops]
    fused = _fused_nodes(program)
    graphs = cl.graphs_in(program)
    rows = [
        ProfileRow(
            name=name,
            kind=_kind(op, graphs),
            node=title(op, name),
            fused=fused.get(name, ""),
            work=work,
            least=roof.nanoseconds(work),
            spans=times,
        )
        for op, name, work, times in zip(
            ops, names_of(program, ops), works_of(program, ops), of_command, strict=True
        )
    ]
    return Profile(tuple(rows), roof, len(runs))


def _kind(op: cl.Command, graphs: Mapping[str, OffloadGraphOp]) -> str:
    match op:
        case cl.EnqueueKernelOp():
            return KERNEL
        case cl.EnqueueCopyOp():
            return COPY
        case cl.EnqueueOffloadOp():
            return graphs[op.graph_name].ACCELERATOR


def _fused_nodes(program: cl.ProgramOp) -> dict[str, str]:
    """Return the comment of each kernel, which names the nodes in it."""
    block = program.parent_block()
    functions = (op for op in block.ops if isinstance(op, tir.FuncOp)) if block else ()
    return {op.sym_name.data: op.comment.data for op in functions if op.comment is not None}
