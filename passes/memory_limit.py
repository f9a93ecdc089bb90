"""Lower a module to its fastest plan whose intermediate results stay within a limit.

Passes offer savings to a `MemoryBudget`: alternatives to their choices that take fewer bytes and
more time. While the finished program exceeds the limit, the cheapest savings that bring each of its
commands below the limit are taken and the passes run again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import ModuleOp, NameLoc, NoneAttr, StringAttr, UnknownLoc
from xdsl.ir import SSAValue

from ..context import CloptContext
from ..dialects import cl, nn, tir
from ..dialects.cl.image_pool import image_objects
from ..dialects.cl.ops import byte_count
from ..dialects.cl.placement import Extent, extent
from ..dialects.remarks import add_remarks
from ..errors import CloptError
from .locations import node_name
from .memory_budget import MemoryBudget, Saving

_MOST_NODES = 4
"""Longest list of node names in a message."""

_MOST_TRIALS = 6
"""Number of savings, the slowest first, that are tentatively undone in the end; each trial lowers
the module once.
"""


def lower_within(
    ctx: CloptContext, module: ModuleOp, limit: int, lower: Callable[[], None]
) -> None:
    """Lower `module` with `lower` to planned programs of at most `limit` bytes of memory.

    The limit covers the arenas and intermediate results outside of them, not weights, inputs and
    outputs. If it cannot be met, raise CloptError with the smallest size that can.
    """
    if limit < 0:
        raise CloptError(f"a memory limit must be a number of bytes >= 0, got {limit:,}.")
    plans = _Plans(ctx, module, lower)
    taken, least = frozenset[Saving](), limit
    try:
        usage = plans.lower(taken)
        while usage.bytes > least:
            more, least = _more_savings(usage, plans.offers - taken, least)
            if more:
                taken |= more
                usage = plans.lower(taken)
        if least > limit:
            raise _impossible(usage, limit)
        taken = _without_superfluous(plans, taken, limit)
    finally:
        ctx.budget = None
    if taken:
        add_remarks(module, [_remark(taken, limit)])


@dataclass
class _Plans:
    """A module that is lowered repeatedly from its original state, with different savings."""

    ctx: CloptContext
    module: ModuleOp
    run: Callable[[], None]

    def __post_init__(self) -> None:
        _name_nodes(self.module)
        self.pristine = self.module.clone()
        self.offers = frozenset[Saving]()
        """The savings that the last plan did not make."""

    def lower(self, taken: frozenset[Saving]) -> _Usage:
        """Lower the module with the savings `taken`; return the largest program's memory.

        The module then holds this plan.
        """
        fresh = self.pristine.clone()
        self.module.attributes = fresh.attributes
        self.module.detach_region(0).drop_all_references()
        self.module.add_region(fresh.detach_region(0))
        if self.ctx.explanations is not None:
            self.ctx.explanations.clear()  # they describe the last plan alone
        self.ctx.budget = MemoryBudget(taken)
        self.run()
        self.offers = frozenset(self.ctx.budget.offers.values())
        programs = [op for op in self.module.ops if isinstance(op, cl.ProgramOp)]
        return max(map(_Usage, programs), key=lambda usage: usage.bytes)


def _name_nodes(module: ModuleOp) -> None:
    """Name the operations without a node name, so that savings can tell them apart."""
    for network in nn.networks_of(module):
        for number, op in enumerate(network.body.block.ops):
            if isinstance(op.location, UnknownLoc):
                op.location = NameLoc(StringAttr(f"{op.name} {number}"), NoneAttr())


@dataclass(frozen=True, eq=False)
class _Usage:
    """The memory that the intermediate results of a planned program use."""

    program: cl.ProgramOp

    @cached_property
    def bytes(self) -> int:
        """Return the bytes of all arenas and of the values outside of them."""
        arenas = (op for op in self.program.body.block.ops if isinstance(op, cl.ArenaOp))
        return sum(byte_count(op.result.type) for op in arenas) + self._outside

    @cached_property
    def live(self) -> list[int]:
        """Return the live bytes at each command; values outside of arenas are always live."""
        sizes: list[dict[Extent, int]] = [{} for _ in self._names]
        places = cl.parts(self.program)
        for value, life in self._lives.items():
            if not isinstance(value.owner, cl.AllocOp):
                place = extent(value, places[value])
                for time in range(life.first, life.last + 1):
                    # Values computed in place share one extent, which counts once.
                    sizes[time][place] = place.end - place.begin
        return [sum(extents.values()) + self._outside for extents in sizes]

    @cached_property
    def nodes(self) -> list[dict[str, None]]:
        """Return, for each command, its node and the nodes whose results are live there."""
        live: list[dict[str, None]] = [{name: None} for name in self._names]
        for value, life in self._lives.items():
            is_always = isinstance(value.owner, cl.AllocOp)
            times = range(len(live)) if is_always else range(life.first, life.last + 1)
            for time in times:
                live[time][self._names[life.first]] = None
        return live

    @cached_property
    def _names(self) -> list[str]:
        return [node_name(op) for op in cl.commands(self.program)]

    @cached_property
    def _lives(self) -> dict[SSAValue, cl.Lifetime]:
        return cl.lifetimes(self.program)

    @cached_property
    def _outside(self) -> int:
        ops = self.program.body.block.ops
        values = [op.result for op in ops if isinstance(op, cl.AllocOp)]
        images = [value for value in values if tir.is_texture(value.type)]
        shared = {n: byte_count(v.type) for v, n in image_objects(self.program, images).items()}
        buffers = sum(byte_count(value.type) for value in values if not tir.is_texture(value.type))
        return buffers + sum(shared.values())


def _more_savings(
    usage: _Usage, offers: frozenset[Saving], limit: int
) -> tuple[frozenset[Saving], int]:
    """Return the cheapest offers estimated to bring every command below `limit`, and a limit.

    The returned limit is raised to what a command needs if no offer helps that command.
    """
    reachable = limit
    over = {time: live - limit for time, live in enumerate(usage.live) if live > limit}
    if not over:
        # The live values fit; fragmentation of the arenas makes up the rest.
        over = {usage.live.index(max(usage.live)): usage.bytes - limit}
    chosen: set[Saving] = set()
    for time in sorted(over, key=lambda time: (-over[time], time)):
        helpful = [saving for saving in offers if saving.helps(usage.nodes[time])]
        needed = over[time] - sum(s.bytes for s in helpful if s in chosen)
        if needed > 0:
            chosen |= cheapest([saving for saving in helpful if saving not in chosen], needed)
        if not helpful:
            reachable = max(reachable, limit + over[time])
    return frozenset(chosen), reachable


def cheapest(offers: Iterable[Saving], needed: int) -> set[Saving]:
    """Return offers that save `needed` bytes together, or all if they do not suffice.

    Offers with the least time per byte come first; superfluous ones are then dropped.
    """
    order = sorted(offers, key=lambda s: (s.microseconds / s.bytes, s.kind.name, s.node))
    chosen: list[Saving] = []
    for saving in order:
        if sum(s.bytes for s in chosen) < needed:
            chosen.append(saving)
    for saving in _by_time(chosen):
        if sum(s.bytes for s in chosen) - saving.bytes >= needed:
            chosen.remove(saving)
    return set(chosen)


def _without_superfluous(plans: _Plans, taken: frozenset[Saving], limit: int) -> frozenset[Saving]:
    """Return `taken` without savings that the limit does not need, and leave that plan made."""
    kept, is_made = taken, True
    for saving in _by_time(taken)[:_MOST_TRIALS]:
        is_made = plans.lower(kept - {saving}).bytes <= limit
        if is_made:
            kept -= {saving}
    if not is_made:
        plans.lower(kept)
    return kept


def _by_time(savings: Iterable[Saving]) -> list[Saving]:
    """Return `savings`, the slowest first."""
    return sorted(savings, key=lambda s: (-s.microseconds, s.kind.name, s.node))


def _impossible(usage: _Usage, limit: int) -> CloptError:
    """Return the error for a limit that no plan meets."""
    busiest = usage.live.index(max(usage.live))
    node, *others = _quoted(usage.nodes[busiest])
    live = f", where results of {', '.join(others)} are also live" if others else ""
    return CloptError(
        f"the memory limit of {limit:,} bytes is too low: intermediate results need at least "
        f"{usage.bytes:,} bytes, at {node}{live}; raise the limit, use smaller inputs or "
        "--precision f16-storage."
    )


def _remark(taken: frozenset[Saving], limit: int) -> str:
    """Return the remark that lists the savings and the time that they cost."""
    names = [f"{saving.node} ({saving.kind.value})" for saving in _by_time(taken)]
    shown = ", ".join(names[:_MOST_NODES])
    more = f" and {len(names) - _MOST_NODES} more" if len(names) > _MOST_NODES else ""
    time = sum(saving.microseconds for saving in taken)
    return (
        f"to keep intermediate results within {limit:,} bytes, these nodes use less memory and "
        f"take an estimated {time:.0f} us longer: {shown}{more}"
    )


def _quoted(nodes: Iterable[str]) -> list[str]:
    """Return at most `_MOST_NODES` names, then the number of the others."""
    names = list(nodes)
    more = [f"{len(names) - _MOST_NODES} more nodes"] if len(names) > _MOST_NODES else []
    return [*names[:_MOST_NODES], *more]
