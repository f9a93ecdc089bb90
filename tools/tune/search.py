"""`clopt-tune search`: try plans of a model's kernels on a device, and keep the fastest.

A plan determines the schedule of a kernel. Other choices come first: forms, layouts, fusions and so
on, each in the whole network. Times are stored in a database, from which clopt reads the best
choices and plans. Ctrl-C ends the search, and the same command continues it.
"""

from __future__ import annotations

import math
import sys
import time
from argparse import Namespace
from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from typing import Any

from ...decisions.database import TuningDatabase
from ...errors import CloptError
from ...messages.printable import printable
from ...tuning.choice_search import ChoiceOutcome, ChoiceSearch
from ...tuning.confirm import Build, Confirmation, confirm
from ...tuning.deadline import Deadline, TimeIsUpError
from ...tuning.journal import DatabaseJournal
from ...tuning.networks import TunedModel
from ...tuning.places import database_beside
from ...tuning.records import check_path
from ...tuning.session import Budget, Outcome, Session
from ..console import Options, gather_target, make_parser, print_remarks
from ..json_output import VERSION, json_option, print_json
from ..logs import progress
from ..option_values import parse_dims, parse_seconds
from ..tables import cut_text, table, terminal
from .display import SearchDisplay
from .machines import MACHINES, check, machines_of, networks_of
from .time_limit import seconds_to_search, stopped_at

EXAMPLES = """\
clopt-tune model.onnx --device pocl --time 10m
clopt-tune model.onnx --dim batch=1 --device NVIDIA --trials 2000
clopt-tune model.onnx --target adreno-740 --board tcp://localhost:9000
clopt-tune model.onnx --target "adreno-740 texture=prefer" --scheduler tcp://host:8786
"""

_CHOICES = 1 / 3
"""Largest share of a budget for choices other than plans."""
_CONFIRMATION = 6.0
"""Time to compile and measure a model twice, relative to that of lowering it."""
_MOST_CONFIRMATION = 0.25
"""Largest share of a search's time for that."""
_CUT_SHORT = (
    "Time ran out before the whole network was measured with the new plans; the same command "
    "continues from there."
)

OPTIONS: Options = [
    (("model",), {"type": Path, "help": "an .onnx or .mlir file"}),
    (
        ("--dim",),
        {
            "action": "append",
            "default": [],
            "metavar": "NAME=VALUE",
            "help": "bind a symbolic dimension of the model; repeat or separate with commas for "
            "several",
        },
    ),
    (
        ("--target",),
        {
            "dest": "device_target",
            "metavar": "TARGET",
            "help": "tune for this target, a name or the path of a .toml file, optionally with "
            "facts to replace (default: the target of the device)",
        },
    ),
    (
        ("--precision",),
        {"default": "f32", "metavar": "TYPES", "help": "as for clopt-compile (default: f32)"},
    ),
    (
        ("--time",),
        {
            "help": "time limit of the whole command, from its start to its exit: 90s, 10m, 2h "
            "(default: until no more gain is expected)",
        },
    ),
    (
        ("--trials",),
        {
            "type": int,
            "metavar": "N",
            "help": "maximum plans to try (default: any)",
        },
    ),
    (
        ("--plans-only",),
        {
            "action": "store_true",
            "help": "do not first try other forms, layouts, fusions and so on in the whole "
            "network, which takes at most a third of the time",
        },
    ),
    (
        ("-o", "--output"),
        {
            "type": Path,
            "metavar": "FILE",
            "help": "the database (default: MODEL.tuning.jsonl beside the model, where clopt "
            "finds it)",
        },
    ),
    (
        ("--seed",),
        {
            "type": int,
            "default": 0,
            "metavar": "N",
            "help": "the seed of the search (default: 0)",
        },
    ),
    *MACHINES,
    json_option("the kernels with their plans and the times of the network"),
]


