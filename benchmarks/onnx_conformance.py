"""Run ONNX's backend test suite on an OpenCL device and write a table by operator.

Every case runs in a worker process that may crash or hang without harm to the others:
`python benchmarks/onnx_conformance.py --device pocl`. Statuses: `pass`; `pass-bound` (of
rivals: passes once the inputs that decide shapes are bound as initialisers);
`closer` (outside of the tolerance, but nearer to the result in float64 than the suite's own value);
`random` (other random numbers of the right type and shape);
`unsupported` (refused with a sentence); `wrong`; `error` (any other exception); `crash`; `hang`.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import signal
import sys
import threading
import time
from collections import Counter, defaultdict
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import conformance_cases
import conformance_worker
from devices import select_rival_device
from provenance import measured
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

HERE = Path(__file__).resolve().parent
STATUSES = (
    "pass",
    "pass-bound",
    "closer",
    "random",
    "unsupported",
    "wrong",
    "error",
    "crash",
    "hang",
)
GOOD = ("pass", "pass-bound", "closer")
BAD = ("wrong", "crash", "hang")
CASES_PER_WORKER = 250
START_SECONDS = 120.0

Result = dict[str, Any]


class Worker:
    """A process that runs cases; it is replaced when it dies, hangs or has run many."""

    def __init__(self, rival: str, device: str, cache: Path) -> None:
        cache.mkdir(parents=True, exist_ok=True)
        self.arguments = (rival, device, cache)
        self.process: BaseProcess | None = None
        self.served = 0

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(
            target=conformance_worker.work, args=(theirs, *self.arguments), daemon=True
        )
        self.process.start()
        theirs.close()
        self.served = 0
        if not self.connection.poll(START_SECONDS) or self.connection.recv() != "ready":
            raise RuntimeError("the worker did not start")

    def stop(self) -> None:
        """End the process, if there is one."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.connection.close()
            self.process = None

    def run(self, path: Path, timeout: float) -> tuple[str, str, float]:
        """Return the status, message and seconds of one case."""
        if self.process is None or self.served >= CASES_PER_WORKER:
            self.stop()
            self._start()
        self.served += 1
        self.connection.send(path)
        try:
            if self.connection.poll(timeout):
                return self.connection.recv()
            outcome = ("hang", f"no answer in {timeout:.0f} s", timeout)
        except (EOFError, ConnectionResetError):
            assert self.process is not None
            self.process.join(5)
            outcome = ("crash", f"exit code {self.process.exitcode}", 0.0)
        self.stop()
        return outcome


