"""Lower a module to its fastest program whose intermediate results stay within a limit.

Under a limit, passes offer alternatives to their choices that take fewer bytes and more time. Only
the finished program shows its memory: fragmentation, values computed in place, shared buffers. So
an integer program (`memory_program.py`) selects the alternatives that bring all commands below the
limit, and the passes run again with these demands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from ..context import CloptContext
from ..decisions import Site, demand
from ..decisions.alternatives import Alternative, alternatives_of, request_alternatives
from ..decisions.choices import choice_of, choices_of, forget_choices, site_of
from ..dialects import nn, tir
from ..dialects.node_names import number_operations
from ..dialects.properties import text
from ..dialects.remarks import add_remarks
from ..errors import CloptError
from .memory_program import Option, cheapest
from .memory_times import ProgramTimes, times_of
from .memory_usage import MemoryUsage, Stored, usage_of

_MOST_NODES = 4
"""Longest list of node names in a message."""

_MOST_STEPS = 12
"""Most lowerings until a program is within the limit."""

_MOST_TRIALS = 4
"""Most lowerings to make a program within the limit faster."""

_FREE = 1e-3
"""Share of a program's time below which an estimated difference says nothing."""


def lower_within(
    ctx: CloptContext, module: ModuleOp, limit: int, lower: Callable[[], None]
) -> None:
    """Lower `module` with `lower` to planned programs of at most `limit` bytes of memory.

    The limit covers the arenas and intermediate results outside of them, not weights, inputs and
    outputs. If it cannot be met, raise CloptError with the smallest size that can.
    """
    if limit < 0:
        raise CloptError(f"a memory limit must be a number of bytes >= 0, got {limit:,}.")
    search = _Search(ctx, module, lower)
    plan = search.descend(limit)
    if plan.usage.bytes > limit:
        raise _impossible(plan.usage, limit)
    if plan.taken:
        plan = search.improve(plan, limit)
    search.finish()
    if plan.taken:
        add_remarks(module, [_remark(plan.taken.values(), search.longer(plan), limit)])


@dataclass(frozen=True, eq=False)
class _Plan:
    """The result of one lowering."""

    taken: Mapping[Site, Alternative]
    """The alternatives that were demanded and met."""
    offers: list[Alternative]
    usage: MemoryUsage
    times: ProgramTimes

    def next(self, limit: int, may_undo: bool) -> tuple[Mapping[Site, Alternative], bool]:
        """Return the alternatives that take the least time within a limit, by the estimates.

        If these exceed the limit, they do so by the least bytes, and the second result is false.
        """
        undone = list(self.taken.values()) if may_undo else []
        options = [*map(self._option, self.offers), *map(self._undone, undone)]
        selection = cheapest(self.usage, options, limit)
        taken = dict(self.taken)
        for number in selection.numbers:
            if number < len(self.offers):
                each = self.offers[number]
                taken[each.site] = _sum(taken.get(each.site), each)
            else:
                del taken[undone[number - len(self.offers)].site]
        return taken, selection.is_within

    def free(self) -> dict[Site, Alternative]:
        """Return alternatives that cost almost nothing, one for each site."""
        most = _FREE * self.times.total
        free = (each for each in self.offers if each.microseconds <= most)
        ordered = sorted(free, key=lambda each: each.microseconds, reverse=True)
        return {each.site: each for each in ordered if each.site not in self.taken}

    def _option(self, each: Alternative) -> Option:
        """Return what taking an alternative changes."""
        usage, commands = self.usage, self.usage.commands_of(each.operations)
        stored = usage.stored_of(each.operations, each.bytes)
        if not stored or (usage.has_arenas and not each.needed):
            saved = dict.fromkeys(commands, each.bytes - each.needed)
            return Option(each.site, each.microseconds, saved)
        entering = frozenset(replace(x, bytes=each.needed, shape=None) for x in stored)
        if usage.has_arenas:
            saved = dict.fromkeys(commands, -each.needed)
            return Option(each.site, each.microseconds, saved, frozenset(stored))
        entering = entering if each.needed else frozenset[Stored]()
        return Option(each.site, each.microseconds, {}, frozenset(stored), entering)

    def _undone(self, each: Alternative) -> Option:
        """Return what giving up an alternative changes."""
        usage, commands = self.usage, sorted(self.usage.commands_of(each.operations))
        if usage.has_arenas or not commands:
            everywhere = range(len(usage.live)) if each.needed else ()
            saved = dict.fromkeys(everywhere, -each.bytes)
            saved |= dict.fromkeys(commands, each.needed - each.bytes)
            return Option(each.site, -each.microseconds, saved)
        leaving = usage.stored_of(each.operations, each.needed)
        value = Stored(min(each.operations), each.bytes, commands[0], commands[-1])
        # Images of one size probably have one shape.
        alike = [x.shape for x in usage.stored if x.shape is not None and x.bytes == each.bytes]
        if each.needed and not alike:
            saved = dict.fromkeys(range(len(usage.live)), -each.bytes)
            return Option(each.site, -each.microseconds, saved, frozenset(leaving))
        shape = alike[0] if each.needed else None
        entering = frozenset([replace(value, shape=shape)])
        return Option(each.site, -each.microseconds, {}, frozenset(leaving), entering)


