"""Launches that may share a kernel: their work, and the memory they use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil

from xdsl.dialects import memref
from xdsl.dialects.builtin import NoneAttr
from xdsl.ir import Operation, SSAValue

from ....dialects import cl, tir
from ....dialects.cl.ops import byte_count
from ....dialects.cl.placement import Extent, extent
from ..schedule.analysis import memref_of
from ..work import kernel_work
from .bodies import items_of

_SLOWER = 2.0
"""Small kernels take twice the time that their multiply-adds take at the rate of large ones."""


@dataclass(frozen=True)
class Cost:
    """The estimated time of a kernel on the target."""

    microseconds: float
    """The total over all work-items, on one core."""
    items: int

    def elapsed(self, cores: int) -> float:
        """Return the microseconds from the first work-item to the last."""
        return self.microseconds * ceil(self.items / cores) / max(self.items, 1)


def cost_of(kernel: tir.FuncOp, target: cl.Target) -> Cost:
    """Return the cost of a lowered kernel."""
    work = kernel_work(kernel)
    arithmetic = _SLOWER * work.multiply_adds / (1e3 * target.machine.mads_per_nanosecond)
    return Cost(arithmetic + work.bytes / (1e3 * target.machine.bandwidth), items_of(kernel))


def is_eligible(kernel: tir.FuncOp) -> bool:
    """Return whether a kernel's work-items are independent and access only buffers."""
    return has_single_items(kernel) and all(map(_is_plain, kernel.params))


def has_single_items(kernel: tir.FuncOp) -> bool:
    """Return whether the work-groups of a lowered kernel are single, independent work-items."""
    if kernel.global_size is None or kernel.local_size is None:
        return False
    if any(size != 1 for size in kernel.local_size.iter_values()):
        return False
    for op in kernel.body.walk():
        if isinstance(op, tir.BarrierOp):
            return False
        if isinstance(op, tir.ForOp) and op.kind.data in (tir.LoopKind.Rolled, *_GROUPED):
            return False
    return True


_GROUPED = tuple(kind for kind in tir.LoopKind if kind.value.startswith(("group", "local")))


def _is_plain(param: SSAValue) -> bool:
    """Return whether all uses of a parameter load or store single elements of a buffer."""
    type_ = memref_of(param)
    return type_.memory_space == NoneAttr() == type_.layout and all(
        isinstance(use.operation, memref.LoadOp | memref.StoreOp) for use in param.uses
    )


@dataclass
class ProgramCommands:
    """The commands of a program in order, and the memory that they access."""

    program: cl.ProgramOp
    kernels: Mapping[str, cl.Kernel]

    def __post_init__(self) -> None:
        self.commands = cl.commands(self.program)
        self._parts = cl.parts(self.program)
        self._extents: dict[SSAValue, Extent] = {}
        self._constants = {
            op.result for op in self.program.body.block.ops if isinstance(op, cl.ConstantOp)
        }
        self._lives = cl.lifetimes(self.program)
        self._live = self._live_bytes()

    def place(self, value: SSAValue) -> Extent:
        """Return the extent of a value in memory; a row extends over its whole buffer."""
        if (row := cl.row_of(value)) is not None:
            value = row.source
        if value not in self._extents:
            self._extents[value] = extent(value, self._parts[value])
        return self._extents[value]

    def is_constant(self, value: SSAValue) -> bool:
        """Return whether a value is a constant."""
        return value in self._constants

    def conflict(self, first: cl.Command, second: cl.Command) -> bool:
        """Return whether one of two commands writes memory that the other accesses."""
        a, b = (cl.access(op, self.kernels) for op in (first, second))
        written, read = self._places(first, a.writes), self._places(first, a.reads)
        writes, reads = self._places(second, b.writes), self._places(second, b.reads)
        return _overlap(written, [*writes, *reads]) or _overlap(read, writes)

    def _places(self, op: Operation, operands: Iterable[int]) -> list[Extent]:
        return [self.place(op.operands[i]) for i in operands]

    def has_room(self, time: int, later: int) -> bool:
        """Return whether the launch at `later` can run at `time` without raising peak memory."""
        op = self.commands[later]
        fresh = {self._parts[value].root for value in op.operands}
        new = sum(
            _bytes(root)
            for root in fresh
            if root in self._lives and self._lives[root].first == later
        )
        return max(self._live[time:later]) + new <= max(self._live)

    def _live_bytes(self) -> list[int]:
        """Return the live bytes of intermediates at each command."""
        change = [0] * (len(self.commands) + 1)
        for root, life in self._lives.items():
            change[life.first] += _bytes(root)
            change[life.last + 1] -= _bytes(root)
        return list(accumulate(change[:-1]))


def _bytes(root: SSAValue) -> int:
    return byte_count(root.type)


def _overlap(some: Sequence[Extent], others: Sequence[Extent]) -> bool:
    return any(a.overlaps(b) for a in some for b in others)
