"""Islands: connected nn operations of a block that can run without a foreign operation between.

The foreign operations of a block keep their order. Every operation has a phase; the nn operations
of a phase run after its foreign operations and before those of the next phase. A foreign operation
is in a later phase than the nn operations that it reads. An nn operation is in no earlier phase
than its operands. If only nn operations of later phases read an nn operation, it moves to the
earliest of these phases, so that one fewer value leaves an island.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation

from ....dialects import nn
from ....errors import CloptError
from ...locations import node_name

_Phases = dict[Operation, int]


@dataclass(eq=False)
class Island:
    """Connected nn operations of one phase, in the order of their block."""

    phase: int
    ops: list[Operation] = field(default_factory=list[Operation])


def islands_between(block: Block) -> list[Operation | Island]:
    """Return the foreign operations and islands of a block in an executable order.

    Constants are islands of their own if foreign operations read them; other islands hold copies.
    """
    ops = list(block.ops)
    phases = _earliest_phases(block, ops)
    _join_readers(block, ops, phases)
    items: list[Operation | Island] = [op for op in ops if not nn.is_operation(op)]
    items += _islands(block, ops, phases)

    def place(item: Operation | Island) -> tuple[int, bool]:
        is_island = isinstance(item, Island)
        return (item.phase if isinstance(item, Island) else phases[item]), is_island

    return sorted(items, key=place)


def _earliest_phases(block: Block, ops: Sequence[Operation]) -> _Phases:
    """Return the first phase in which each operation can run."""
    phases: _Phases = {}
    foreign = 0
    for op in ops:
        sources = list(_sources(block, op))
        if any(source not in phases for source in sources):
            raise CloptError(f"{node_name(op)} reads a value that is defined after it.")
        if nn.is_operation(op):
            phases[op] = max((phases[source] for source in sources), default=0)
        else:
            read = (phases[source] + 1 for source in sources if nn.is_operation(source))
            phases[op] = foreign = max([foreign, *read])
    if (end := block.last_op) is not None and not nn.is_operation(end):
        phases[end] = max(phases.values()) + 1
    return phases


def _join_readers(block: Block, ops: Sequence[Operation], phases: _Phases) -> None:
    """Move nn operations to the phase of their first reader if that is an nn operation."""
    for op in reversed(ops):
        if not nn.is_operation(op):
            continue
        readers = set(_readers(block, op))
        joined = min((phases[reader] for reader in readers if nn.is_operation(reader)), default=0)
        foreign = (phases[reader] for reader in readers if not nn.is_operation(reader))
        if joined > phases[op] and joined < min(foreign, default=joined + 1):
            phases[op] = joined


def _islands(block: Block, ops: Sequence[Operation], phases: _Phases) -> list[Island]:
    """Return the connected nn operations of each phase, ordered by their first operations."""
    islands: dict[Operation, Island] = {}
    for op in ops:
        if isinstance(op, nn.ConstantOp):
            if any(not nn.is_operation(use.operation) for use in op.result.uses):
                islands[op] = Island(phases[op], [op])
        elif nn.is_operation(op):
            islands[op] = island = Island(phases[op], [op])
            for source in _sources(block, op):
                other = islands.get(source)
                is_constant = isinstance(source, nn.ConstantOp)
                if other is None or other is island or is_constant or other.phase != island.phase:
                    continue
                island.ops = other.ops + island.ops
                islands |= dict.fromkeys(other.ops, island)
    order = {op: i for i, op in enumerate(ops)}
    distinct = list(dict.fromkeys(islands.values()))
    for island in distinct:
        island.ops.sort(key=order.__getitem__)
    return sorted(distinct, key=lambda island: order[island.ops[0]])


def _sources(block: Block, op: Operation) -> Iterator[Operation]:
    """Yield the operations of a block whose results `op` reads, directly or in its regions."""
    for reader in [op] if nn.is_operation(op) else op.walk():
        for operand in reader.operands:
            source = operand.owner
            if isinstance(source, Operation) and source.parent is block:
                yield source


def _readers(block: Block, op: Operation) -> Iterator[Operation]:
    """Yield the operations of a block that read a result of `op`, directly or in their regions."""
    for result in op.results:
        for use in result.uses:
            reader = block.find_ancestor_op_in_block(use.operation)
            if reader is not None:
                yield reader
