"""The search for the best plan of one kernel: an evolutionary search, in generations.

The default comes first, alone, because its time shows how much the kernel matters. The defaults of
the other rules follow, and the plans that were fastest by other revisions of the compiler. Later
generations mutate the best plans, cross two of them, or sample rules that are not far behind; the
cost model selects among many candidates. The same seed and times, in the same order, give the same
search.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, inf, log

from xdsl.dialects import memref

from ..dialects import tir
from ..dialects.cl.ops import byte_count
from ..passes.tir.rules.stages import stages_of
from .candidates import CandidateRequest, Candidates
from .cost_model import CostModel, features_of
from .spaces import PlanCandidate, PlanSpace, best_first
from .trial import Result, Task

_PARENTS = 8
"""The number of fastest plans that serve as parents."""
_FAR = 3.0
"""Plans slower than this many times the best are no parents, not even as the best of a rule."""
_AT_RANDOM = 0.2
"""The share of a generation that the cost model does not choose."""
_PRODUCTS = 4
"""Multiply-adds in the time of a byte from memory: 110 per ns and 29 GB/s on two cores of a Zen 4.
GPUs have at least twice that; it only orders kernels that have no time yet."""
_PATIENCE = 5
"""Generations without a gain after which a search ends."""
_GAIN = 0.99
"""A time below this share of the best one counts as a gain."""


@dataclass(eq=False)
class Search:
    """The search for one task, which proposes plans and learns from their results."""

    task: Task
    space: PlanSpace
    model: CostModel
    kernel: Mapping[str, float]
    """Features of the naive kernel: `kernel_features`."""
    earlier: Mapping[str, Result] = field(default_factory=dict[str, Result])
    """Times by other compilers, by the text of the plan. The fastest plans are tried again."""
    seed: int = 0
    results: dict[str, Result] = field(default_factory=dict[str, Result])
    """By the text of the plan."""
    stale: int = 0
    """Generations since the last gain."""

    def __post_init__(self) -> None:
        self._learned: set[str] = set()
        self._defaults: Sequence[PlanCandidate] | None = None
        """The defaults of all rules; None until a worker has told them."""
        self._estimates: dict[str, float | None] = {}
        """Microseconds by the text of the plan."""
        self._best_before: float | None = None

    @property
    def default(self) -> Result | None:
        """The result of the default plan; None until it was tried."""
        return self.results.get(self.space.default.key)

    @property
    def best(self) -> Result | None:
        """The fastest plan; None until one has a time."""
        timed = [each for each in self.results.values() if each.microseconds is not None]
        return min(timed, key=lambda each: each.microseconds or 0.0, default=None)

    @property
    def work(self) -> float:
        """The estimated work of a launch, in equivalent bytes of memory traffic."""
        points, sums, size = (exp(self.kernel[name]) for name in ("points", "sums", "bytes"))
        return points * sums / _PRODUCTS + size

    @property
    def is_over(self) -> bool:
        """Whether further plans are not expected to be faster."""
        return self.stale >= _PATIENCE

    def request(self) -> CandidateRequest | None:
        """Return what a worker must compute before the next generation.

        Return None before the default was tried, because it needs no other candidates.
        """
        if self.default is None:
            return None
        unknown = [each for key, each in self.results.items() if key not in self._estimates]
        return CandidateRequest(
            self.task.program,
            self.task.target,
            self._parents(),
            frozenset(self.results),
            f"{self.seed} {self.task.kernel} {len(self.results)}",
            self._defaults is None,
            [each.plan for each in unknown],
            frozenset(self._estimates),
        )

    def generation(self, count: int, found: Candidates | None = None) -> list[PlanCandidate]:
        """Return the next plans to try, at most `count`; none once the space is exhausted.

        `found` are the candidates that answer the request.
        """
        if found is None:
            return [self.space.default]
        self._estimates.update(found.estimates)
        self._defaults = found.defaults if self._defaults is None else self._defaults
        self._teach()
        others = self._untried([*self._defaults, *self._fastest_earlier()])
        chosen = others[:count] or self._chosen(found.bred, count)
        if not chosen:
            self.stale = _PATIENCE
        return chosen

    def learn(self, found: Iterable[Result]) -> None:
        """Add the results of a generation, or of plans that were tried before."""
        for result in found:
            self.results[str(tir.PlanAttr(result.plan))] = result
        best = self.best
        if best is not None and best.microseconds is not None:
            before = self._best_before
            gained = before is None or best.microseconds < _GAIN * before
            self.stale = 0 if gained else self.stale + 1
            self._best_before = best.microseconds if gained else before
        self._teach()

    def _teach(self) -> None:
        default = self.default
        if default is None or default.microseconds is None:
            return
        for key, result in self.results.items():
            if key in self._estimates and key not in self._learned:
                self._learned.add(key)
                time = result.microseconds
                ratio = None if time is None else time / default.microseconds
                self.model.add(self._features(PlanCandidate(result.plan)), ratio)

    def _fastest_earlier(self) -> list[PlanCandidate]:
        """Return the plans that were fastest by other compilers."""
        timed = [
            (each.microseconds, PlanCandidate(each.plan))
            for each in self.earlier.values()
            if each.microseconds is not None
        ]
        return best_first(timed)[:_PARENTS]

    def _untried(self, candidates: Iterable[PlanCandidate]) -> list[PlanCandidate]:
        return [each for each in candidates if each.key not in self.results]

    def _chosen(self, plans: Sequence[PlanCandidate], count: int) -> list[PlanCandidate]:
        """Return some of these plans, mostly those with the lowest expected times."""
        if count <= 0 or not plans:
            return []
        free = round(_AT_RANDOM * count)
        ranks = self._ranks(plans)
        order = sorted(range(len(plans)), key=lambda i: (ranks[i], plans[i].key))
        liked = [plans[i] for i in order[: max(1, count - free)]]
        rest = [plans[i] for i in sorted(order[len(liked) :])]
        return [*liked, *rest[: count - len(liked)]]

    def _parents(self) -> list[tir.Plan]:
        """Return the fastest plans, and the fastest one of each rule that is not far behind."""
        timed = [
            (each.microseconds, PlanCandidate(each.plan))
            for each in self.results.values()
            if each.microseconds is not None
        ]
        least = min((time for time, _ in timed), default=0.0)
        near = [each.plan for each in best_first([p for p in timed if p[0] <= _FAR * least])]
        of_rules = {plan.rule: plan for plan in reversed(near)}
        return [*near[:_PARENTS], *(p for p in of_rules.values() if p not in near[:_PARENTS])]

    def _ranks(self, plans: Sequence[PlanCandidate]) -> Sequence[float]:
        """Rank plans by the cost model, or by their estimates until it has learned enough."""
        learned = self.model.predict([self._features(each) for each in plans])
        if learned is not None:
            return [float(each) for each in learned]
        estimates = [self._estimates.get(each.key) for each in plans]
        return [inf if each is None else each for each in estimates]

    def _features(self, candidate: PlanCandidate) -> dict[str, float]:
        return features_of(candidate.plan, self._estimates.get(candidate.key), self.kernel)


def kernel_features(kernel: tir.FuncOp) -> dict[str, float]:
    """Return features of a naive kernel: points, sums, stages, loads and bytes."""
    stages = stages_of(kernel)
    reduced = [stage.block.iter_extents[i] for stage in stages for i in stage.reduce]
    loads = sum(isinstance(op, memref.LoadOp) for op in kernel.walk())
    sums = 1
    for extent in reduced:
        sums *= extent
    return {
        "points": log(1 + sum(stage.points for stage in stages)),
        "sums": log(sums),
        "stages": float(len(stages)),
        "loads": float(loads),
        "bytes": log(1 + sum(byte_count(param.type) for param in kernel.params)),
    }
