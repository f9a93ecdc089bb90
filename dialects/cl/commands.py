"""The effects of queue commands on memory: the operands that they read and write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from .enqueue_offload import EnqueueOffloadOp
from .kernels import Kernel, kernels_of
from .ops import EnqueueCopyOp, EnqueueKernelOp, byte_count
from .repeat import RepeatOp, repeat_of

if TYPE_CHECKING:
    from .program import ProgramOp

Command: TypeAlias = EnqueueKernelOp | EnqueueCopyOp | EnqueueOffloadOp

ONE_COMMAND = "cl.one_command"
"""Attribute of consecutive commands that replace a single one; all have the same value."""


@dataclass(frozen=True)
class Access:
    """The operands that a command reads and writes, by position."""

    reads: tuple[int, ...]
    writes: tuple[int, ...]
    in_place: frozenset[tuple[int, int]] = frozenset()
    """Pairs of a read and a written operand that may share their bytes."""


def commands(program: ProgramOp) -> list[Command]:
    """Return the launches, copies and offload commands in queue order, repeated ones once."""
    return list(_commands(program.body.block))


def _commands(block: Block) -> Iterator[Command]:
    for op in block.ops:
        if isinstance(op, Command):
            yield op
        elif isinstance(op, RepeatOp):
            yield from _commands(op.body.block)


class Repetition(NamedTuple):
    """Commands that are repeated: those of a program from `first` up to `end`."""

    first: int
    end: int
    trips: int


def repetitions(queue: Sequence[Operation]) -> list[Repetition]:
    """Return the repeated parts of commands that are listed in queue order."""
    found: dict[RepeatOp, Repetition] = {}
    for number, op in enumerate(queue):
        if (repeat := repeat_of(op)) is not None:
            first = found[repeat].first if repeat in found else number
            found[repeat] = Repetition(first, number + 1, repeat.trip_count)
    return list(found.values())


def enqueued(program: ProgramOp) -> list[Command]:
    """Return the commands that reach the queue: without empty launches and copies of 0 bytes."""
    module = program.get_toplevel_object()
    assert isinstance(module, ModuleOp)
    kernels = kernels_of(module)
    return [op for op in commands(program) if not _is_empty(op, kernels)]


def _is_empty(op: Command, kernels: Mapping[str, Kernel]) -> bool:
    match op:
        case EnqueueKernelOp():
            return 0 in (kernels[op.kernel_name].global_size or ())
        case EnqueueCopyOp():
            return not byte_count(op.source.type)
        case EnqueueOffloadOp():
            return False


def access(op: Command, kernels: Mapping[str, Kernel]) -> Access:
    """Return how `op` accesses its operands; a launch does so as its kernel does."""
    match op:
        case EnqueueKernelOp():
            return access_of(kernels[op.kernel_name])
        case EnqueueCopyOp():
            return Access((0,), (1,))
        case EnqueueOffloadOp():
            count = len(op.reads)
            return Access(tuple(range(count)), tuple(range(count, len(op.operands))))


def access_of(kernel: Kernel) -> Access:
    """Return how a kernel accesses its arguments."""
    reads = (i for i in range(len(kernel.arg_types)) if i not in kernel.outputs)
    return Access(tuple(reads), tuple(sorted(kernel.outputs)), kernel.in_place)


def is_offloaded(program: ProgramOp) -> bool:
    """Return whether an accelerator computes a part of `program`."""
    return any(isinstance(op, EnqueueOffloadOp) for op in program.body.block.ops)
