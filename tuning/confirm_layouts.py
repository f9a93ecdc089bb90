"""Whether layouts whose kernels cost less alone make their network faster, too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from ..compiled_model import CompiledModel
from ..passes.nn.layout.tuned_layouts import TunedLayouts, choice_key, network_key
from ..passes.tir.tuning_database import TuningDatabase
from ..passes.tir.tuning_record import Record
from . import records
from .confirm import Confirmation, confirm
from .journal import DatabaseJournal
from .layouts import Networks
from .networks import Model
from .places import OFF


def confirm_layouts(
    model: Model, networks: Networks, journal: DatabaseJournal
) -> Confirmation | None:
    """Let the model in its usual layouts and in the tuned ones take turns, and note both times.

    Where the tuned ones are no faster, the usual ones stay from now on. None where the database
    knows no cheaper ones, or where both were compared before. Plans are the default ones.
    """
    networks_ = {network_key(problem) for problem in networks.problems}
    found = _of_layouts(journal)
    alone = [record for record in found if record.kernel not in networks_]
    usual: list[tuple[str, str]] = []
    tuned: list[tuple[str, str]] = []
    for problem in networks.problems:
        database = TuningDatabase(tuple(alone))
        choice = TunedLayouts(database, journal.place, problem.target).choose(problem)
        if choice.problem is not problem:
            network = network_key(problem)
            usual.append((network, choice_key(problem, problem.solve())))
            tuned.append((network, choice_key(choice.problem, choice.solution)))
    if {(record.kernel, record.layouts) for record in found}.issuperset([*usual, *tuned]):
        return None
    comparison = confirm([], model.compiled(OFF), _compiled(model, alone))
    target, device = networks.problems[0].target, journal.device
    for keys, times in ((usual, comparison.before), (tuned, comparison.after)):
        noted = [
            records.record_of_network(*key, times, target, device, is_default=keys is usual)
            for key in keys
        ]
        records.append(journal.path, noted)
    return comparison


def compiled_in_layouts(model: Model, journal: DatabaseJournal) -> CompiledModel:
    """The model with the layouts and fusions of a database, and with default plans."""
    return _compiled(model, [record for record in _records(journal) if not record.plan])


def _of_layouts(journal: DatabaseJournal) -> list[Record]:
    return [record for record in _records(journal) if record.layouts]


def _records(journal: DatabaseJournal) -> Sequence[Record]:
    return TuningDatabase.read(journal.path).records if journal.path.exists() else ()


def _compiled(model: Model, found: Iterable[Record]) -> CompiledModel:
    """The model with a database of these records."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "layouts.jsonl")
        path.touch()
        records.append(path, found)
        return model.compiled(path)
