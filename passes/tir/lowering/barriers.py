"""Step 5: work-items of a group wait for each other between accesses to local memory."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import memref
from xdsl.ir import Block, Operation, SSAValue

from ....dialects.tir import BarrierOp, BlockOp, ForOp, FuncOp, LoopKind, Scope, ScopeAttr
from ..schedule.analysis import memref_of


@dataclass
class _Accesses:
    """The local buffers read and written since the last barrier."""

    reads: set[SSAValue] = field(default_factory=set[SSAValue])
    writes: set[SSAValue] = field(default_factory=set[SSAValue])

    def conflicts(self, later: _Accesses) -> bool:
        """Whether `later` must not overtake these."""
        return bool(self.writes & (later.reads | later.writes) or self.reads & later.writes)

    def add(self, other: _Accesses) -> None:
        self.reads |= other.reads
        self.writes |= other.writes


def insert_barriers(func: FuncOp) -> None:
    """Put a barrier between statements of which one writes local memory that the other touches.

    The iterations of a serial loop are statements after each other as well.
    """
    if any(isinstance(op, memref.AllocaOp) and _is_local(op.memref) for op in func.walk()):
        _visit(func.body.block, repeated=False)


def _visit(body: Block, repeated: bool) -> _Accesses:
    """Insert barriers into `body`; returns all that it accesses."""
    total, pending, leading = _Accesses(), _Accesses(), _Accesses()
    separated = False
    for op in list(body.ops):
        if isinstance(op, BarrierOp):
            pending, separated = _Accesses(), True
            continue
        current = _statement(op)
        if pending.conflicts(current):
            body.insert_op_before(BarrierOp(), op)
            pending, separated = _Accesses(), True
        pending.add(current)
        total.add(current)
        if not separated:
            leading.add(current)
    last = body.last_op
    if repeated and last is not None and pending.conflicts(leading if separated else pending):
        body.insert_op_after(BarrierOp(), last)
    return total


def _statement(op: Operation) -> _Accesses:
    if isinstance(op, ForOp):
        kind = op.kind.data
        once = op.size == 1 or kind.is_bound or kind is LoopKind.Vectorized
        return _visit(op.body.block, repeated=not once)
    found = _Accesses()
    if isinstance(op, BlockOp):
        found.reads.update(load.memref for load in op.loads() if _is_local(load.memref))
        found.writes.update(store.memref for store in op.stores() if _is_local(store.memref))
    return found


def _is_local(buffer: SSAValue) -> bool:
    return memref_of(buffer).memory_space == ScopeAttr(Scope.Local)