@dataclass
class _Search:
    """A module that is lowered repeatedly from its original state, with different demands."""

    ctx: CloptContext
    module: ModuleOp
    run: Callable[[], None]
    refused: set[Site] = field(default_factory=set[Site])
    """Sites whose alternatives conflict with others."""

    def __post_init__(self) -> None:
        networks = nn.networks_of(self.module)
        number_operations(chain.from_iterable(each.body.block.ops for each in networks))
        self.pristine = self.module.clone()
        self.demands = choices_of(self.module)
        """The demands of the user; None if no choices are to be noted."""
        self.last: _Plan | None = None
        """The plan that the module holds."""
        self.fastest: _Plan | None = None
        """The first plan, without alternatives."""
        self.shown: dict[tuple[Site, Attribute], float] = {}
        """The extra time of choices that finished programs showed."""

    def descend(self, limit: int) -> _Plan:
        """Return a plan within a limit, or the smallest plan."""
        plan, is_smallest = self._descend(self._lower({}), limit)
        if plan.usage.bytes > limit and not is_smallest:
            # Optimistic estimates led astray. The smallest plan does not depend on the limit.
            plan, _ = self._descend(self._lower({}), 0)
        return plan

    def _descend(self, plan: _Plan, limit: int) -> tuple[_Plan, bool]:
        """Take more and more alternatives; return the smallest plan found.

        Return also whether all estimates exceeded the limit, so that a limit of 0 gives that plan.
        """
        smallest, is_smallest = plan, True
        for _ in range(_MOST_STEPS):
            if plan.usage.bytes <= limit:
                break
            taken, is_within = plan.next(limit, may_undo=False)
            is_smallest = is_smallest and not is_within
            if _key(taken) == _key(plan.taken):
                break
            plan = self._try(taken, plan) or self._without_refused(plan)
            smallest = min(smallest, plan, key=lambda each: each.usage.bytes)
        return smallest, is_smallest

    def improve(self, plan: _Plan, limit: int) -> _Plan:
        """Return a plan that takes less time within a limit, if there is one; the module holds it.

        The finished program may leave room for alternatives that the estimates did not see, and
        its kernels' times differ from those estimates. So the first trial takes all alternatives
        that cost almost nothing, and later ones what the programs before showed to be fast.
        """
        best, tried = plan, {_key(plan.taken)}
        taken = {**plan.taken, **plan.free()}
        for _ in range(_MOST_TRIALS):
            if _key(taken) in tried:
                break
            tried.add(_key(taken))
            plan = self._try(taken, plan) or self._without_refused(plan)
            if plan.usage.bytes <= limit and plan.times.total < best.times.total:
                best = plan
            plan = self._corrected(plan)
            taken, _ = plan.next(limit, may_undo=True)
        return best if self.last is best else self._lower(best.taken)

    def _corrected(self, plan: _Plan) -> _Plan:
        """Return a plan with the times of alternatives that finished programs showed."""
        assert self.fastest is not None
        changes = self.fastest.times.changes(plan.times, plan.taken.values())
        self.shown |= {(each.site, each.choice): time for each, time in changes.items()}

        def corrected(each: Alternative) -> Alternative:
            before = plan.taken.get(each.site)
            time = self.shown.get((each.site, each.choice))
            if time is None:
                return each
            if before is not None and before.choice != each.choice:
                time -= self.shown.get((before.site, before.choice), before.microseconds)
            return replace(each, microseconds=time)

        taken = {site: corrected(each) for site, each in plan.taken.items()}
        return replace(plan, taken=taken, offers=list(map(corrected, plan.offers)))

    def longer(self, plan: _Plan) -> float:
        """Return the extra time of a plan's kernels, compared with the first one's."""
        assert self.fastest is not None
        return plan.times.total - self.fastest.times.total

    def finish(self) -> None:
        """Leave only the choices that the user wants."""
        forget_choices(self.module, self.demands)

    def _try(self, taken: Mapping[Site, Alternative], before: _Plan) -> _Plan | None:
        """Lower the module with some alternatives, or return None if they exclude each other."""
        try:
            return self._lower(taken)
        except CloptError:
            new = {site for site, each in taken.items() if before.taken.get(site) != each}
            if not new:
                raise
            self.refused |= new
            return None

    def _without_refused(self, plan: _Plan) -> _Plan:
        offers = [each for each in plan.offers if each.site not in self.refused]
        return replace(plan, offers=offers)

    def _lower(self, taken: Mapping[Site, Alternative]) -> _Plan:
        """Lower the module with some alternatives; it then holds this plan."""
        self.last, fresh = None, self.pristine.clone()
        self.module.attributes = fresh.attributes
        self.module.detach_region(0).drop_all_references()
        self.module.add_region(fresh.detach_region(0))
        if self.ctx.explanations is not None:
            self.ctx.explanations.clear()  # they describe the last plan alone
        demanded = [choice_of(site, each.choice) for site, each in taken.items()]
        demand(self.module, [*(self.demands or ()), *demanded])
        request_alternatives(self.module)
        self.run()
        waiting = {site_of(each) for each in choices_of(self.module) or () if not each.is_taken}
        met = {site: each for site, each in taken.items() if site not in waiting}
        fixed = self.refused | {site_of(each) for each in self.demands or ()}
        offers = [
            each
            for each in alternatives_of(self.module) or ()
            if each.site not in fixed and each.site.of_all not in fixed
        ]
        self.last = _Plan(met, offers, usage_of(self.module), times_of(self.module))
        self.fastest = self.fastest or self.last
        return self.last


