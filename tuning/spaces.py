"""The plans that a tuner tries: points of the spaces of all rules that fit a kernel."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import factorial
from random import Random
from typing import Any

from ..dialects import cl, tir
from ..passes.tir.rules import rules
from ..passes.tir.rules.fallback import FALLBACK
from ..passes.tir.rules.naive_kernel import NaiveKernel
from ..passes.tir.rules.plans import default_plan, plan_of
from ..passes.tir.rules.rule import Rule
from ..passes.tir.rules.space import Order, Parameter, Params, Space, Value

_LISTED = 5040
"""Domains with more values than this, the orders of eight loops, are sampled without a list."""


@dataclass(frozen=True)
class Candidate:
    """A plan, with its cost by the model of its rule."""

    plan: tir.Plan
    cost: float | None = None
    """In units that compare plans of one rule for one kernel."""

    @property
    def key(self) -> str:
        """The plan as text; equal plans have equal keys."""
        return str(tir.PlanAttr(self.plan))


class PlanSpace:
    """The plans of one naive kernel on a target."""

    def __init__(self, kernel: tir.FuncOp, target: cl.Target) -> None:
        naive = NaiveKernel(kernel)
        fits = [(rule, rule.space(naive, target)) for rule in rules()]
        spaces: dict[str, tuple[Rule[Any], Space[Any]]] = {
            rule.name: (rule, space) for rule, space in fits if isinstance(space, Space)
        }
        default = default_plan(kernel, target).data
        # The rule for everything computes stages anew wherever they are read: it may take minutes.
        self._spaces = {
            name: space
            for name, space in spaces.items()
            if name != FALLBACK.name or name == default.rule
        }
        self._values: dict[tuple[str, tuple[Value, ...]], list[Value]] = {}
        self.default = self._candidate_of(default)

    @property
    def rules(self) -> list[str]:
        """The rules that fit, in the order in which the compiler tries them."""
        return list(self._spaces)

    def defaults(self) -> list[Candidate]:
        """Return the default of the kernel, then those of the other rules."""
        others = [rule.default(space) for rule, space in self._spaces.values()]
        found = [self._made(name, point) for name, point in zip(self._spaces, others, strict=True)]
        return [self.default, *(each for each in found if each.key != self.default.key)]

    def random(self, rng: Random, rules: Collection[str] = ()) -> Candidate:
        """Return a random plan of one of these rules, or of any rule if none is named."""
        name = rng.choice([each for each in self._spaces if each in (rules or self._spaces)])
        return self._made(name, self._completed(name, {}, rng))

    def mutated(self, plan: tir.Plan, rng: Random) -> Candidate:
        """Return a plan with one parameter changed; later ones keep their values if possible."""
        _, space = self._spaces[plan.rule]
        if not space.parameters:
            return self.random(rng)
        changed = rng.randrange(len(space.parameters))
        return self._near(plan.rule, plan.parameters, rng, changed)

    def crossed(self, first: tir.Plan, second: tir.Plan, rng: Random) -> Candidate:
        """Return a mix of two plans' parameters; mutate the first if their rules differ."""
        if first.rule != second.rule:
            return self.mutated(first, rng)
        wanted = {
            name: rng.choice((value, second.parameters.get(name, value)))
            for name, value in first.parameters.items()
        }
        return self._near(first.rule, wanted, rng)

    def _near(
        self,
        name: str,
        wanted: Mapping[str, Value],
        rng: Random,
        changed: int | None = None,
    ) -> Candidate:
        """Return a point with the wanted values if they are in their domains, except `changed`."""
        _, space = self._spaces[name]
        chosen: dict[str, Value] = {}
        for i, parameter in enumerate(space.parameters):
            domain = parameter.domain_at(Params(chosen))
            value = wanted.get(parameter.name)
            if value is None or value not in domain or i == changed:
                others = (
                    each for each in self._drawn(name, parameter, chosen, rng) if each != value
                )
                other = next(others, None)
                if other is None and value not in domain:
                    # The values before leave none: start anew.
                    return self._made(name, self._completed(name, {}, rng))
                value = value if other is None else other
            assert value is not None
            chosen[parameter.name] = value
        return self._made(name, Params(chosen))

    def _completed(self, name: str, chosen: dict[str, Value], rng: Random) -> Params:
        """Return a random point with these first values; if there is none, any point."""
        _, space = self._spaces[name]
        found = self._extended(name, chosen, rng)
        return space.nearest(Params({})) if found is None else Params(found)

    def _extended(
        self, name: str, chosen: dict[str, Value], rng: Random
    ) -> dict[str, Value] | None:
        """Return a point with these first values; None if a later parameter has no value then."""
        _, space = self._spaces[name]
        if len(chosen) == len(space.parameters):
            return chosen
        parameter = space.parameters[len(chosen)]
        for value in self._drawn(name, parameter, chosen, rng):
            found = self._extended(name, {**chosen, parameter.name: value}, rng)
            if found is not None:
                return found
        return None

    def _drawn(
        self, rule: str, parameter: Parameter, chosen: Mapping[str, Value], rng: Random
    ) -> Iterator[Value]:
        """Yield the values of a domain in a random order, each as likely as the others."""
        domain = parameter.domain_at(Params(chosen))
        if isinstance(domain, Order) and factorial(domain.count) > _LISTED:
            # Too many to list. Some may come twice, which costs nothing.
            yield from (
                tuple(rng.sample(range(domain.count), domain.count)) for _ in range(_LISTED)
            )
            return
        # A domain may test thousands of values for each that it has; it depends on these alone.
        key = f"{rule} {parameter.name}", tuple(chosen.values())
        if key not in self._values:
            self._values[key] = list(domain)
        left = list(self._values[key])
        while left:
            drawn = rng.randrange(len(left))
            left[drawn], left[-1] = left[-1], left[drawn]
            yield left.pop()

    def _candidate_of(self, plan: tir.Plan) -> Candidate:
        return self._made(plan.rule, Params(plan.parameters))

    def _made(self, name: str, point: Params) -> Candidate:
        rule, space = self._spaces[name]
        cost = None if rule.cost is None else rule.cost(space, point)
        return Candidate(plan_of(rule, point).data, cost)


def best_first(found: Sequence[tuple[float, Candidate]]) -> list[Candidate]:
    """Return candidates by time, the fastest first; ties in the order of their texts."""
    return [each for _, each in sorted(found, key=lambda pair: (pair[0], pair[1].key))]