def main(args: Sequence[str], since: float | None = None) -> None:
    """Run the command; Ctrl-C ends the search and keeps what it found.

    `since` is when the process began, by the monotonic clock. With it, the process ends with its
    time limit; without it, the limit counts from this call.
    """
    begin = time.monotonic() if since is None else since
    parser = make_parser("clopt-tune search", __doc__, EXAMPLES, OPTIONS)
    options = parser.parse_args(gather_target(args))
    check(options)
    if options.trials is not None and options.trials < 1:
        raise CloptError(f"--trials {options.trials}: must be 1 or more.")
    limit = parse_seconds("--time", options.time)
    beside = database_beside(options.model)
    path: Path = options.output or beside
    if path.exists():
        print_remarks(TuningDatabase.read(path).remarks)
    model = TunedModel(
        options.model,
        options.device,
        options.device_target,
        parse_dims(options.dim),
        options.precision,
    )
    model.check()
    check_path(path)
    budget = Budget(None if limit is None else seconds_to_search(limit, begin), options.trials)
    deadline = Deadline.after(budget.seconds)
    facts: dict[str, Any] = {"version": VERSION, "database": str(path), "kernels": []}
    output = sys.stdout

    def conclude() -> None:
        if path.exists():
            found = "clopt finds it there" if path == beside else f"use it with --tuning {path}"
            print(f"The database is {path}; {found}.")
        if options.json:
            with redirect_stdout(output):
                print_json(facts)

    def cut_short() -> None:
        print(_CUT_SHORT)
        conclude()

    end = None if since is None or limit is None else since + limit
    with (
        redirect_stdout(sys.stderr) if options.json else nullcontext(),
        stopped_at(end, cut_short),
    ):
        with _told_when_interrupted(path), ExitStack() as left, deadline.enforced():
            _search(options, model, budget, deadline, path, facts, left)
        conclude()


@contextmanager
def _told_when_interrupted(path: Path) -> Generator[None]:
    try:
        yield
    except TimeIsUpError:
        print(_CUT_SHORT)
    except KeyboardInterrupt:
        said = f"{path} has all trials; the same command continues from there"
        if not path.exists():
            said = "no plan has been tried yet"
        print(f"clopt-tune: interrupted; {said}.", file=sys.stderr)
        raise


def _search(
    options: Namespace,
    model: TunedModel,
    budget: Budget,
    deadline: Deadline,
    path: Path,
    facts: dict[str, Any],
    left: ExitStack,
) -> None:
    """Search, compare the network with its default plans unless on a fleet, and print the results.

    `facts` receives the result for `--json`. `left` ends the machines if this is interrupted.
    """
    display = SearchDisplay(budget)
    machines = machines_of(options)
    left.callback(machines.close)
    with closing(machines):
        journal = DatabaseJournal(path, machines.device)
        with networks_of(options) as build, display:
            if build is not None and not options.plans_only:
                budget = _search_choices(model, journal, budget, build, display)
        start = time.monotonic()
        with progress("lowering the network"):
            tasks = model.tasks(journal.tuning)
        budget = _before_confirmation(budget, deadline, time.monotonic() - start)
        search = Session(tasks, machines, journal, budget, options.seed, display.tell)
        with _printed_when_interrupted(search), display:
            outcomes = search.run()
    facts["kernels"] = [_facts(each) for each in outcomes if each.task.launches]
    confirmation = None
    with networks_of(options) as build, _printed_when_interrupted(search):
        if build and any(each.gains for each in outcomes) and not deadline.is_over:
            with progress("measuring the network", animated=False):
                confirmation = _confirmed(model, outcomes, journal, deadline, build)
    if confirmation is not None:
        before, after = confirmation.before.median, confirmation.after.median
        facts["network"] = {"default_microseconds": before, "best_microseconds": after}
        facts["refuted"] = [each.kernel for each in confirmation.refuted]
    _print(outcomes, confirmation)
    _tell_rest(search)
    if build is not None and deadline.is_over:
        raise TimeIsUpError


def _search_choices(
    model: TunedModel,
    journal: DatabaseJournal,
    budget: Budget,
    build: Build,
    display: SearchDisplay,
) -> Budget:
    """Spend a share of a budget on other choices; return the rest."""
    start, share = time.monotonic(), budget.share(_CHOICES)
    deadline, told = Deadline.after(share.seconds), display.tell_choices
    search = ChoiceSearch(model, journal, deadline, build, share.trials, told)
    _tell_choices(search.run())
    return budget.less(time.monotonic() - start, search.tried)


def _before_confirmation(budget: Budget, deadline: Deadline, lowering: float) -> Budget:
    """Return the budget for plans, given the seconds that it took to lower the model.

    The rest of the budget is for measuring the network, which compiles it several times.
    """
    left = deadline.left
    if budget.seconds is None or left is None:
        return budget
    kept = min(_CONFIRMATION * lowering, _MOST_CONFIRMATION * left)
    return Budget(max(0.0, left - kept), budget.trials)


