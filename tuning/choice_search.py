"""The search for all choices but plans: forms, layouts, fusions and others.

One loop serves every kind of decision. It proposes other choices for the sites that the passes
noted, compiles the network with these choices demanded, and times it in turns with the best one so
far. What makes the network faster is kept and recorded.

A proposal first makes all equal moves of the network at once. If the network gains nothing, halves
of the proposal follow; if it gains, taking back either half follows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..compiled_model import CompiledModel
from ..decisions import Site
from ..decisions.choices import choices_of, site_of
from ..dialects import cl
from ..errors import CloptError
from .confirm import Build, Runs, kernels_of, sample_inputs, take_turns
from .deadline import NEVER, Deadline
from .journal import DatabaseJournal
from .measure import BuiltHere
from .networks import TunedModel
from .proposals import Estimates, Move, Proposal, Shares, moves_in, proposals_of

_LEAST_HOPE = 0.01
"""Smallest expected gain of a proposal, as a share of the network's time."""
_APART = 0.02
"""Largest difference of results, relative to the largest one: other forms round differently."""
_CERTAIN = 0.01
"""The noise of a comparison at which it ends."""
_SLOWER = 1.03
"""A network that surely takes this many times the best one's time needs no more runs."""


@dataclass(frozen=True)
class ChoiceOutcome:
    """What a search for choices found."""

    before: float
    """Microseconds of the network as it was."""
    after: float
    """Microseconds with the choices that were kept."""
    kept: Sequence[Move]
    tried: int
    """The number of proposals that were tried."""