def _sum(before: Alternative | None, after: Alternative) -> Alternative:
    """Return an alternative compared with the first choice of its site."""
    if before is None:
        return after
    return replace(
        after,
        bytes=before.bytes + after.bytes,
        needed=before.needed + after.needed,
        microseconds=before.microseconds + after.microseconds,
    )


def _key(taken: Mapping[Site, Alternative]) -> frozenset[tuple[Site, Attribute]]:
    return frozenset((site, each.choice) for site, each in taken.items())


def _impossible(usage: MemoryUsage, limit: int) -> CloptError:
    """Return the error for a limit that no plan meets."""
    node, *others = _quoted(usage.busiest)
    live = f", where results of {', '.join(others)} are also live" if others else ""
    return CloptError(
        f"the memory limit of {limit:,} bytes is too low: intermediate results need at least "
        f"{usage.bytes:,} bytes, at {node}{live}; raise the limit, use smaller inputs or "
        "--precision f16-storage."
    )


def _remark(taken: Iterable[Alternative], longer: float, limit: int) -> str:
    """Return the remark that lists the alternatives and the time that they cost."""
    slowest = sorted(taken, key=lambda each: (-each.microseconds, str(each.site)))
    names = [f"{each.nodes} ({each.site.kind.value} {_shown(each.choice)})" for each in slowest]
    shown = ", ".join(names[:_MOST_NODES])
    more = f" and {len(names) - _MOST_NODES} more" if len(names) > _MOST_NODES else ""
    time = f"an estimated {longer:.0f} us longer" if longer >= 0.5 else "no longer by the estimates"
    return (
        f"to keep intermediate results within {limit:,} bytes, these nodes use less memory and "
        f"take {time}: {shown}{more}"
    )


def _shown(choice: Attribute) -> str:
    """Return a choice in a few words: of a plan only the rule."""
    return choice.data.rule if isinstance(choice, tir.PlanAttr) else text(choice) or str(choice)


def _quoted(nodes: Iterable[str]) -> list[str]:
    """Return at most `_MOST_NODES` names, then the number of the others."""
    names = list(nodes)
    more = [f"{len(names) - _MOST_NODES} more nodes"] if len(names) > _MOST_NODES else []
    return [*names[:_MOST_NODES], *more]
