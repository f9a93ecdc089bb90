"""The plans that a tuner can try: points in the spaces of all rules that apply to a kernel."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from random import Random
from typing import Any

from xdsl.utils.exceptions import VerifyException

from ..dialects import cl, tir
from ..errors import CloptError
from ..passes.tir.plan_estimate import estimate_plan
from ..passes.tir.plan_parts import parts_of, with_parts
from ..passes.tir.rules import rules
from ..passes.tir.rules.naive_kernel import NaiveKernel
from ..passes.tir.rules.plans import default_plan, plan_of
from ..passes.tir.rules.rule import Rule
from ..passes.tir.rules.shared.fallback import FALLBACK
from ..passes.tir.rules.space import Domain, Params, Space, Value

_DRAWS = 20
"""Values that are sampled from a domain before it is listed."""
_LISTED = 5040
"""Values that are listed of a domain: a few have millions, such as the orders of ten loops."""


@dataclass(frozen=True)
class PlanCandidate:
    """A plan that can be tried."""

    plan: tir.Plan

    @property
    def key(self) -> str:
        """The plan as text; equal plans have equal keys."""
        return str(tir.PlanAttr(self.plan))


class PlanSpace:
    """The plans of one naive kernel on a target."""

    def __init__(self, kernel: tir.FuncOp, target: cl.Target) -> None:
        self._kernel, self._target = kernel, target
        naive = NaiveKernel(kernel)
        fits = [(rule, rule.space(naive, target)) for rule in rules()]
        spaces: dict[str, tuple[Rule[Any], Space[Any]]] = {
            rule.name: (rule, space) for rule, space in fits if isinstance(space, Space)
        }
        default = default_plan(kernel, target).data
        # The fallback rule recomputes stages wherever they are read, so its kernel may take
        # minutes.
        self._spaces = {
            name: space
            for name, space in spaces.items()
            if name != FALLBACK.name or name == default.rule
        }
        self.default = self._candidate_of(default)

    @property
    def rules(self) -> list[str]:
        """The rules that apply, in the order in which the compiler tries them."""
        return list(self._spaces)

    def estimate(self, candidate: PlanCandidate) -> float | None:
        """Return the estimated microseconds of a plan, or None if it does not fit the kernel."""
        try:
            return estimate_plan(self._kernel, candidate.plan, self._target).microseconds
        except (CloptError, VerifyException):
            return None

    def defaults(self) -> list[PlanCandidate]:
        """Return the default of the kernel, then those of the other rules."""
        others = [rule.default(space) for rule, space in self._spaces.values()]
        found = [self._made(name, point) for name, point in zip(self._spaces, others, strict=True)]
        return [self.default, *(each for each in found if each.key != self.default.key)]

    def random(self, rng: Random, rules: Collection[str] = ()) -> PlanCandidate:
        """Return a random plan of one of these rules, or of any rule if none is given."""
        name = rng.choice([each for each in self._spaces if each in (rules or self._spaces)])
        return self._made(name, self._completed(name, {}, rng))

    def mutated(self, plan: tir.Plan, rng: Random) -> PlanCandidate:
        """Return a plan with one parameter changed; later ones keep their values if possible.

        In a plan with parts, the change is equally likely to be in a part.
        """
        if plan.parts and rng.random() < 0.5:
            return self._with_mutated_part(plan, rng)
        _, space = self._spaces[plan.rule]
        if not space.decisions:
            return self.random(rng)
        changed = rng.randrange(len(space.decisions))
        return self._near(plan.rule, plan.parameters, rng, changed)

    def crossed(self, first: tir.Plan, second: tir.Plan, rng: Random) -> PlanCandidate:
        """Return a mix of two plans' parameters; mutate the first if their rules differ."""
        if first.rule != second.rule:
            return self.mutated(first, rng)
        wanted = {
            name: rng.choice((value, second.parameters.get(name, value)))
            for name, value in first.parameters.items()
        }
        return self._near(first.rule, wanted, rng)

    def _with_mutated_part(self, plan: tir.Plan, rng: Random) -> PlanCandidate:
        """Return a plan with one part mutated."""
        changed = rng.randrange(len(plan.parts))
        kernel = parts_of(self._kernel, plan, self._target)[changed]
        parts = list(plan.parts)
        parts[changed] = PlanSpace(kernel, self._target).mutated(parts[changed], rng).plan
        return PlanCandidate(replace(plan, parts=tuple(parts)))

    def _near(
        self,
        name: str,
        wanted: Mapping[str, Value],
        rng: Random,
        changed: int | None = None,
    ) -> PlanCandidate:
        """Return a point with the wanted values if their domains have them, except `changed`."""
        _, space = self._spaces[name]
        chosen: dict[str, Value] = {}
        for i, decision in enumerate(space.decisions):
            domain = decision.domain_at(Params(chosen))
            value = wanted.get(decision.name, decision.parameter.absent)
            if value is None or value not in domain or i == changed:
                other = next((each for each in _drawn(domain, rng) if each != value), None)
                if other is None and value not in domain:
                    # The values before leave none: start anew.
                    return self._made(name, self._completed(name, {}, rng))
                value = value if other is None else other
            assert value is not None
            chosen[decision.name] = value
        return self._made(name, Params(chosen))

    def _completed(self, name: str, chosen: dict[str, Value], rng: Random) -> Params:
        """Return a random point with these first values, or any point if there is none."""
        _, space = self._spaces[name]
        found = self._extended(name, chosen, rng)
        return space.nearest(Params({})) if found is None else Params(found)

    def _extended(
        self, name: str, chosen: dict[str, Value], rng: Random
    ) -> dict[str, Value] | None:
        """Return a point with these first values, or None if a later parameter has no value."""
        _, space = self._spaces[name]
        if len(chosen) == len(space.decisions):
            return chosen
        decision = space.decisions[len(chosen)]
        for value in _drawn(decision.domain_at(Params(chosen)), rng):
            found = self._extended(name, {**chosen, decision.name: value}, rng)
            if found is not None:
                return found
        return None

    def _candidate_of(self, plan: tir.Plan) -> PlanCandidate:
        return self._made(plan.rule, Params(plan.parameters))

    def _made(self, name: str, point: Params) -> PlanCandidate:
        rule, space = self._spaces[name]
        point = space.completed(point)
        plan = with_parts(self._kernel, plan_of(rule, point).data, self._target)
        return PlanCandidate(plan)


def _drawn(domain: Domain, rng: Random) -> Iterator[Value]:
    """Yield the values of a domain in a random order, each once."""
    seen = set[Value]()
    for _ in range(_DRAWS):
        value = domain.sample(rng)
        if value is not None and value not in seen:
            seen.add(value)
            yield value
    rest = [value for value in islice(domain, _LISTED) if value not in seen]
    rng.shuffle(rest)
    yield from rest


def best_first(found: Sequence[tuple[float, PlanCandidate]]) -> list[PlanCandidate]:
    """Return candidates by time, the fastest first; ties in the order of their texts."""
    return [each for _, each in sorted(found, key=lambda pair: (pair[0], pair[1].key))]