@dataclass
class ChoiceSearch:
    """Tries other choices for a network, those with the largest expected gain first."""

    model: TunedModel
    journal: DatabaseJournal
    deadline: Deadline = NEVER
    build: Build = BuiltHere
    most: int | None = None
    """Maximum proposals to try."""
    told: Callable[[int], None] = lambda tried: None
    """Called after each proposal, with their number so far."""
    tried: int = 0
    _demands: dict[Site, Move] = field(default_factory=dict[Site, Move])
    _seen: set[Move] = field(default_factory=set[Move])
    _queue: list[Proposal] = field(default_factory=list[Proposal])
    _estimates: Estimates = field(default_factory=Estimates)
    _estimated_best: float | None = None

    def run(self) -> ChoiceOutcome | None:
        """Try proposals until time is up or no gain is expected; None if there is nothing to try.

        All plans are the defaults: tuned plans of other kernels would decide against new ones.
        """
        with self.journal.without_plans() as self._database:
            first = self._compiled(())
            self._target = cl.target_of(first.module)
            if not any(self._is_new(move) for move in moves_in(first.module)):
                return None
            self._expected = self.build(first).run(sample_inputs(first))
            (alone,) = self._take_turns([first], lambda runs: True)
            self._take(first, alone)
            self._search()
            before = after = alone.whole.median
            if self._best is not first:
                runs = self._take_turns([first, self._best])
                before = runs[0].whole.median
                after = self._settle(*runs) * before
            return ChoiceOutcome(before, after, list(self._demands.values()), self.tried)

    def _search(self) -> None:
        longest = 0.0
        while self._queue and self.tried != self.most:
            left = self.deadline.left
            proposal = max(self._queue, key=self._shares.hope)
            is_late = left is not None and left <= longest
            if is_late or self._shares.hope(proposal) < _LEAST_HOPE:
                break
            self._queue.remove(proposal)
            if proposal.ratio is None:
                self._queue += self._estimated(proposal)
                continue
            start = time.monotonic()
            self._try(proposal)
            longest = max(longest, time.monotonic() - start)
            self.told(self.tried)

    def _estimated(self, proposal: Proposal) -> list[Proposal]:
        """Return a proposal with its estimate, without moves from choices that were replaced.

        Return its halves if the choices contradict each other, or nothing if no move is left.
        """
        open_ = {(site_of(each), each.choice) for each in choices_of(self._best.module) or ()}
        moves = [move for move in proposal.moves if (move.site, move.old) in open_]
        if not moves:
            return []
        try:
            if self._estimated_best is None:
                self._estimated_best = self._estimate(())
            ratio = self._estimate(moves) / self._estimated_best
        except CloptError as error:
            self._note_fault(moves, error)
            return Proposal(moves, proposal.share).halves()
        return [Proposal(moves, proposal.share, ratio)]

    def _try(self, proposal: Proposal) -> None:
        """Time the network with the moves of a proposal; keep them, or queue others."""
        moves = proposal.moves
        self.tried += 1
        try:
            other = self._compiled(moves)
            if _text(other) == _text(self._best):
                return
            self._check(other)
        except CloptError as error:
            self._note_fault(moves, error)
            self._queue += proposal.halves()
            return
        best, runs = self._take_turns([self._best, other], _is_certain)
        ratio = runs.relative_to(best)
        is_faster = ratio.most < 1
        if is_faster or len(moves) == 1:
            self.journal.note_moves(moves, best.whole, ratio, self._target)
        if not is_faster:
            self._queue += proposal.halves()
            return
        for move in moves:
            self._keep(move)
        self._queue += proposal.back().halves()
        self._take(other, runs)

    def _keep(self, move: Move) -> None:
        """Demand the choice of a move from now on, unless it takes an earlier move back."""
        self._seen.add(move.back)
        earlier = self._demands.pop(move.site, move)
        if earlier.old != move.new:
            self._demands[move.site] = replace(move, old=earlier.old)

    def _note_fault(self, moves: Sequence[Move], error: CloptError) -> None:
        if len(moves) == 1:
            self.journal.note_fault(moves[0], str(error), self._target)

    def _take(self, model: CompiledModel, runs: Runs) -> None:
        """Go on from a network, and queue its moves that were not queued before."""
        self._best, self._shares = model, Shares(model.module, runs)
        self._estimated_best = None
        self._queue = [replace(proposal, ratio=None) for proposal in self._queue]
        moves = [move for move in moves_in(model.module) if self._is_new(move)]
        self._seen |= {*moves}
        self._queue += proposals_of(moves, self._shares)

    def _is_new(self, move: Move) -> bool:
        return move not in self._seen and not self.journal.knows(move, self._target)

    def _settle(self, first: Runs, last: Runs) -> float:
        """Return the ratio of the last network's time to the first one's.

        If it is no gain beyond the noise, drop and record all moves as none.
        """
        ratio = last.relative_to(first)
        if ratio.most >= 1:
            moves = list(self._demands.values())
            self.journal.note_moves(moves, first.whole, ratio, self._target)
            self._demands.clear()
        return ratio.median

    def _take_turns(
        self,
        models: Iterable[CompiledModel],
        is_certain: Callable[[Sequence[Runs]], bool] = lambda runs: False,
    ) -> list[Runs]:
        return take_turns(models, self.deadline, is_certain, self.build)

    def _demanded(self, moves: Iterable[Move]) -> list[cl.ChoiceAttr]:
        """Return the choices that were kept, with those of more moves."""
        demands = self._demands | {move.site: move for move in moves}
        return [move.demand for move in demands.values()]

    def _compiled(self, moves: Iterable[Move]) -> CompiledModel:
        return self.model.compiled(self._database, self._demanded(moves))

    def _estimate(self, moves: Iterable[Move]) -> float:
        tuning = replace(self.journal.tuning, tuning=(str(self._database),))
        return self._estimates.of(self.model.planned(tuning, self._demanded(moves)))

    def _check(self, model: CompiledModel) -> None:
        """Raise CloptError if the results of a network differ from those of the first one."""
        results = self.build(model).run(sample_inputs(model))
        for found, expected in zip(results, self._expected, strict=True):
            most = float(np.abs(expected[np.isfinite(expected)]).max(initial=0))
            if not np.allclose(found, expected, rtol=0, atol=_APART * most, equal_nan=True):
                raise CloptError(
                    f"its results are further than {_APART:.0%} from those of other choices."
                )


def _is_certain(runs: Sequence[Runs]) -> bool:
    """Return whether more runs of the best network and another one would change nothing."""
    best, other = runs
    ratio = other.relative_to(best)
    return ratio.noise < _CERTAIN or ratio.least > _SLOWER


def _text(model: CompiledModel) -> tuple[str, list[str]]:
    """Return the kernels of a network and the order of its launches."""
    return model.source, kernels_of(model)
