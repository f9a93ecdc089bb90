"""Checks whether kernels that should be faster joined, or apart, are faster in their network."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.dialects.builtin import StringAttr

from ..decisions import Site, SiteKind
from ..decisions.choices import choice_of
from ..decisions.record import APART, JOINED, Record
from ..dialects import cl
from ..passes.tir.tuned_joins import Pair, TunedJoins
from . import records
from .confirm import Runs, take_turns
from .deadline import NEVER, Deadline
from .journal import DatabaseJournal
from .networks import TunedModel
from .times import Times


@dataclass(frozen=True)
class FusionConfirmation:
    """Times of a network with the fusion that the cost model chose, and with the opposite one."""

    before: Times
    after: Times
    changed: int
    """The number of pairs that no longer follow the cost model."""
    pairs: int


def confirm_fusion(
    model: TunedModel, journal: DatabaseJournal, deadline: Deadline = NEVER
) -> FusionConfirmation | None:
    """Time the model with certain pairs joined and apart, in turns; record both times.

    These are the pairs for which this device's times contradict the cost model. Each pair keeps the
    fusion with which its kernels took less time in the network. All plans come from the database.
    Return None if there are no such pairs.
    """
    if not journal.path.exists():
        return None
    pairs = model.pairs(journal.tuning)
    if not pairs:
        return None
    target = pairs[0].model.target
    tuned = TunedJoins(journal.tuning.tuning, (), journal.place, target)
    asked = [pair for pair in pairs if tuned.is_in_question(pair)]
    if not asked:
        return None
    usual, other = take_turns(
        [
            model.compiled(journal.path, _choices(asked, is_usual=is_usual))
            for is_usual in (True, False)
        ],
        deadline,
    )
    noted = [record for pair in asked for record in _records(pair, usual, other, journal)]
    records.append(journal.path, noted)
    tuned = TunedJoins(journal.tuning.tuning, (), journal.place, target)
    changed = sum(tuned.is_joined(pair) != pair.pays for pair in asked)
    return FusionConfirmation(usual.whole, other.whole, changed, len(asked))


def _records(pair: Pair, usual: Runs, other: Runs, journal: DatabaseJournal) -> list[Record]:
    """Return the times of a pair both ways; none if its kernels share launches with others."""
    joined, *parts = (kernel.sym_name.data for kernel in pair.kernels)
    joined_runs, apart_runs = (usual, other) if pair.pays else (other, usual)
    if not joined_runs.has([joined]) or not apart_runs.has(parts):
        return []
    target = pair.model.target
    ways = {JOINED: joined_runs, APART: apart_runs}
    return [
        records.record_of_fusion(
            pair,
            way,
            runs.together([joined, *parts], target.machine.launch_microseconds),
            journal.device,
        )
        for way, runs in ways.items()
    ]


def _choices(pairs: Iterable[Pair], *, is_usual: bool) -> list[cl.ChoiceAttr]:
    """Return choices that make pairs follow the cost model, or oppose it."""
    return [
        choice_of(
            Site(SiteKind.FUSION, pair.key), StringAttr(JOINED if pair.pays == is_usual else APART)
        )
        for pair in pairs
    ]
