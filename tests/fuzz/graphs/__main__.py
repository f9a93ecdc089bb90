"""A campaign: many random graphs in every configuration, compared with onnxruntime.

    cd tests && python -m fuzz.graphs --graphs 3000 --seed 1 --device intel-cpu --journal log.jsonl

prints what is not right as it is found, and at the end how many runs there were. A journal keeps
what is done: the same command goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from .check import RIGHT, Outcome
from .configurations import CONFIGURATIONS, is_known_refusal
from .worker import Worker, find_devices, first_seed


def main() -> int:
    """Run the campaign; 1 if anything was not right."""
    arguments = _arguments()
    journal = Path(arguments.journal) if arguments.journal else None
    tally = Tally()
    done = _read(journal, tally)
    worker = Worker(arguments.seconds)
    began = time.monotonic()
    base = first_seed(arguments.seed)
    for first in range(arguments.first, arguments.graphs, arguments.batch):
        last = min(first + arguments.batch, arguments.graphs)
        seeds = tuple(range(base + first, base + last))
        for configuration in arguments.configurations:
            for device in arguments.device:
                key = f"{seeds[0]}-{seeds[-1]} {configuration} {device}"
                if key in done:
                    continue
                outcomes = worker.run((seeds, configuration, device))
                tally.add(outcomes)
                if journal is not None:
                    with journal.open("a") as file:
                        file.write(json.dumps({"key": key, "outcomes": _short(outcomes)}) + "\n")
        print(f"{last} graphs, {time.monotonic() - began:.0f} s: {tally.line()}", flush=True)
    worker.close()
    print(tally.report())
    return 1 if tally.defects else 0


class Tally:
    """Counts of outcomes."""

    def __init__(self) -> None:
        self.verdicts: Counter[str] = Counter()
        self.runs: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self.undetermined = 0
        self.defects: list[Outcome] = []
        self.graphs: set[int] = set()

    def add(self, outcomes: list[Outcome], quiet: bool = False) -> None:
        """Count, and print what is not right."""
        for outcome in outcomes:
            self.graphs.add(outcome.seed)
            self.verdicts[outcome.verdict] += 1
            self.runs[f"{outcome.configuration} on {outcome.device}"] += 1
            self.undetermined += outcome.undetermined
            if outcome.verdict == "refused":
                self.refusals[_kind_of(outcome.detail)] += 1
            if outcome.verdict not in RIGHT and not is_known_refusal(outcome.detail):
                self.defects.append(outcome)
                if not quiet:
                    print(
                        f"{outcome.verdict}: seed {outcome.seed}, {outcome.configuration}, "
                        f"{outcome.device}\n    {outcome.detail[-1500:]}",
                        flush=True,
                    )

    def line(self) -> str:
        """The counts in short."""
        return ", ".join(f"{count} {verdict}" for verdict, count in self.verdicts.most_common())

    def report(self) -> str:
        """All counts."""
        lines = [f"{len(self.graphs)} graphs, {self.line()}"]
        lines.append(f"{self.undetermined} outputs that rounding could move too far to compare")
        lines += [f"  {count:6} {where}" for where, count in sorted(self.runs.items())]
        lines += [f"refused {n} times: {sentence}" for sentence, n in self.refusals.most_common()]
        lines += [f"{o.verdict}: {o.seed} {o.configuration}, {o.device}" for o in self.defects]
        return "\n".join(lines)


def _kind_of(sentence: str) -> str:
    """A refusal without the names and numbers of one graph."""
    without_names = re.sub(r"g\d+_\w+|'[^']*'|\"[^\"]*\"", "…", sentence)
    return re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?", "N", without_names)


def _short(outcomes: list[Outcome]) -> list[dict[str, object]]:
    """Right outcomes without what they all have."""
    return [
        {"seed": o.seed, "undetermined": o.undetermined} if o.verdict == "right" else asdict(o)
        for o in outcomes
    ]


def _read(journal: Path | None, tally: Tally) -> set[str]:
    """The jobs that a journal says are done, counted."""
    if journal is None or not journal.exists():
        return set()
    done: set[str] = set()
    for line in journal.read_text().splitlines():
        entry = json.loads(line)
        _, rest = entry["key"].split(" ", 1)
        configuration, device = rest.rsplit(" ", 1)
        common = {"configuration": configuration, "device": device, "verdict": "right"}
        tally.add([Outcome(**(common | o)) for o in entry["outcomes"]], quiet=True)
        done.add(entry["key"])
    return done


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="fuzz.graphs", description=__doc__)
    names = [c.name for c in CONFIGURATIONS]
    parser.add_argument("--graphs", type=int, default=3000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first graph")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, default=16, help="graphs that are one model")
    parser.add_argument("--device", nargs="*", default=sorted(find_devices()))
    parser.add_argument("--configurations", nargs="*", default=names, choices=names, metavar="NAME")
    parser.add_argument("--journal", help="a file that keeps what is done")
    parser.add_argument("--seconds", type=float, default=600, help="limit for one job")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
