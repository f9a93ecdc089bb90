"""Measure the gain of `clopt-tune`: networks with tuned plans against default plans.

    python benchmarks/tuned_networks.py [networks] [--device pocl] [--time 2m] [--database FILE]

A network is a name of `models.py` or an .onnx file. Each is tuned for a time, as by `clopt-tune
MODEL --time 2m`, and then both forms take turns. Networks that were measured before keep their rows
in `results/tuned_networks-LABEL.json`, so that one may measure them one by one.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path

import models
import numpy as np
from provenance import measured

from clopt.backends.pyopencl_runtime.devices import find_device
from clopt.compiled_model import CompiledModel
from clopt.decisions.database import TuningDatabase
from clopt.tools.tune.search import main as tune
from clopt.tuning.confirm import confirm
from clopt.tuning.networks import TunedModel
from clopt.tuning.places import OFF
from clopt.tuning.times import Times

RESULTS = Path(__file__).resolve().parent / "results"
NETWORKS = (
    "mobilenet_v1",
    "mobilenet_v2",
    "mobilenet_v3_small",
    "resnet18",
    "resnet50",
    "squeezenet1_1",
    "efficientnet_lite0",
    "vit_tiny",
    "text_encoder",
    "yolo",
    "unet",
)
ROUND_SECONDS = 0.1
HEAD = """# Tuned networks

{origin}.
`plans` were tried within `seconds`, with the confirmation inside of the network after them.
`kernels` and `wall` are the time of an inference with tuned plans over that with default plans, by
the device's clock and from numpy to numpy, medians of {rounds} rounds in which both take turns;
`noise` is half of the 95 % interval of the median of `wall`. `changed` kernels have another text;
where there is none, both forms are one program, and the ratios are 1.

| network | target | plans | seconds | changed | default, ms | tuned, ms | kernels | wall | noise \
| error |
|---|---|---|---|---|---|---|---|---|---|---|
"""
FOOT = "| geometric mean | | | | | | | {kernels:.3f} | {wall:.3f} | | |\n"

Row = dict[str, str | float]


def turns(before: CompiledModel, after: CompiledModel, path: Path, rounds: int) -> Row:
    """Alternate between the forms, from numpy to numpy."""
    inputs = models.sample_inputs(path)
    forms = (before, after)
    found, expected = after.run(inputs), before.run(inputs)
    start = time.perf_counter()
    before.run(inputs)
    runs = max(1, round(ROUND_SECONDS / (time.perf_counter() - start)))
    walls: list[list[float]] = [[], []]
    for number in range(rounds):
        order = (0, 1) if number % 2 else (1, 0)
        for form in order:
            start = time.perf_counter()
            for _ in range(runs):
                forms[form].run(inputs)
            walls[form].append((time.perf_counter() - start) / runs)
    ratios = Times([b / a for a, b in zip(*walls, strict=True)])
    largest = max(float(np.abs(each).max()) for each in expected)
    apart = max(float(np.abs(a - b).max()) for a, b in zip(found, expected, strict=True))
    return {
        "default": 1e3 * statistics.median(walls[0]),
        "tuned": 1e3 * statistics.median(walls[1]),
        "wall": ratios.median,
        "noise": ratios.noise,
        "error": apart / max(largest, 1e-30),
    }


def changed(before: CompiledModel, after: CompiledModel) -> int:
    """Return the kernels of the second form that the first form lacks."""
    texts = [model.source.split("__kernel") for model in (before, after)]
    return len(set(texts[1]) - set(texts[0]))


def trials_in(database: Path) -> int:
    """Return the plans with a record."""
    return len(TuningDatabase.read(database).records) if database.exists() else 0


def measure(path: Path, args: argparse.Namespace) -> Row:
    """Tune a network and compare."""
    known = trials_in(args.database)
    options = [str(path), "--device", args.device, "-o", str(args.database)]
    options += ["--time", args.time, "--workers", str(args.workers)]
    options += ["--plans-only"] if args.plans_only else []
    if args.target:
        options += ["--target", args.target]
    start = time.perf_counter()
    tune(options)
    seconds = time.perf_counter() - start
    model = TunedModel(path, args.device, args.target)
    forms = model.compiled(OFF), model.compiled(args.database)
    row = turns(*forms, path, args.rounds)
    row["changed"] = changed(*forms)
    if row["changed"]:
        kernels = confirm([], *forms)
        row["kernels"] = kernels.after.median / kernels.before.median
    else:
        row |= {"tuned": row["default"], "wall": 1.0, "kernels": 1.0}
    row["target"] = args.target or "its own"
    return row | {"plans": trials_in(args.database) - known, "seconds": seconds}


def markdown(rows: dict[str, Row], origin: str, rounds: int) -> str:
    """Return the report."""
    text = HEAD.format(origin=origin, rounds=rounds)
    for name, row in rows.items():
        cells = (
            name,
            str(row["target"]),
            f"{row['plans']:.0f}",
            f"{row['seconds']:.0f}",
            str(row.get("changed", "")),
            *(f"{row[key]:.3f}" for key in ("default", "tuned", "kernels", "wall")),
            f"{row['noise']:.1%}",
            f"{row['error']:.1e}",
        )
        text += f"| {' | '.join(cells)} |\n"
    means = {
        key: statistics.geometric_mean(float(row[key]) for row in rows.values())
        for key in ("kernels", "wall")
    }
    return text + FOOT.format(**means)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("networks", nargs="*", default=list(NETWORKS), metavar="network")
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--target", help="code for this target instead of the device's own")
    parser.add_argument("--time", default="2m", help="of the search for each network")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--plans-only", action="store_true", help="as for clopt-tune")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--folder", type=Path, default=models.CACHE, help="of exported networks")
    parser.add_argument("--database", type=Path, default=Path("tuned.jsonl"))
    parser.add_argument("--label", help="of the report (default: the device)")
    args = parser.parse_args()
    report = RESULTS / f"tuned_networks-{args.label or args.device}.json"
    rows: dict[str, Row] = json.loads(report.read_text()) if report.exists() else {}
    origin = measured(str(find_device(args.device)))
    for name in args.networks:
        is_file = name.endswith(".onnx")
        path = Path(name) if is_file else models.export(name, folder=args.folder)
        rows[path.stem if is_file else name] = measure(path, args)
        report.write_text(json.dumps(rows, indent=1) + "\n")
        text = markdown(rows, origin, args.rounds)
        report.with_suffix(".md").write_text(text)
        print(text[text.index("| network") :], flush=True)


if __name__ == "__main__":
    main()
