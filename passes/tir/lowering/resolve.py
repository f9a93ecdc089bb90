"""The guards that a statement still needs at a place, and the ranges that decide them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from xdsl.ir import Operation

from ....dialects.tir import GRID, BarrierOp, BlockOp, ForOp
from .space import Guard, IterationDomain, IterationSpace


class Survey:
    """The blocks, guards, barriers and bound loops in each loop, collected in one walk."""

    def __init__(self, ops: Iterable[Operation], space: IterationSpace):
        self.space = space
        self.guards = space.guards
        self._blocks: dict[Operation, list[BlockOp]] = {}
        self._guarded: set[Operation] = set()
        self._barriers: set[Operation] = set()
        self._grids: set[Operation] = set()
        for op in ops:
            self._visit(op)

    def _visit(self, op: Operation) -> None:
        if isinstance(op, BlockOp):
            self._blocks[op] = [op]
            if self.guards[op]:
                self._guarded.add(op)
        elif isinstance(op, BarrierOp):
            self._barriers.add(op)
        elif isinstance(op, ForOp):
            blocks = self._blocks[op] = []
            if op.kind.data in GRID:
                self._grids.add(op)
            for child in op.body.block.ops:
                self._visit(child)
                blocks += self._blocks.get(child, ())
                for group in (self._guarded, self._barriers, self._grids):
                    if child in group:
                        group.add(op)

    def blocks(self, op: Operation) -> list[BlockOp]:
        """Return the blocks below `op`."""
        return self._blocks.get(op, [])

    def holds_barrier(self, ops: Iterable[Operation]) -> bool:
        """Return whether a barrier is among or below `ops`."""
        return any(op in self._barriers for op in ops)

    def holds_grid(self, ops: Iterable[Operation]) -> bool:
        """Return whether a loop over groups or global indices is among or below `ops`."""
        return any(op in self._grids for op in ops)

    def open(self, ops: Iterable[Operation], domain: IterationDomain) -> list[Guard]:
        """Return the guards below `ops` that are neither always true nor always false."""
        found = {
            guard: None
            for op in ops
            if op in self._guarded
            for block in self._blocks[op]
            for guard in self.guards[block]
        }
        return [guard for guard in found if domain.holds(guard) is None]

    def dead(self, op: Operation, domain: IterationDomain) -> bool:
        """Return whether no block below `op` has a point to execute."""
        return op in self._guarded and all(
            self.space.dead(block, domain) for block in self._blocks[op]
        )

    def shared(self, ops: Sequence[Operation], domain: IterationDomain) -> list[Guard]:
        """Return the open guards that all live blocks below `ops` have in common."""
        if not any(op in self._guarded for op in ops):
            return []
        common: dict[Guard, None] | None = None
        for op in ops:
            for block in self._blocks.get(op, ()):
                if self.space.dead(block, domain):
                    continue
                own = self.guards[block]
                if common is None:
                    common = dict.fromkeys(own)
                else:
                    common = {guard: None for guard in common if guard in own}
        return [guard for guard in common or () if domain.holds(guard) is None]


def alive(
    blocks: Sequence[BlockOp], space: IterationSpace, dim: int, domain: IterationDomain
) -> tuple[int, int]:
    """Return the range of `dim` without the ends at which no block has work."""

    def dead(first: int, end: int) -> bool:
        part = domain.narrow(dim, first, end)
        return all(space.dead(block, part) for block in blocks)

    first, end = domain.ranges[dim]
    if dead(first, end):
        return first, first
    last = _least(first + 1, end, lambda x: dead(x, end))
    start = _least(first, last - 1, lambda x: not dead(first, x + 1))
    return start, last


def safe(guards: Iterable[Guard], dim: int, domain: IterationDomain) -> tuple[int, int]:
    """Return the range of `dim` in which `guards` hold for all values of the other dimensions.

    A guard that holds at neither end of the range is skipped, since `dim` cannot decide it. The
    range is empty if `dim` decides no guard or if the guards exclude each other.
    """
    first, end = domain.ranges[dim]
    start, stop = first, end
    decided = False
    for guard in guards:
        if domain.narrow(dim, first, first + 1).holds(guard):
            decided = True
            stop = min(
                stop,
                _least(first + 1, end, lambda x, g=guard: not _holds(g, dim, domain, first, x + 1)),
            )
        elif domain.narrow(dim, end - 1, end).holds(guard):
            decided = True
            start = max(
                start, _least(first, end - 1, lambda x, g=guard: _holds(g, dim, domain, x, end))
            )
    return (start, stop) if decided else (first, first)


def _holds(guard: Guard, dim: int, domain: IterationDomain, first: int, end: int) -> bool:
    return domain.narrow(dim, first, end).holds(guard) is True


def _least(first: int, end: int, wanted: Callable[[int], bool]) -> int:
    """Return the least value in `[first, end)` for which `wanted` holds, else `end`.

    `wanted` must be monotonic.
    """
    while first < end:
        middle = (first + end) // 2
        if wanted(middle):
            end = middle
        else:
            first = middle + 1
    return first
