"""Lower a module to the fastest plan whose intermediate results stay within a limit.

The passes offer savings (`Thrift`): choices that take fewer bytes and more time than those that
they made. Where the finished program is above the limit, the cheapest savings that bring each of
its commands below are taken, and the passes run again, until nothing is above.
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
from .thrift import Saving, Thrift

_MOST_NODES = 4
"""The most nodes that a sentence names."""

_MOST_TRIALS = 6
"""Savings, those that cost most time, without which a plan is tried in the end."""


def lower_within(
    ctx: CloptContext, module: ModuleOp, limit: int, lower: Callable[[], None]
) -> None:
    """Let `lower` lower `module` to planned programs of at most `limit` bytes of memory.

    The limit is for the arenas and the intermediate results outside of them, not for weights,
    inputs and outputs. Raises CloptError, with the least that is possible, where that is more.
    """
    if limit < 0:
        raise CloptError(f"a memory limit is a number of bytes, not {limit:,}.")
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
        taken = _without_spare(plans, taken, limit)
    finally:
        ctx.thrift = None
    if taken:
        add_remarks(module, [_remark(taken, limit)])


@dataclass
class _Plans:
    """Lowers a module as often as is asked for, with other savings each time."""

    ctx: CloptContext
    module: ModuleOp
    run: Callable[[], None]

    def __post_init__(self) -> None:
        _name_nodes(self.module)
        self.pristine, self.explained = self.module.clone(), len(self.ctx.explanations)
        self.offers = frozenset[Saving]()
        """The savings that nothing was made of in the last plan."""

    def lower(self, taken: frozenset[Saving]) -> _Usage:
        """The memory of the plan with these savings, which is in the module from then on."""
        fresh = self.pristine.clone()
        self.module.attributes = fresh.attributes
        self.module.detach_region(0).drop_all_references()
        self.module.add_region(fresh.detach_region(0))
        # What is explained is explained of the last plan.
        del self.ctx.explanations[self.explained :]
        self.ctx.thrift = Thrift(taken)
        self.run()
        self.offers = frozenset(self.ctx.thrift.offers.values())
        programs = [op for op in self.module.ops if isinstance(op, cl.ProgramOp)]
        return max(map(_Usage, programs), key=lambda usage: usage.bytes)


def _name_nodes(module: ModuleOp) -> None:
    """Name the operations of networks that have no node, so that savings can tell them apart."""
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
        """All arenas, and what lies outside of them."""
        arenas = (op for op in self.program.body.block.ops if isinstance(op, cl.ArenaOp))
        return sum(byte_count(op.result.type) for op in arenas) + self._outside

    @cached_property
    def live(self) -> list[int]:
        """The bytes in use at each command; what lies in no arena is always there."""
        sizes: list[dict[Extent, int]] = [{} for _ in self._names]
        places = cl.parts(self.program)
        for value, life in self._lives.items():
            if not isinstance(value.owner, cl.AllocOp):
                place = extent(value, places[value])
                for time in range(life.first, life.last + 1):
                    # One that is computed in place of another has the same bytes.
                    sizes[time][place] = place.end - place.begin
        return [sum(each.values()) + self._outside for each in sizes]

    @cached_property
    def nodes(self) -> list[dict[str, None]]:
        """For each command its node, and those whose results are in memory."""
        found: list[dict[str, None]] = [{name: None} for name in self._names]
        for value, life in self._lives.items():
            is_always = isinstance(value.owner, cl.AllocOp)
            times = range(len(found)) if is_always else range(life.first, life.last + 1)
            for time in times:
                found[time][self._names[life.first]] = None
        return found

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
    """The cheapest offers that bring the commands below the limit, by their estimates.

    Where there are none for a command, the limit rises to what the command needs.
    """
    reachable = limit
    over = {time: live - limit for time, live in enumerate(usage.live) if live > limit}
    if not over:
        # The values are no problem, but their places are.
        over = {usage.live.index(max(usage.live)): usage.bytes - limit}
    found: set[Saving] = set()
    for time in sorted(over, key=lambda time: (-over[time], time)):
        helpful = [saving for saving in offers if saving.helps(usage.nodes[time])]
        needed = over[time] - sum(s.bytes for s in helpful if s in found)
        if needed > 0:
            found |= cheapest([saving for saving in helpful if saving not in found], needed)
        if not helpful:
            reachable = max(reachable, limit + over[time])
    return frozenset(found), reachable


def cheapest(offers: Iterable[Saving], needed: int) -> set[Saving]:
    """Offers of `needed` bytes together, or all: those with the least time for each byte first."""
    order = sorted(offers, key=lambda s: (s.microseconds / s.bytes, s.means.name, s.node))
    found: list[Saving] = []
    for saving in order:
        if sum(s.bytes for s in found) < needed:
            found.append(saving)
    for saving in _by_time(found):
        if sum(s.bytes for s in found) - saving.bytes >= needed:
            found.remove(saving)
    return set(found)


def _without_spare(plans: _Plans, taken: frozenset[Saving], limit: int) -> frozenset[Saving]:
    """The savings without those that the limit does not need; the plan with them is made."""
    kept, is_made = taken, True
    for saving in _by_time(taken)[:_MOST_TRIALS]:
        is_made = plans.lower(kept - {saving}).bytes <= limit
        if is_made:
            kept -= {saving}
    if not is_made:
        plans.lower(kept)
    return kept


def _by_time(savings: Iterable[Saving]) -> list[Saving]:
    return sorted(savings, key=lambda s: (-s.microseconds, s.means.name, s.node))


def _impossible(usage: _Usage, limit: int) -> CloptError:
    busiest = usage.live.index(max(usage.live))
    node, *others = _quoted(usage.nodes[busiest])
    live = f", where results of {', '.join(others)} are live, too" if others else ""
    return CloptError(
        f"the memory limit of {limit:,} bytes is too low: intermediate results need at least "
        f"{usage.bytes:,} bytes, at {node}{live}; raise the limit, use smaller inputs or "
        "--precision f16-storage."
    )


def _remark(taken: frozenset[Saving], limit: int) -> str:
    """What a plan gives for its memory."""
    names = [f"{saving.node} ({saving.means.value})" for saving in _by_time(taken)]
    shown = ", ".join(names[:_MOST_NODES])
    more = f" and {len(names) - _MOST_NODES} more" if len(names) > _MOST_NODES else ""
    time = sum(saving.microseconds for saving in taken)
    return (
        f"for at most {limit:,} bytes of intermediate results, these take less memory and, by the "
        f"model, {time:.0f} us longer: {shown}{more}"
    )


def _quoted(nodes: Iterable[str]) -> list[str]:
    names = list(nodes)
    more = [f"{len(names) - _MOST_NODES} more nodes"] if len(names) > _MOST_NODES else []
    return [*names[:_MOST_NODES], *more]