def run_cases(paths: list[Path], args: argparse.Namespace) -> dict[str, Result]:
    """Run all cases on `args.jobs` workers."""
    waiting: SimpleQueue[Path] = SimpleQueue()
    for path in paths:
        waiting.put(path)
    results: dict[str, Result] = {}
    console = Console(stderr=True)
    with Progress(console=console, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("cases", total=len(paths))

        def serve(index: int) -> None:
            cache = HERE / ".caches" / f"conformance-{args.rival}-{index}"
            worker = Worker(args.rival, args.device, cache)
            while True:
                try:
                    path = waiting.get_nowait()
                except Empty:
                    worker.stop()
                    return
                status, message, seconds = worker.run(path, args.timeout)
                case = conformance_cases.load(path)
                results[f"{case.kind}/{case.name}"] = {
                    "operator": case.operator,
                    "status": status,
                    "message": message,
                    "seconds": round(seconds, 2),
                }
                progress.advance(task)

        threads = [
            threading.Thread(target=serve, args=(index,), daemon=True) for index in range(args.jobs)
        ]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except KeyboardInterrupt:
            console.print("interrupted: the report holds the cases run so far")
    return dict(sorted(results.items()))


def by_operator(results: dict[str, Result]) -> dict[str, Counter[str]]:
    """Count each status of each operator."""
    table: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for result in results.values():
        table[result["operator"]][result["status"]] += 1
    return dict(sorted(table.items()))


def markdown(results: dict[str, Result], title: str) -> str:
    """Return the report: totals, a table by operator, and each case that failed."""
    totals = Counter(result["status"] for result in results.values())
    used = [s for s in STATUSES if totals[s] or s in ("wrong", "crash", "hang")]
    lines = [f"# {title}", "", measured(), "", "| | " + " | ".join(used) + " | all |"]
    lines += ["|---" * (len(used) + 2) + "|"]
    counts = " | ".join(str(totals[s]) for s in used)
    lines += [f"| **all** | {counts} | {len(results)} |"]
    for operator, row in by_operator(results).items():
        counts = " | ".join(str(row[s] or "") for s in used)
        lines.append(f"| {operator} | {counts} | {row.total()} |")
    reasons = Counter(r["message"] for r in results.values() if r["status"] == "unsupported")
    lines += ["", "## Cases that differ", ""]
    for name, result in results.items():
        if result["status"] not in ("pass", "pass-bound", "unsupported"):
            message = result["message"].replace("|", "\\|")
            lines.append(f"- `{name}` **{result['status']}**: {message}")
    if reasons:
        lines += ["", "## Most frequent refusals", ""]
        lines += [f"- {count}: {message}" for message, count in reasons.most_common(40)]
    return "\n".join(lines) + "\n"


def as_json(results: dict[str, Result]) -> str:
    """Return the text for `--baseline`: one line per case, without times and messages."""
    kept = ("operator", "status")
    lines = [
        f"{json.dumps(name)}: {json.dumps({key: result[key] for key in kept})}"
        for name, result in results.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def show(results: dict[str, Result], title: str, console: Console) -> None:
    """Print the totals, and the operators with other statuses than pass."""
    table = Table(title=title)
    table.add_column("operator")
    for status in STATUSES:
        table.add_column(status, justify="right")
    totals = Counter(result["status"] for result in results.values())
    for operator, row in by_operator(results).items():
        if any(row[s] for s in STATUSES if s not in GOOD):
            table.add_row(operator, *(str(row[s] or "") for s in STATUSES))
    table.add_section()
    table.add_row("all", *(str(totals[s]) for s in STATUSES))
    console.print(table)


def regressions(results: dict[str, Result], baseline: dict[str, Result]) -> list[str]:
    """Return cases that passed in the baseline and no longer do, and new wrong answers."""
    lines: list[str] = []
    for name, result in results.items():
        before = baseline.get(name, {}).get("status", "absent")
        now = result["status"]
        if (before in GOOD and now not in GOOD) or (now in BAD and before != now):
            lines.append(f"{name}: {before} -> {now} {result['message']}")
    return lines


def main() -> int:
    """Run the command line; the exit code is 1 for a wrong answer, crash, hang or regression."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--device", default="pocl", choices=["pocl", "intel", "nvidia"])
    parser.add_argument("--rival", default="clopt", choices=sorted(conformance_worker.RUNNERS))
    parser.add_argument("--only", metavar="REGEX", help="run the cases whose name matches")
    parser.add_argument("--expanded", action="store_true", help="with the expanded functions")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for a case")
    parser.add_argument("--baseline", type=Path, help="JSON file of a former run")
    parser.add_argument("--output", type=Path, help="base name of the .md and .json files")
    args = parser.parse_args()
    import onnx

    folder = HERE / ".caches" / f"cases-{onnx.__version__}{'-expanded' if args.expanded else ''}"
    paths = conformance_cases.materialise(folder, args.expanded)
    if args.only:
        paths = [path for path in paths if re.search(args.only, path.stem)]
    select_rival_device(args.rival, args.device)
    os.environ["ALLOW_RELEASED_ONNX_OPSET_ONLY"] = "0"
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    start = time.perf_counter()
    results = run_cases(paths, args)
    title = f"ONNX {onnx.__version__} backend tests: {args.rival} on {args.device}"
    console = Console()
    show(results, title, console)
    console.print(f"{len(results)} cases in {time.perf_counter() - start:.0f} s")
    output: Path | None = args.output
    if output is None and len(results) == len(paths) and not args.only:
        output = HERE / "results" / f"conformance-{args.rival}-{args.device}"
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.with_suffix(".md").write_text(markdown(results, title))
        output.with_suffix(".json").write_text(as_json(results))
    for name, result in results.items():
        if args.only or result["status"] in BAD:
            console.print(
                f"{name}: {result['status']} {result['message']}", markup=False, soft_wrap=True
            )
    worse = regressions(results, json.loads(args.baseline.read_text())) if args.baseline else []
    for line in worse:
        console.print(f"regression: {line}", markup=False, soft_wrap=True)
    return int(bool(worse) or any(r["status"] in BAD for r in results.values()))


if __name__ == "__main__":
    sys.exit(main())
