"""Checks whether forms and layouts that make kernels faster also make their network faster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from ..compiled_model import CompiledModel
from ..decisions.database import TuningDatabase
from ..decisions.record import Kind, Record
from ..dialects import cl
from ..passes.nn import tuned_forms
from ..passes.nn.layout import tuned_layouts
from ..passes.nn.layout.tuned_layouts import TunedLayouts
from ..passes.nn.tuned_forms import TunedForms
from . import records
from .confirm import Confirmation, confirm
from .deadline import NEVER, Deadline
from .forms import TunedFormChoice
from .journal import DatabaseJournal
from .layouts import Networks
from .networks import TunedModel

_Key: TypeAlias = tuple[str, str]
"""A network and its forms or layouts."""


@dataclass
class _Comparison:
    """Networks of one model with usual and with tuned forms or layouts."""

    kind: Kind
    target: cl.Target
    usual: list[_Key] = field(default_factory=list[_Key])
    tuned: list[_Key] = field(default_factory=list[_Key])

    def add(self, network: str, usual: str, tuned: str) -> None:
        if usual != tuned:
            self.usual.append((network, usual))
            self.tuned.append((network, tuned))

    def run(
        self,
        model: TunedModel,
        journal: DatabaseJournal,
        before: Iterable[Record],
        after: Iterable[Record],
        deadline: Deadline,
    ) -> Confirmation | None:
        """Time the model with two databases, unless both times are known, and record them."""
        known = {(record.site, record.choice) for record in _choices(journal)}
        if known.issuperset([*self.usual, *self.tuned]):
            return None
        models = _compiled(model, before), _compiled(model, after)
        comparison = confirm([], *models, deadline)
        for keys, times in ((self.usual, comparison.before), (self.tuned, comparison.after)):
            noted = [
                records.record_of_network(
                    self.kind,
                    key,
                    times,
                    self.target,
                    journal.device,
                    is_default=keys is self.usual,
                )
                for key in keys
            ]
            records.append(journal.path, noted)
        return comparison


def confirm_forms(
    model: TunedModel, forms: TunedFormChoice, journal: DatabaseJournal, deadline: Deadline = NEVER
) -> Confirmation | None:
    """Time the model in its usual and in its tuned forms, in turns; record both times.

    If the tuned forms are not faster, the usual forms stay. Return None if the database has no
    faster forms, or if the two were compared before. Plans and layouts have their defaults.
    """
    networks = {tuned_forms.network_key(found) for found in forms.networks}
    alone = [r for r in _choices(journal) if r.kind == "form" and r.site not in networks]
    tuned = TunedForms(TuningDatabase(tuple(alone)), journal.place, forms.target)
    comparison = _Comparison("form", forms.target)
    for found in forms.networks:
        comparison.add(
            tuned_forms.network_key(found),
            tuned_forms.choice_key(found, {}),
            tuned_forms.choice_key(found, tuned.choose(found).forms),
        )
    return comparison.run(model, journal, [], alone, deadline)


def confirm_layouts(
    model: TunedModel, networks: Networks, journal: DatabaseJournal, deadline: Deadline = NEVER
) -> Confirmation | None:
    """Time the model in its usual and in its tuned layouts, with the database's best forms."""
    whole = {tuned_layouts.network_key(problem) for problem in networks.problems}
    found = _choices(journal)
    forms = [record for record in found if record.kind == "form"]
    alone = [r for r in found if r.kind == "layouts" and r.site not in whole]
    tuned = TunedLayouts(TuningDatabase(tuple(alone)), journal.place, networks.target)
    comparison = _Comparison("layouts", networks.target)
    for problem in networks.problems:
        choice = tuned.choose(problem)
        comparison.add(
            tuned_layouts.network_key(problem),
            tuned_layouts.choice_key(problem, problem.solve()),
            tuned_layouts.choice_key(choice.problem, choice.solution),
        )
    return comparison.run(model, journal, forms, [*forms, *alone], deadline)


def compiled_by_choices(model: TunedModel, journal: DatabaseJournal) -> CompiledModel:
    """Compile the model with the forms, layouts and fusions of a database, and default plans."""
    return _compiled(model, _choices(journal))


def _choices(journal: DatabaseJournal) -> Sequence[Record]:
    """Return all records of a database except records of plans."""
    if not journal.path.exists():
        return []
    return [record for record in TuningDatabase.read(journal.path).records if record.kind != "plan"]


def _compiled(model: TunedModel, found: Iterable[Record]) -> CompiledModel:
    """Compile the model with a database of these records."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "choices.jsonl")
        path.touch()
        records.append(path, found)
        return model.compiled(path)
