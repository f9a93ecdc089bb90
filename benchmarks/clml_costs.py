"""Measure the cost of CLML on a device, as the facts that `clml=auto` uses.

`python benchmarks/clml_costs.py --device adreno` times commands of CLML and copies between layouts.
It fits launch + multiply-adds / rate + bytes / bandwidth to them, and prints lines for a target's
file. It times our kernels on the same operations, because `clml=auto` compares the two: the facts
are in the scale of our cost model. `--library reference` tries the script without CLML.

For a device without Python, `--write FOLDER --target adreno-740` writes a C package for each
operation, with CLML and without. Build each one there, and run it with `--profile` into a file
`profile.txt` beside its sources; `--read FOLDER` with the same target fits those.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf, prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from rich.console import Console
from rich.table import Table
from xdsl.dialects import func

import clopt
from clopt.context import CloptContext
from clopt.dialects import clml
from clopt.dialects.cl import Target, target_of
from clopt.frontends.onnx import import_onnx
from clopt.passes.nn.clml.accelerator import CLML
from clopt.passes.nn.clml.cost import RATES, CommandCosts, MLCommandWork, work_of_command
from clopt.passes.nn.offload.chooser import Chooser
from clopt.passes.pipelines import run_pipeline
from clopt.targets import with_facts

FACTS = (*RATES.values(), "clml_bandwidth", "clml_launch_microseconds")
_LINE = re.compile(r"^ *([\d.]+) ms  (?!in all$)\S+ +.+$", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """A network of one operation."""

    name: str
    operator: str
    shape: tuple[int, ...]
    weights: tuple[tuple[int, ...], ...] = ()
    attributes: tuple[tuple[str, Any], ...] = ()

    def model(self) -> onnx.ModelProto:
        """Return the network; its weights are random."""
        random = np.random.default_rng(1)
        names = [f"w{i}" for i in range(len(self.weights))]
        arrays = [random.standard_normal(shape).astype(np.float32) for shape in self.weights]
        weights = [numpy_helper.from_array(a, n) for a, n in zip(arrays, names, strict=True)]
        node = helper.make_node(
            self.operator, ["x", *names], ["y"], self.operator, **dict(self.attributes)
        )
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
        graph = helper.make_graph([node], "case", [x], [y], weights)
        opsets = [helper.make_opsetid("", 18)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def _conv(channels: int, outputs: int, size: int, kernel: int, groups: int = 1) -> Case:
    weights = (outputs, channels // groups, kernel, kernel), (outputs,)
    attributes = ("group", groups), ("pads", [kernel // 2] * 4)
    name = f"conv {kernel}x{kernel} {channels} to {outputs} at {size}"
    if groups > 1:
        name = f"depthwise {kernel}x{kernel} {channels} at {size}"
    return Case(name, "Conv", (1, channels, size, size), weights, attributes)


def _pool(kernel: int, channels: int, size: int) -> Case:
    attributes = ("kernel_shape", [kernel] * 2), ("strides", [2, 2])
    return Case(
        f"pool {kernel}x{kernel} {channels} at {size}",
        "MaxPool",
        (1, channels, size, size),
        attributes=attributes,
    )


CASES = (
    _conv(64, 64, 56, 3),
    _conv(128, 128, 28, 3),
    _conv(256, 256, 14, 3),
    _conv(64, 256, 56, 1),
    _conv(256, 64, 28, 1),
    _conv(32, 32, 112, 3, 32),
    _conv(256, 256, 28, 3, 256),
    _conv(96, 96, 56, 5, 96),
    _pool(3, 64, 113),
    _pool(2, 128, 28),
    Case("dense 2048 to 1000", "Gemm", (1, 2048), ((2048, 1000), (1000,))),
    Case("dense 512 to 1000", "Gemm", (1, 512), ((512, 1000), (1000,))),
    Case("sigmoid 256 at 56", "Sigmoid", (1, 256, 56, 56)),
    Case("sigmoid 8 at 8", "Sigmoid", (1, 8, 8, 8)),
)


@dataclass(frozen=True)
class Sample:
    """One command: its work, and its microseconds."""

    case: str
    command: str
    load: MLCommandWork
    microseconds: float


def fit(samples: Sequence[Sample], compute_units: int) -> dict[str, float]:
    """Return the facts with the smallest errors relative to each sample; none is negative.

    A rate without cost is infinite.
    """
    columns = [_column(samples, fact, compute_units) for fact in FACTS]
    matrix = np.array(columns).T / np.array([[s.microseconds] for s in samples])
    best, error = np.zeros(len(FACTS)), inf
    for count in range(1, len(FACTS) + 1):
        for chosen in map(list, combinations(range(len(FACTS)), count)):
            found = np.linalg.lstsq(matrix[:, chosen], np.ones(len(samples)), rcond=None)[0]
            off = float(((matrix[:, chosen] @ found - 1) ** 2).sum())
            if found.min() >= 0 and off < error * (1 - 1e-9):
                best, error = np.zeros(len(FACTS)), off
                best[chosen] = found
    *costs, launch = best.tolist()
    facts = {fact: 1 / cost if cost else inf for fact, cost in zip(FACTS, costs, strict=False)}
    return facts | {FACTS[-1]: launch}


def _column(samples: Sequence[Sample], fact: str, compute_units: int) -> list[float]:
    """Return the coefficients of each sample: work per unit of 1 / fact, and 1 for the launch."""
    match fact:
        case "clml_launch_microseconds":
            return [1.0 for _ in samples]
        case "clml_bandwidth":
            return [sample.load.bytes / 1e3 for sample in samples]
        case _:
            terms = [s.load.terms if s.load.rate == fact else 0 for s in samples]
            return [count / (1e3 * compute_units) for count in terms]


def scaled(facts: dict[str, float], scale: float) -> dict[str, float]:
    """Return the facts of a model whose microsecond equals `scale` microseconds of the device."""
    launch = FACTS[-1]
    return {k: v / scale if k == launch else v * scale for k, v in facts.items()}


def modelled(case: Case, target: Target) -> float:
    """Return the microseconds of a case by the cost model of clopt's kernels."""
    ctx = CloptContext()
    module = import_onnx(case.model(), ctx.weights, None)
    run_pipeline(ctx, module, "simplify")
    function = next(op for op in module.ops if isinstance(op, func.FuncOp))
    return Chooser(function, target, {CLML(): []}).kernels_only.cost


