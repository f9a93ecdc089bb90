"""Time clopt's own passes on chains of convolutions and on ResNet-50; no kernel is built.

`python benchmarks/compile_scaling.py [--lengths 100 1000 5000]`. The channels of a chain repeat in
a cycle, so that it has `--distinct` different convolutions, each many times with other weights.
Times are CPU seconds of the one thread that the passes use. The exponent is that of the growth
between the two longest chains: 1 is linear.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import sys
import time
from pathlib import Path

import models
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from provenance import measured
from rich.console import Console
from rich.table import Table

from clopt.backends.opencl_c import emit
from clopt.context import CloptContext
from clopt.dialects.cl import set_target, target_of
from clopt.frontends.onnx import import_onnx
from clopt.passes.pipelines import PIPELINES
from clopt.targets import load_target

HERE = Path(__file__).resolve().parent
LIMIT_SECONDS = 5.0

Times = dict[str, float]


def chain(length: int, distinct: int) -> onnx.ModelProto:
    """Return `length` 3x3 convolutions with separate weights, each followed by a relu."""
    rng = np.random.default_rng(0)
    channels = [4 + i for i in range(distinct)]
    nodes: list[onnx.NodeProto] = []
    weights: list[onnx.TensorProto] = []
    value = "x"
    for i in range(length):
        cin, cout = channels[i % distinct], channels[(i + 1) % distinct]
        w = rng.standard_normal((cout, cin, 3, 3)).astype(np.float32)
        weights.append(numpy_helper.from_array(w, f"w{i}"))
        conv = helper.make_node("Conv", [value, f"w{i}"], [f"c{i}"], name=f"conv{i}", pads=[1] * 4)
        nodes += [conv, helper.make_node("Relu", [f"c{i}"], [f"r{i}"], name=f"relu{i}")]
        value = f"r{i}"
    shape = [1, channels[0], 16, 16]
    result = [1, channels[length % distinct], 16, 16]
    graph = helper.make_graph(
        nodes,
        "chain",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(value, TensorProto.FLOAT, result)],
        weights,
    )
    opsets = [helper.make_opsetid("", 18)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def timed_compile(model: onnx.ModelProto | Path, target: str) -> Times:
    """Return the seconds of the import, of every pass, of verifying, and of printing C."""
    times: Times = {}
    ctx = CloptContext()
    gc.collect()
    start = time.process_time()
    module = import_onnx(model, ctx.weights, None)
    times["import"] = time.process_time() - start
    set_target(module, load_target(target))
    for step in PIPELINES["opencl"]:
        start = time.process_time()
        step.apply(ctx, module)
        times[step.name] = times.get(step.name, 0.0) + time.process_time() - start
    start = time.process_time()
    module.verify()
    times["verify"] = time.process_time() - start
    start = time.process_time()
    emit(module, target_of(module))
    times["emit"] = time.process_time() - start
    times["total"] = sum(times.values())
    return times


def exponents(runs: dict[str, Times], lengths: list[int]) -> Times:
    """Return the exponent of each step's growth between the two longest chains."""
    if len(lengths) < 2:
        return {}
    small, large = runs[str(lengths[-2])], runs[str(lengths[-1])]
    factor = math.log(lengths[-1] / lengths[-2])
    return {
        step: math.log(max(large[step], 1e-9) / max(small[step], 1e-9)) / factor for step in large
    }


def report(runs: dict[str, Times], growth: Times) -> list[list[str]]:
    """Return the rows of a table: a step, its seconds in each run, its exponent."""
    steps = list(next(iter(runs.values())))
    rows: list[list[str]] = []
    for step in steps:
        cells = [f"{times.get(step, 0.0):.3f}" for times in runs.values()]
        relevant = step in growth and max(t.get(step, 0.0) for t in runs.values()) > 0.05
        rows.append([step, *cells, f"{growth[step]:.2f}" if relevant else ""])
    return rows


def main() -> int:
    """Run the command line; the exit code is 1 if ResNet-50 takes too long."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--lengths", type=int, nargs="+", default=[100, 1000, 5000])
    parser.add_argument("--distinct", type=int, default=12, help="different convolutions")
    parser.add_argument("--target", default="pocl")
    parser.add_argument("--output", type=Path, default=HERE / "results" / "compile_scaling")
    args = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 110)
    lengths = sorted(args.lengths)
    timed_compile(chain(3, 2), args.target)  # so that imports and lazy tables are not timed
    runs: dict[str, Times] = {}
    for length in lengths:
        runs[str(length)] = timed_compile(chain(length, args.distinct), args.target)
        console.print(f"{length} convolutions: {runs[str(length)]['total']:.2f} s")
    runs["resnet50"] = timed_compile(models.export("resnet50"), args.target)
    growth = exponents(runs, lengths)
    heading = ["step", *runs, "exponent"]
    table = Table(title=f"seconds of clopt's own passes, target {args.target}")
    for index, name in enumerate(heading):
        table.add_column(name, justify="right" if index else "left")
    rows = report(runs, growth)
    for row in rows:
        table.add_row(*row)
    console.print(table)
    lines = [f"# Seconds of clopt's own passes, target {args.target}", "", measured(), ""]
    lines += ["| " + " | ".join(heading) + " |", "|---" * len(heading) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.with_suffix(".md").write_text("\n".join(lines) + "\n")
    args.output.with_suffix(".json").write_text(json.dumps(runs, indent=1) + "\n")
    return int(runs["resnet50"]["total"] > LIMIT_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