@contextmanager
def _printed_when_interrupted(search: Session) -> Generator[None]:
    try:
        yield
    except KeyboardInterrupt:
        if outcomes := search.outcomes():
            _print(outcomes, None)
        raise


def _confirmed(
    model: TunedModel,
    outcomes: Sequence[Outcome],
    journal: DatabaseJournal,
    deadline: Deadline,
    build: Build,
) -> Confirmation:
    """Compare the network with its default plans, and record the corrected times of plans."""
    with journal.without_plans() as database:
        default = model.compiled(database)
    confirmation = confirm(outcomes, default, model.compiled(journal.path), deadline, build)
    for result in confirmation.refuted:
        task = next(each.task for each in outcomes if each.task.kernel == result.kernel)
        journal.note(task, result, is_default=False)
    return confirmation


def _tell_choices(found: ChoiceOutcome | None) -> None:
    if found is None:
        return
    if not found.kept:
        print(f"{found.tried} other choices were tried, and none makes the network faster.")
        return
    print(
        f"The kernels of an inference take {found.before / 1e3:.4g} ms with the usual choices and "
        f"{found.after / 1e3:.4g} ms with these:"
    )
    for move in found.kept:
        print(f"  {move.kind} {move.new_text} instead of {move.old_text}: {printable(move.nodes)}")


def _tell_rest(search: Session) -> None:
    """Print what a longer search could gain: the kernels that this one has not finished."""
    rest = [each for each in search.searches if each.task.launches and not each.is_over]
    if not rest:
        print("No kernel is expected to gain from more plans.")
        return
    vain = sum(len(each.results) <= 1 for each in rest)
    minutes = math.ceil(search.seconds_for(rest) / 60)
    print(
        f"The search has not finished {len(rest)} of {len(search.searches)} kernels; "
        f"{vain} saw only their default. The same command continues: about {minutes} more minutes "
        "try another generation of plans for each."
    )


_NO_GAIN = {
    "untried": "only the default has been timed.",
    "noise": "no plan is faster than the default by more than the noise of the measurements.",
    "network": "a plan is faster alone, but the network as a whole is not, so the default stays.",
}
"""The words of the column `gain`, and their meanings."""


def _facts(outcome: Outcome) -> dict[str, Any]:
    """Return a row of the table for JSON, without rounding."""
    task = outcome.task
    return {
        "kernel": task.kernel,
        "name": task.name,
        "nodes": task.nodes,
        "launches": task.launches,
        "plans": outcome.plans,
        "default_microseconds": outcome.default.microseconds,
        "best_microseconds": outcome.best.microseconds,
        "gains": outcome.gains,
        "rule": outcome.best.plan.rule,
    }


def _print(outcomes: Sequence[Outcome], confirmation: Confirmation | None) -> None:
    refuted = {result.kernel for result in confirmation.refuted} if confirmation else set[str]()
    heading = ("kernel", "launches", "plans", "default, us", "best, us", "gain", "rule", "nodes")
    rows = table(*heading, cut=("kernel", "rule", "nodes"))
    present = [each for each in outcomes if each.task.launches]
    for each in sorted(present, key=lambda outcome: -outcome.saved):
        before, after = each.default.microseconds, each.best.microseconds
        gain = "" if before is None or after is None else f"{before / after:.2f}"
        if each.task.kernel in refuted:
            gain = "network"
        elif each.plans == 1:
            gain = "untried"
        elif not each.gains:
            gain = "noise"
        rows.add_row(
            cut_text(f"@{each.task.name}"),
            str(each.task.launches),
            str(each.plans),
            *("" if time is None else f"{time:.4g}" for time in (before, after)),
            gain,
            cut_text(each.best.plan.rule),
            cut_text(each.task.nodes[:40]),
        )
    terminal().print(rows)
    gains = set(rows.columns[heading.index("gain")].cells)
    for word, meaning in _NO_GAIN.items():
        if word in gains:
            print(f"{word}: {meaning}")
    if confirmation is not None:
        before, after = confirmation.before.median, confirmation.after.median
        print(
            f"The kernels of an inference take {before / 1e3:.4g} ms with default plans and "
            f"{after / 1e3:.4g} ms with those of the database."
        )