def commands_of(model: clopt.CompiledModel) -> list[clml.MLOp]:
    """Return the commands of a model's graphs in order."""
    graphs = (op for op in model.module.ops if isinstance(op, clml.GraphOp))
    return [op for graph in graphs for op in graph.commands if isinstance(op, clml.MLOp)]


class OnDevice:
    """Times measured on this machine."""

    def __init__(self, options: argparse.Namespace):
        self.settings = {
            "device": options.device,
            "target": options.target,
            "accelerators": {"clml": options.library} if options.library else None,
        }
        self.rounds = options.rounds

    def compile(self, case: Case, mode: str) -> clopt.CompiledModel:
        return clopt.compile(case.model(), clml=mode, **self.settings)

    def times(self, case: Case, mode: str) -> list[float]:
        """Return the median microseconds of each command."""
        model = self.compile(case, mode)
        x = np.random.default_rng(2).standard_normal(case.shape).astype(np.float32)
        rounds = model.executable.profile({"x": x}, self.rounds)
        times = zip(*([t.nanoseconds for t in timings] for timings in rounds), strict=True)
        return [1e-3 * statistics.median(samples) for samples in times]


class FromFiles:
    """Times from `--profile` of C packages."""

    def __init__(self, options: argparse.Namespace):
        self.target = options.target
        self.folder: Path = options.read or options.write

    def compile(self, case: Case, mode: str) -> clopt.CompiledModel:
        return clopt.compile(case.model(), self.target, clml=mode)

    def write(self, case: Case, mode: str) -> None:
        self.compile(case, mode).save_c(self._place(case, mode))

    def times(self, case: Case, mode: str) -> list[float]:
        """Return the microseconds of each command."""
        text = (self._place(case, mode) / "profile.txt").read_text(encoding="utf-8")
        return [1e3 * float(milliseconds) for milliseconds in _LINE.findall(text)]

    def _place(self, case: Case, mode: str) -> Path:
        return self.folder / case.name.replace(" ", "_") / ("kernels" if mode == "off" else "clml")


def measure(
    source: OnDevice | FromFiles, cases: Iterable[Case]
) -> tuple[list[Sample], float, Target]:
    """Return the samples, the device's microseconds for one of the model, and the target."""
    samples: list[Sample] = []
    ratios: list[float] = []
    target = Target()
    for case in cases:
        model = source.compile(case, "prefer")
        target = target_of(model.module)
        commands = commands_of(model)
        times = source.times(case, "prefer")
        if len(times) != len(commands):
            raise SystemExit(
                f"{case.name}: {len(times)} times for {len(commands)} commands of CLML."
            )
        samples += (
            Sample(case.name, op.name, work_of_command(op), time)
            for op, time in zip(commands, times, strict=True)
        )
        ratios.append(sum(source.times(case, "off")) / modelled(case, target))
    return samples, prod(ratios) ** (1 / len(ratios)), target


def report(samples: Sequence[Sample], target: Target, scale: float) -> None:
    """Print each command on stderr, with its time by the facts."""
    costs = CommandCosts(target)
    table = Table("case", "command", "us", "us by the facts", title=f"CLML on {target.name}")
    for s in samples:
        told = scale * costs.time(s.load)
        table.add_row(s.case, s.command, f"{s.microseconds:.1f}", f"{told:.1f}")
    Console(stderr=True).print(table)


def toml(facts: dict[str, float], device: str, scale: float) -> str:
    """Return the lines for a target's file."""
    lines = [
        f"# measured on {device} by benchmarks/clml_costs.py; a microsecond of our cost model",
        f"# is {scale:.3g} there",
    ]
    # A cost below the measurement noise becomes the largest speed that a fact can have.
    shown = ((fact, min(value, 1e6)) for fact, value in facts.items())
    return "\n".join([*lines, *(f"{fact} = {value:.4g}" for fact, value in shown)]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--device")
    parser.add_argument("--target")
    parser.add_argument("--library")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="part of the names of the cases")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--read", type=Path)
    parser.add_argument("--output", type=Path, help="write the lines there, not to stdout")
    options = parser.parse_args()
    cases = [case for case in CASES if options.only in case.name]
    if options.write is not None:
        for case in cases:
            for mode in ("prefer", "off"):
                FromFiles(options).write(case, mode)
        return 0
    source = OnDevice(options) if options.read is None else FromFiles(options)
    samples, scale, target = measure(source, cases)
    facts = scaled(fit(samples, target.device.compute_units), scale)
    measured = with_facts(target, {fact: min(value, 1e6) for fact, value in facts.items()})
    report(samples, measured, scale)
    text = toml(facts, options.device or target.name, scale)
    if options.output is None:
        sys.stdout.write(text)
    else:
        options.output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
