"""Compare programs that serve any batch with static programs for each batch.

`python benchmarks/open_batches.py [names] [--device pocl] [--sizes 3 5 8] [--output FILE]`. A batch
runs on the program for the next power of two, or with `--largest 32` on the one for 32, with the
work-items that it needs. The static program is for the batch alone. Both take turns; run the script
on a quiet machine.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean, median

import networks
import numpy as np
import torch
from models import NAMES
from provenance import measured

import clopt
from clopt.errors import CloptWarning
from clopt.padded_program import PaddedProgram

SIZES = (1, 3, 5, 8, 11, 17, 24, 32)


@dataclass(frozen=True)
class Row:
    """One network at one batch; times in seconds."""

    name: str
    size: int
    program: int
    """The batch of the program that served it."""
    seconds: float
    static: float
    error: float
    """The largest difference between both, relative to the largest element."""
    memory: float
    """The memory of the program that served it over that of the static one."""

    @property
    def ratio(self) -> float:
        """The time over that of the static program."""
        return self.seconds / self.static

    def cells(self) -> list[str]:
        """Return the cells of the table."""
        times = [f"{1e3 * each:.2f}" for each in (self.seconds, self.static)]
        sizes = [str(self.size), str(self.program)]
        figures = f"{self.ratio:.3f} {self.error:.0e} {self.memory:.3f}".split()
        return [self.name, *sizes, *times, *figures]


def export(name: str, path: Path) -> None:
    """Export a network with an open batch."""
    inputs = networks.NETWORKS[name].inputs(networks.IMAGE_SIZE, 2)
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        torch.onnx.export(
            networks.build(name),
            tuple(inputs.values()),
            str(path),
            input_names=list(inputs),
            dynamic_shapes=tuple({0: torch.export.Dim.DYNAMIC} for _ in inputs),
            dynamo=True,
            external_data=False,
            verbose=False,
        )


def measure(
    name: str, path: Path, device: str, sizes: list[int], rounds: int, largest: int | None
) -> list[Row]:
    """Time a network at several batches; one program serves 1 to `largest`, if that is given."""
    model = clopt.compile(path, device=device)
    if largest is not None:
        dims = {model.inputs[0].symbols[0]: (1, largest, largest)}
        model = clopt.compile(path, device=device, dims=dims)
    assert isinstance(model, clopt.DynamicModel)
    rows: list[Row] = []
    for size in sizes:
        tensors = networks.NETWORKS[name].inputs(networks.IMAGE_SIZE, size)
        feed = {key: each.numpy() for key, each in tensors.items()}
        static = clopt.compile(path, device=device, dims={model.inputs[0].symbols[0]: size})
        rows.append(compared(name, size, 0, (model, static), feed, rounds))
        print(f"| {' | '.join(rows[-1].cells())} |", flush=True)
    return rows


def compared(
    name: str,
    size: int,
    axis: int,
    models: tuple[clopt.CompiledModel, clopt.CompiledModel],
    feed: dict[str, np.ndarray],
    rounds: int,
) -> Row:
    """Time an open model and a static one; `axis` of the first input has the program's size."""
    model, static = models
    assert isinstance(model, clopt.DynamicModel)
    serving, _ = model.serve(feed)
    program = serving.program if isinstance(serving, PaddedProgram) else serving
    results = model.run(feed), static.run(feed)
    error = max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(*results, strict=True))
    seconds, alone = in_turns([lambda: model.run(feed), lambda: static.run(feed)], rounds)
    memory = program.memory.total / static.memory.total
    return Row(name, size, program.inputs[0].shape[axis], seconds, alone, error, memory)


def in_turns(runs: list[Callable[[], object]], rounds: int) -> list[float]:
    """Return the median seconds of each; they alternate."""
    seconds: list[list[float]] = [[] for _ in runs]
    for _ in range(rounds):
        for run, found in zip(runs, seconds, strict=True):
            start = time.perf_counter()
            run()
            found.append(time.perf_counter() - start)
    return [median(each) for each in seconds]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="networks (default: all)")
    parser.add_argument("--device", default="intel")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--largest", type=int, help="the batch of the only program")
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore", CloptWarning)
    head = ("network", "batch", "program", "ms", "static, ms", "ratio", "difference", "memory")
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    print(*lines, sep="\n")
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in args.names or NAMES:
            path = Path(folder) / f"{name}.onnx"
            export(name, path)
            rows += measure(name, path, args.device, args.sizes, args.rounds, args.largest)
    lines += [f"| {' | '.join(row.cells())} |" for row in rows]
    summary = ["| batch | geometric mean | greatest |", "|---|---|---|"]
    for size in args.sizes:
        ratios = [row.ratio for row in rows if row.size == size]
        summary.append(f"| {size} | {geometric_mean(ratios):.3f} | {max(ratios):.3f} |")
    print(*summary, sep="\n")
    if args.output is not None:
        title = f"# Any batch on the program for the next power of two, {args.device}"
        args.output.write_text("\n".join([title, "", measured(), "", *summary, "", *lines]) + "\n")


if __name__ == "__main__":
    main()
