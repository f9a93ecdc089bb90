"""Candidates for the next generation of a search, with their estimates.

Worker processes compute them. An estimate takes up to 0.1 s and a generation needs dozens, as much
time as its trials: one process could not keep a dozen workers busy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from ..dialects import cl, tir
from .programs import kernel_in
from .spaces import PlanCandidate, PlanSpace

_BRED = 32
"""Candidates among which a generation is chosen."""


@dataclass(frozen=True)
class Candidates:
    """Plans that a search can try next."""

    defaults: Sequence[PlanCandidate]
    """The defaults of the kernel and of its rules, if they were requested."""
    bred: Sequence[PlanCandidate]
    """Untried plans near the parents, or random ones."""
    estimates: Mapping[str, float | None]
    """Estimated microseconds by the text of a plan; None if the plan does not fit the kernel."""


@dataclass(frozen=True)
class CandidateRequest:
    """What a worker needs to propose plans of a kernel."""

    program: str
    """The kernel in a module, as `Task.program`."""
    target: cl.Target
    parents: Sequence[tir.Plan]
    """The fastest plans so far."""
    tried: frozenset[str]
    """The texts of plans that are not proposed again."""
    seed: str
    """Equal requests have equal answers."""
    wants_defaults: bool = False
    """Whether the rules' defaults come first; plans are bred only once all of them were tried."""
    known: Sequence[tir.Plan] = ()
    """Tried plans without an estimate."""
    estimated: frozenset[str] = frozenset()
    """The texts of plans whose estimates the search has."""

    def answer(self) -> Candidates:
        """Return candidates with the estimates of all plans that are new to the search."""
        space = _space(self.program, self.target)
        defaults = space.defaults() if self.wants_defaults else []
        is_bred = all(each.key in self.tried for each in defaults)
        bred = self._bred(space) if is_bred else []
        plans = {each.key: each for each in (*map(PlanCandidate, self.known), *defaults, *bred)}
        new = {key: each for key, each in plans.items() if key not in self.estimated}
        return Candidates(defaults, bred, {key: space.estimate(each) for key, each in new.items()})

    def _bred(self, space: PlanSpace) -> list[PlanCandidate]:
        found: dict[str, PlanCandidate] = {}
        rng = Random(self.seed)
        for _ in range(4 * _BRED):
            if len(found) >= _BRED:
                break
            candidate = self._near_parents(space, rng)
            if candidate.key not in self.tried:
                found[candidate.key] = candidate
        return list(found.values())

    def _near_parents(self, space: PlanSpace, rng: Random) -> PlanCandidate:
        kind = rng.random()
        if not self.parents or kind < 0.25:
            return space.random(rng, {each.rule for each in self.parents})
        first = rng.choice(self.parents)
        if kind < 0.75:
            return space.mutated(first, rng)
        return space.crossed(first, rng.choice(self.parents), rng)


@lru_cache(maxsize=4)
def _space(program: str, target: cl.Target) -> PlanSpace:
    """Return the plans of a kernel, cached since a worker answers for one generation at a time."""
    return PlanSpace(kernel_in(program), target)
