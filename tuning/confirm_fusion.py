"""Checks whether kernels that should be faster joined, or apart, are faster in their network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from ..compiled_model import CompiledModel
from ..decisions.database import TuningDatabase
from ..decisions.record import APART, JOINED, Record
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
        [_compiled(model, journal, asked, is_usual=is_usual) for is_usual in (True, False)],
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


def _compiled(
    model: TunedModel, journal: DatabaseJournal, pairs: Sequence[Pair], *, is_usual: bool
) -> CompiledModel:
    """Compile with a database's plans; `pairs` follow the cost model, or oppose it."""
    keys = {pair.key for pair in pairs}
    known = TuningDatabase.read(journal.path).records
    kept = [record for record in known if not (record.kind == "fusion" and record.site in keys)]
    with TemporaryDirectory() as folder:
        path = Path(folder, "fusion.jsonl")
        records.append(path, [*kept, *_decided(pairs, journal, is_usual=is_usual)])
        return model.compiled(path)


def _decided(pairs: Iterable[Pair], journal: DatabaseJournal, *, is_usual: bool) -> list[Record]:
    """Return records that make pairs follow the cost model, or oppose it."""
    return [
        records.record_of_fusion(pair, way, Times([time]), journal.device)
        for pair in pairs
        for way, time in ((JOINED, 1.0), (APART, 2.0 if pair.pays == is_usual else 0.5))
    ]
