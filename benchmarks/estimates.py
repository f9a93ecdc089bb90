"""The accuracy of estimated kernel times, compared with measurements of `clopt-tune`.

`python benchmarks/estimates.py MODEL=RECORDS... --target TARGET [--output results/estimates-NAME]`.
RECORDS is a database that `clopt-tune search MODEL --plans-only -o RECORDS` wrote. For each record
of a plan, the kernel is scheduled by that plan and estimated (`clopt.passes.tir.plan_estimate`).

- *error*: the median of |ln(estimated / measured)|, as a share.
- *rank*: Spearman's correlation of estimated and measured times of one kernel's plans; the median
  of all kernels.
- *picked* and *default*: the time of the plan with the least estimate, and of clopt's default plan,
  over that of the fastest, each summed over the kernels.
- *within 10 %*: the share of the time in kernels whose picked plan, and whose default, is at most a
  tenth slower than the fastest.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path

from provenance import measured
from scipy.stats import spearmanr

from clopt.decisions.choice_file import read_plan
from clopt.decisions.database import TuningDatabase
from clopt.decisions.record import Record
from clopt.errors import CloptError
from clopt.passes.tir.plan_estimate import estimate_plan
from clopt.tuning.networks import TunedModel
from clopt.tuning.programs import Programs

HERE = Path(__file__).resolve().parent
LEAST_PLANS = 4
"""Minimum plans of a kernel for a meaningful rank."""


@dataclass(frozen=True)
class Row:
    """A plan of a kernel with both of its times, in microseconds."""

    kernel: str
    rule: str
    measured: float
    estimated: float
    is_default: bool

    @property
    def error(self) -> float:
        """The logarithm of the estimate over the measured time."""
        return log(self.estimated / self.measured)


def rows_of(model: Path, records: Path, target: str) -> Iterator[Row]:
    """Yield a row for each record of a plan that still schedules its kernel."""
    by_kernel: defaultdict[str, list[Record]] = defaultdict(list)
    for record in TuningDatabase.read(records).records:
        if record.kind == "plan":
            by_kernel[record.site].append(record)
    for task in TunedModel(model, target=target).tasks():
        programs = Programs(task)
        for record in by_kernel[task.kernel]:
            if record.microseconds is None:
                continue
            plan = read_plan(record.choice, record.place)
            try:
                time = estimate_plan(programs.kernel, plan, task.target).microseconds
            except CloptError:  # the plan is of an older version of its rule
                continue
            yield Row(task.kernel, plan.rule, record.microseconds, time, record.default)


def summary(rows: Sequence[Row]) -> dict[str, float]:
    """Return the figures over all kernels."""
    kernels: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        kernels[row.kernel].append(row)
    compared = [found for found in kernels.values() if len(found) >= LEAST_PLANS]
    best = [min(row.measured for row in found) for found in compared]
    picked = [min(found, key=lambda row: row.estimated).measured for found in compared]
    default = [
        next((row.measured for row in found if row.is_default), least)
        for found, least in zip(compared, best, strict=True)
    ]

    def near(times: Sequence[float]) -> float:
        return sum(least for least, time in zip(best, times, strict=True) if time <= 1.1 * least)

    return {
        "plans": len(rows),
        "kernels": len(compared),
        "error": exp(statistics.median(abs(row.error) for row in rows)) - 1,
        "bias": exp(statistics.median(row.error for row in rows)),
        "rank": statistics.median(
            spearmanr([r.estimated for r in found], [r.measured for r in found]).statistic
            for found in compared
        ),
        "picked": sum(picked) / sum(best),
        "default": sum(default) / sum(best),
        "picked_within": near(picked) / sum(best),
        "default_within": near(default) / sum(best),
    }


def table(rows: Sequence[Row]) -> list[str]:
    """Return Markdown tables: the summary, and the estimates by rule."""
    found = summary(rows)
    lines = [
        "| plans | kernels | error | bias | rank | picked | within 10 % | default | within 10 % |",
        "|---|---|---|---|---|---|---|---|---|",
        f"| {found['plans']:.0f} | {found['kernels']:.0f} | {found['error']:.0%} "
        f"| {found['bias']:.2f} | {found['rank']:.2f} | {found['picked']:.3f} "
        f"| {found['picked_within']:.0%} "
        f"| {found['default']:.3f} | {found['default_within']:.0%} |",
        "",
        "| rule | plans | estimated / measured | spread |",
        "|---|---|---|---|",
    ]
    by_rule: defaultdict[str, list[float]] = defaultdict(list)
    for row in rows:
        by_rule[row.rule].append(row.error)
    for rule, errors in sorted(by_rule.items()):
        middle, spread = exp(statistics.median(errors)), statistics.pstdev(errors)
        lines.append(f"| {rule} | {len(errors)} | {middle:.2f} | {spread:.2f} |")
    return lines


def main() -> None:
    """Print the tables, and write them with `--output`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("pairs", nargs="+", metavar="MODEL=RECORDS")
    parser.add_argument("--target", required=True, help="the target of the records' device")
    parser.add_argument("--output", type=Path, help="a path without suffix: .md and .json")
    args = parser.parse_args()
    rows: list[Row] = []
    for pair in args.pairs:
        model, _, records = pair.partition("=")
        rows += rows_of(Path(model), Path(records), args.target)
    lines = table(rows)
    print("\n".join(lines))
    if args.output:
        head = ["# Estimated and measured times of kernels", "", measured(), "", __doc__ or "", ""]
        args.output.with_suffix(".md").write_text("\n".join([*head, *lines]) + "\n")
        args.output.with_suffix(".json").write_text(json.dumps(summary(rows), indent=1) + "\n")


if __name__ == "__main__":
    main()
