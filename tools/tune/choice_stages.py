"""The stages of a search that measure other forms and layouts of kernels."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...dialects import cl
from ...tuning.choices import ChoiceSession, TunedChoice
from ...tuning.confirm import Confirmation
from ...tuning.confirm_choices import confirm_forms, confirm_layouts
from ...tuning.deadline import Deadline
from ...tuning.journal import DatabaseJournal
from ...tuning.networks import TunedModel
from ...tuning.session import Budget
from ...tuning.trial import Machines

_SHARE = 1 / 3
"""Largest share of a budget for both stages."""
_OF_FORMS = 1 / 2
"""Largest part of that share for forms; layouts get the rest."""


@dataclass
class ChoiceStages:
    """Measures a model's kernels in forms, then in layouts, and the network after each stage."""

    model: TunedModel
    machines: Machines
    journal: DatabaseJournal
    is_here: bool
    """Whether the network runs on this machine, so that it can be measured."""
    deadline: Deadline
    """The end of the whole search."""
    told: Callable[[int, str], None]
    """Called with the number of trials and what was tried."""
    trials: int = 0

    def run(self, budget: Budget) -> Budget:
        """Spend a share of a budget; return the rest."""
        start = time.monotonic()
        share = budget.share(_SHARE)
        forms = self.model.forms()
        self._measure(forms.kernels(), forms.target, share.share(_OF_FORMS), "forms")
        if self._is_confirmed():
            found = confirm_forms(self.model, forms, self.journal, self.deadline)
            _tell(found, "forms of convolutions")
        left = share.less(time.monotonic() - start, self.trials)
        networks = self.model.networks(self.journal.tuning)
        self._measure(networks.kernels(), networks.target, left, "layouts")
        if self._is_confirmed():
            found = confirm_layouts(self.model, networks, self.journal, self.deadline)
            _tell(found, "layouts")
        return budget.less(time.monotonic() - start, self.trials)

    def _is_confirmed(self) -> bool:
        return self.is_here and not self.deadline.is_over

    def _measure(
        self, kernels: Sequence[Sequence[TunedChoice]], target: cl.Target, budget: Budget, what: str
    ) -> None:
        before = self.trials

        def told(trials: int) -> None:
            self.trials = before + trials
            self.told(self.trials, f"kernels in {what}")

        ChoiceSession(kernels, target, self.machines, self.journal, budget, told).run()


def _tell(found: Confirmation | None, what: str) -> None:
    if found is None:
        return
    before, after = found.before, found.after
    end = "." if after.most < before.least else ", so the usual ones stay."
    print(
        f"The kernels of an inference take {before.median / 1e3:.4g} ms in the usual {what} and "
        f"{after.median / 1e3:.4g} ms in the fastest ones{end}"
    )
