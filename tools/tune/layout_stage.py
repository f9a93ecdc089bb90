"""The stage of a search that measures kernels in other layouts."""

from __future__ import annotations

import time
from collections.abc import Callable

from ...tuning.confirm_layouts import confirm_layouts
from ...tuning.journal import DatabaseJournal
from ...tuning.layouts import LayoutSession, Networks
from ...tuning.networks import Model
from ...tuning.session import Budget
from ...tuning.trial import Machines

_SHARE = 1 / 3
"""Of a budget, at the most."""


def tune_layouts(
    model: Model,
    networks: Networks,
    machines: Machines,
    journal: DatabaseJournal,
    budget: Budget,
    is_here: bool,
    told: Callable[[int], None],
) -> Budget:
    """Measure kernels in layouts, then the network, if it runs here; what is left of the budget.

    `told` hears how many trials there were.
    """
    start = time.monotonic()
    session = LayoutSession(networks, machines, journal, budget.share(_SHARE), told)
    session.run()
    found = confirm_layouts(model, networks, journal) if is_here else None
    if found is not None:
        before, after = found.before.median, found.after.median
        end = "." if after < before else ", so the usual ones stay."
        print(
            f"The kernels of an inference take {before / 1e3:.4g} ms in the usual layouts and "
            f"{after / 1e3:.4g} ms in those that cost least here{end}"
        )
    return budget.less(time.monotonic() - start, session.trials)
