"""Quantised networks: the error in steps beside onnxruntime, and times beside float.

`python benchmarks/quantised.py [networks] [--device pocl] [--per-channel] [--size 224]`.
onnxruntime's quantiser makes each network's QDQ form from seeded samples. The error of a result is
its largest distance from onnxruntime's, node by node in floats, in steps of the last quantised
value; that of onnxruntime's integer kernels stands beside it. The rivals take turns in processes of
their own, as in `compare.py`. With `--rounds 0` only errors are measured. With `--pieces` each part
of a network between two quantised values also runs alone, on onnxruntime's inputs. The report lists
the error of the worst part in steps. It is `results/quantised-DEVICE[-channels].{md,json}`, where
networks that were measured before keep their rows.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

import models
import numpy as np
import onnx
from compare import Runner
from provenance import measured
from quantiser import output_step, pieces, quantise, run_onnxruntime, values_of
from rich.console import Console
from rich.table import Table

import clopt

HERE = Path(__file__).resolve().parent
NETWORKS = ("resnet18", "mobilenet_v2", "vit_tiny", "lstm")
FORMS = ("f32", "int8")
SAMPLES = 8
HEADER = ("rival", "ms", "x ort f32", "x ort int8", "steps", "alone")

Row = dict[str, float]


def quantised_path(path: Path, per_channel: bool, folder: Path) -> Path:
    """Return the file of a network's QDQ form; create it if missing."""
    form = "channels" if per_channel else "tensors"
    result = folder / f"{path.stem}_{form}.onnx"
    if not result.exists():
        samples = [models.sample_inputs(path, seed) for seed in range(1, SAMPLES + 1)]
        folder.mkdir(parents=True, exist_ok=True)
        result.write_bytes(quantise(onnx.load(path), samples, per_channel))
    return result


def steps_off(found: Sequence[np.ndarray], expected: Sequence[np.ndarray], step: float) -> float:
    """Return the largest difference of the first outputs, in steps."""
    return float(np.abs(found[0].astype("f8") - expected[0].astype("f8")).max() / step)


def measure(path: Path, quantised: Path, device: str, rounds: int) -> dict[str, Row]:
    """Measure all rivals on one network."""
    model, inputs = quantised.read_bytes(), models.sample_inputs(path)
    expected = run_onnxruntime(model, inputs, optimised=False)
    files = dict(zip(FORMS, (path, quantised), strict=True))
    rows: dict[str, Row] = {}
    runners: dict[str, Runner] = {}
    for rival in ("onnxruntime", f"clopt-{device}"):
        for form in FORMS:
            runner = Runner(rival, files[form], cold=False)
            row = runner.prepare()
            if "failure" in row:
                raise SystemExit(f"{rival} {form}: {row['failure']}")
            outputs = row["outputs"]
            label = f"{rival} {form}"
            rows[label] = {"steps": steps_off(outputs, expected, output_step(model))}
            runners[label] = runner
    order = random.Random(0)
    for _ in range(rounds):
        turn = list(runners.values())
        order.shuffle(turn)
        if not all([runner.time() for runner in turn]):
            raise SystemExit("a rival died")
    for label, runner in runners.items():
        runner.stop()
        if rounds:
            rows[label]["ms"] = 1e3 * statistics.median(runner.walls)
            for form in FORMS:
                pairs = zip(runner.rounds, runners[f"onnxruntime {form}"].rounds, strict=True)
                rows[label][f"x ort {form}"] = statistics.median(a / b for a, b in pairs)
    return rows


def steps_alone(quantised: Path, device: str) -> int:
    """Return the largest error in steps of any piece that gets onnxruntime's inputs."""
    model = quantised.read_bytes()
    parts = pieces(model)
    names = [name for part in parts for name in (*part.inputs, part.output)]
    values = values_of(model, names, models.sample_inputs(quantised))
    most = 0
    for part in parts:
        compiled = clopt.compile(part.model, device=device)
        (found,) = compiled.run({name: values[name] for name in part.inputs})
        apart = np.abs(found.astype("i4") - values[part.output].astype("i4")).max()
        if apart > 1:
            print(f"{part.output} is {apart} steps off.")
        most = max(most, int(apart))
    return most


def cells(label: str, row: Row) -> list[str]:
    """Return a line of the table."""
    return [label, *(f"{row[key]:.2f}" if key in row else "" for key in HEADER[1:])]


def markdown(results: dict[str, dict[str, Row]], rounds: int) -> str:
    """Return the report."""
    lines = [
        "# Quantised networks, numpy in to numpy out",
        "",
        f"{measured()}. {rounds} shuffled rounds, medians; `steps` is the distance from",
        "onnxruntime's result in floats, node by node, in steps of the last quantised one; `alone`",
        "the most steps of a part between two quantised values that gets onnxruntime's inputs.",
        "",
        "| network | " + " | ".join(HEADER) + " |",
        "|---" * (len(HEADER) + 1) + "|",
    ]
    for name, rows in results.items():
        for index, (label, row) in enumerate(rows.items()):
            lines.append(f"| {'' if index else name} | {' | '.join(cells(label, row))} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("networks", nargs="*", default=list(NETWORKS), metavar="network")
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--per-channel", action="store_true", help="a scale for each channel")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--folder", type=Path, default=models.CACHE, help="of exported networks")
    parser.add_argument("--pieces", action="store_true", help="run each part alone, too")
    args = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 110)
    suffix = "-channels" if args.per_channel else ""
    output = HERE / "results" / f"quantised-{args.device}{suffix}.json"
    results: dict[str, dict[str, Row]] = {}
    if output.exists():
        results = json.loads(output.read_text())
    for name in args.networks:
        path = models.export(name, args.size, folder=args.folder)
        quantised = quantised_path(path, args.per_channel, models.CACHE)
        rows = results.setdefault(name, {})
        for label, row in measure(path, quantised, args.device, args.rounds).items():
            rows.setdefault(label, {}).update(row)
        if args.pieces:
            alone = steps_alone(quantised, args.device)
            rows[f"clopt-{args.device} int8"]["alone"] = alone
        table = Table(*HEADER, title=name)
        for label, row in rows.items():
            table.add_row(*cells(label, row))
        console.print(table)
        output.write_text(json.dumps(results, indent=1) + "\n")
        output.with_suffix(".md").write_text(markdown(results, args.rounds))


if __name__ == "__main__":
    main()
