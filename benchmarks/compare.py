"""Time the benchmark networks on clopt, tinygrad (OpenCL), onnxruntime, OpenVINO and IREE (CPU).

`python benchmarks/compare.py [networks] [--size 224] [--batch 8] [--rounds
12]`. OpenVINO and IREE run if `--rivals` names `openvino` and `iree`. Each rival runs a network in
its own warm process with its own caches; rounds visit the rivals in shuffled order. A time is from
numpy in to numpy out. The ratio to onnxruntime is the median of the rounds' ratios, because a
machine's speed may change from round to round. Errors are relative to the largest value of
onnxruntime's output. The report goes to `benchmarks/results/compare.{md,json}`.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import shutil
import statistics
import sys
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import models
import numpy as np
import rivals
from devices import rival_environment
from provenance import measured
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
CACHES = HERE / ".caches"
REFERENCE = "onnxruntime"
DEFAULT_RIVALS = ("onnxruntime", "clopt-pocl", "clopt-intel", "tinygrad-pocl")
PREPARE_SECONDS = 900.0
ROUND_SECONDS = 0.4
ROUND_RUNS = 100
"""Maximum runs per round; with few short runs, a round would measure how fast threads wake up."""

Row = dict[str, Any]


class Runner:
    """One rival with one network in its own process."""

    def __init__(self, label: str, path: Path, cold: bool) -> None:
        self.label = label
        rival, _, device = label.partition("-")
        cache = CACHES / label
        if cold:
            shutil.rmtree(cache, ignore_errors=True)
        saved = dict(os.environ)
        os.environ.update(rival_environment(rival, device, cache))
        context = multiprocessing.get_context("spawn")
        self.connection: Connection
        self.connection, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(
            target=rivals.work, args=(theirs, rival, device, path), daemon=True
        )
        self.process.start()
        theirs.close()
        os.environ.clear()
        os.environ.update(saved)
        self.walls: list[float] = []
        self.rounds: list[float] = []
        self.cpus: list[float] = []
        self.count = 1

    def prepare(self) -> Row:
        """Wait for the compiled network; return a row with facts or a failure."""
        return self._receive(PREPARE_SECONDS)

    def time(self) -> bool:
        """Run one round of timed runs; return False if the process has ended."""
        try:
            self.connection.send(self.count)
        except (BrokenPipeError, ConnectionResetError):
            return False
        answer = self._receive(PREPARE_SECONDS)
        if "failure" in answer:
            return False
        self.walls += answer["wall"]
        self.rounds.append(statistics.median(answer["wall"]))
        self.cpus.append(answer["cpu"])
        self.count = max(1, min(ROUND_RUNS, round(ROUND_SECONDS / statistics.median(self.walls))))
        return True

    def _receive(self, timeout: float) -> Row:
        try:
            if self.connection.poll(timeout):
                return self.connection.recv()
            return {"failure": f"no answer in {timeout:.0f} s"}
        except (EOFError, ConnectionResetError):
            self.process.join(5)
            return {"failure": f"the process died with exit code {self.process.exitcode}"}

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()


def relative_error(outputs: list[np.ndarray], expected: list[np.ndarray]) -> float:
    """Return the largest difference of any output, relative to the largest expected value."""
    errors = [0.0]
    for got, want in zip(outputs, expected, strict=True):
        if got.shape != want.shape:
            return float("inf")
        difference = np.abs(got.astype(np.float64) - want.astype(np.float64)).max(initial=0.0)
        errors.append(float(difference / max(np.abs(want).max(initial=0.0), 1e-30)))
    return max(errors)


def measure(name: str, args: argparse.Namespace, console: Console) -> dict[str, Row]:
    """Measure all rivals on one network."""
    path = models.export(name, args.size, batch=args.batch)
    rows: dict[str, Row] = {}
    runners: list[Runner] = []
    expected: list[np.ndarray] | None = None
    for label in args.rivals:
        console.print(f"{name}: preparing {label}", style="dim")
        runner = Runner(label, path, args.cold)
        row = runner.prepare()
        outputs = row.pop("outputs", None)
        if label == REFERENCE:
            expected = outputs
        elif outputs is not None and expected is not None:
            row["error"] = relative_error(outputs, expected)
        rows[label] = row
        if "failure" in row:
            console.print(f"{name}: {label} fails: {row['failure']}", style="red", markup=False)
            runner.stop()
        else:
            runners.append(runner)
    order = random.Random(0)
    for _ in range(args.rounds):
        order.shuffle(runners)
        runners = [runner for runner in runners if runner.time()]
    for runner in runners:
        rows[runner.label]["ms"] = 1e3 * statistics.median(runner.walls)
        rows[runner.label]["min_ms"] = 1e3 * min(runner.walls)
        rows[runner.label]["cpu_ms"] = 1e3 * statistics.median(runner.cpus)
        runner.stop()
    by_label = {runner.label: runner for runner in runners}
    for label, runner in by_label.items():
        for other in {REFERENCE, "tinygrad-pocl"} & by_label.keys():
            pairs = zip(runner.rounds, by_label[other].rounds, strict=True)
            key = "x_ort" if other == REFERENCE else "x_tinygrad"
            rows[label][key] = statistics.median(ours / theirs for ours, theirs in pairs)
    return rows


def _cells(label: str, rows: dict[str, Row]) -> list[str]:
    row = rows[label]

    def number(key: str, form: str) -> str:
        return format(row[key], form) if row.get(key) is not None else ""

    gain = row.get("x_tinygrad")
    return [
        label,
        number("ms", ".2f") or "fails",
        number("x_ort", ".2f"),
        f"{1 / gain:.2f}" if gain and label.startswith("clopt") else "",
        number("cpu_ms", ".1f"),
        number("error", ".1e"),
        number("compile_s", ".1f"),
        number("passes_s", ".2f"),
        number("kernels", "d"),
    ]


HEADER = (
    "rival",
    "ms",
    "x ort",
    "x faster than tinygrad",
    "CPU ms",
    "error",
    "compile s",
    "passes s",
    "kernels",
)


def show(name: str, rows: dict[str, Row], console: Console) -> None:
    """Print the table of one network."""
    table = Table(title=name)
    for index, title in enumerate(HEADER):
        title = title.replace(" than ", "\n").replace(" ort", "\nort")
        table.add_column(title, justify="right" if index else "left", no_wrap=True)
    for label in rows:
        table.add_row(*_cells(label, rows))
    console.print(table)


def markdown(results: dict[str, dict[str, Row]], args: argparse.Namespace) -> str:
    """Return the report: a summary of ratios, then every figure."""
    lines = [
        f"# Networks, numpy in to numpy out, batch {args.batch}",
        "",
        measured(),
        "",
        f"{args.size}x{args.size} images, {args.rounds} shuffled rounds, medians; "
        f"caches {'cold' if args.cold else 'kept'} when compiling.",
        "",
        "| network | " + " | ".join(HEADER) + " |",
        "|---" * (len(HEADER) + 1) + "|",
    ]
    for name, rows in results.items():
        for index, label in enumerate(rows):
            cells = " | ".join(_cells(label, rows))
            lines.append(f"| {name if index == 0 else ''} | {cells} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("networks", nargs="*", metavar="network", help="default: all")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--rivals", nargs="+", default=list(DEFAULT_RIVALS), metavar="RIVAL-DEVICE")
    parser.add_argument("--cold", action="store_true", help="clear every cache before compiling")
    parser.add_argument("--output", type=Path, default=HERE / "results" / "compare")
    args = parser.parse_args()
    networks = args.networks or list(models.NAMES)
    choices = [*models.NAMES, *models.UNTUNED]
    unknown = sorted({*networks} - {*choices})
    if unknown:
        parser.error(f"unknown network {unknown[0]}; choose from {', '.join(choices)}")
    if REFERENCE in args.rivals:
        args.rivals.sort(key=lambda label: label != REFERENCE)
    console = Console(width=None if sys.stdout.isatty() else 110)
    results: dict[str, dict[str, Row]] = {}
    for name in networks:
        results[name] = measure(name, args, console)
        show(name, results[name], console)
        args.output.parent.mkdir(parents=True, exist_ok=True)
        args.output.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")
        args.output.with_suffix(".md").write_text(markdown(results, args))
    return int(any("failure" in row for rows in results.values() for row in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
