"""Compare a tuned network with its untuned forms, here and at another commit.

    git worktree add ../old/clopt 7fc2cf9
    python benchmarks/tuned_against.py --old ../old swin_t.onnx=swin_t.jsonl --device NVIDIA

Each network has a database of `clopt-tune` (`MODEL=DATABASE`). Three processes compile its forms:
`old` untuned at the other commit, `new` untuned and `tuned` here. They take turns for some rounds,
so that load on the machine meets all of them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Timer
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
ROUND_SECONDS = 0.4
PROFILED = 8
PAIRS = (("new", "old"), ("tuned", "old"), ("tuned", "new"))
LIMIT_SECONDS = 300
HEAD = """\
| network | old, ms | new, ms | tuned, ms | new/old wall | kernels | tuned/old wall | kernels | \
tuned/new wall | kernels | error |
|---|---|---|---|---|---|---|---|---|---|---|"""


def serve(model: str, tuning: str, device: str, result: str) -> None:
    """Compile a form, and measure a round for each line of stdin.

    It answers milliseconds from numpy to numpy, and microseconds of all kernels. This code also
    runs with older packages, which name some things otherwise.
    """
    from clopt.tuning import confirm, networks

    names: Any = vars(networks)
    found = names.get("TunedModel") or names["Model"]
    compiled = found(Path(model), device).compiled(tuning)
    functions: Any = vars(confirm)
    inputs = (functions.get("sample_inputs") or functions["_inputs"])(compiled)
    outputs: Any = compiled.run(inputs)
    np.save(result, outputs[0])
    print("ready", flush=True)
    for _ in sys.stdin:
        walls: list[float] = []
        end = time.perf_counter() + ROUND_SECONDS
        while time.perf_counter() < end:
            start = time.perf_counter()
            compiled.run(inputs)
            walls.append(1e3 * (time.perf_counter() - start))
        runs = compiled.executable.profile(inputs, PROFILED)
        kernels = [sum(timing.nanoseconds for timing in run) / 1e3 for run in runs]
        print(json.dumps([statistics.median(walls), statistics.median(kernels)]), flush=True)


class Form:
    """A process with one form of a network."""

    def __init__(self, tree: Path, arguments: Sequence[str]) -> None:
        """Start it with the package `clopt` in the folder `tree`."""
        path = os.pathsep.join(filter(None, (str(tree), os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--serve", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
        )
        self._limit = Timer(LIMIT_SECONDS, self._process.kill)
        self._limit.start()

    def answer(self) -> str:
        """Return the next line that it prints; raise EOFError if it has ended."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise EOFError("a form of the network ended early")
        return line

    def measure(self) -> tuple[float, float]:
        """Return milliseconds from numpy to numpy, and microseconds of all kernels."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        wall, kernels = json.loads(self.answer())
        return wall, kernels

    def end(self) -> None:
        """End the process."""
        self._limit.cancel()
        self._process.kill()
        self._process.wait(10)


def compare(model: str, database: str, args: argparse.Namespace, folder: Path) -> str:
    """Return a row of the table."""
    here = ROOT.parent
    trees = {"old": (args.old, "off"), "new": (here, "off"), "tuned": (here, database)}
    results = {form: folder / f"{form}.npy" for form in trees}
    forms = {
        form: Form(tree, (model, tuning, args.device, str(results[form])))
        for form, (tree, tuning) in trees.items()
    }
    measured: dict[str, list[tuple[float, float]]] = {form: [] for form in forms}
    try:
        for form in forms.values():
            form.answer()
        for number in range(args.rounds):
            for name in sorted(forms, reverse=bool(number % 2)):
                measured[name].append(forms[name].measure())
    finally:
        for form in forms.values():
            form.end()
    walls = {name: statistics.median(wall for wall, _ in found) for name, found in measured.items()}
    ratios = [
        statistics.median(a[i] / b[i] for a, b in zip(measured[x], measured[y], strict=True))
        for x, y in PAIRS
        for i in (0, 1)
    ]
    old, tuned = (np.load(results[name]) for name in ("old", "tuned"))
    error = float(np.abs(tuned - old).max()) / max(float(np.abs(old).max()), 1e-30)
    cells = [Path(model).stem, *(f"{walls[name]:.3f}" for name in trees)]
    cells += [*(f"{ratio:.3f}" for ratio in ratios), f"{error:.1e}"]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Run the command line."""
    if sys.argv[1:2] == ["--serve"]:
        serve(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("networks", nargs="+", metavar="MODEL=DATABASE")
    parser.add_argument("--old", type=Path, required=True, help="the folder of the other `clopt`")
    parser.add_argument("--device", default="NVIDIA")
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    print(HEAD)
    with tempfile.TemporaryDirectory() as folder:
        for network in args.networks:
            model, _, database = network.partition("=")
            print(compare(model, database, args, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
