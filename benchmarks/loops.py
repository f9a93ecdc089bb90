"""Compare the compile time, run time and memory of recurrent networks with onnxruntime.

`python benchmarks/loops.py [--device pocl] [--steps 10 100 1000] [--hidden 256] [--output FILE]`.
Each row is a process of its own. `unrolled` is clopt with a copy of the cell for each step, as it
was before `nn.loop`. Compile times are without any cache. The time of an inference is the median
from numpy to numpy. Memory is what clopt holds on the device, weights included, and the growth of
onnxruntime's resident memory from an empty process with its library loaded.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from provenance import measured

HERE = Path(__file__).resolve().parent
GATES = {"LSTM": 4, "GRU": 3}
MOST_UNROLLED = 100
"""Steps up to which the unrolled form is measured."""
LIMIT_SECONDS = 900
RUNS = 15
Row = dict[str, float]


def network(kind: str, steps: int, hidden: int) -> onnx.ModelProto:
    """Return a model of one recurrent node, batch 1, as many features as hidden values."""
    rng = np.random.default_rng(0)
    rows = GATES[kind] * hidden

    def weights(name: str, *shape: int) -> onnx.TensorProto:
        scale = np.float32(hidden**-0.5)
        return numpy_helper.from_array(rng.standard_normal(shape, np.float32) * scale, name)

    constants = [
        weights("w", 1, rows, hidden),
        weights("r", 1, rows, hidden),
        weights("b", 1, 2 * rows),
    ]
    node = helper.make_node(kind, ["x", "w", "r", "b"], ["y"], "cell", hidden_size=hidden)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [steps, 1, hidden])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [steps, 1, 1, hidden])
    graph = helper.make_graph([node], "recurrent", [x], [y], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def resident() -> int:
    """Return the bytes of memory that the process has used at most."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
    return 1024 * int(line.split()[1])


def timed(run: Callable[[], object]) -> float:
    """Return the median milliseconds of a run."""
    run()
    times: list[float] = []
    for _ in range(RUNS):
        start = time.perf_counter()
        run()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def by_onnxruntime(model: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> Row:
    """Measure onnxruntime on two threads."""
    import onnxruntime

    before, start = resident(), time.perf_counter()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    compiled = time.perf_counter() - start
    taken = timed(lambda: session.run(None, feeds))
    return {"compile": compiled, "run": taken, "bytes": resident() - before}


def by_clopt(
    model: onnx.ModelProto, feeds: dict[str, np.ndarray], device: str, unrolled: bool
) -> Row:
    """Measure clopt; its result must equal onnxruntime's."""
    import onnxruntime

    import clopt
    from clopt.frontends.onnx.operators import recurrent

    if unrolled:
        recurrent.MOST_UNROLLED = sys.maxsize
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (expected,) = session.run(None, feeds)
    start = time.perf_counter()
    compiled = clopt.compile(model, device=device, use_cache=False)
    (found,) = compiled.run(feeds)
    seconds = time.perf_counter() - start
    error = float(np.abs(found - expected).max())
    if error > 1e-5:
        raise RuntimeError(f"the result is off by {error:.1e}")
    taken = timed(lambda: compiled.run(feeds))
    return {"compile": seconds, "run": taken, "bytes": compiled.executable.device_bytes}


def measure(kind: str, steps: int, hidden: int, rival: str, device: str) -> Row:
    """Measure one rival in this process."""
    model = network(kind, steps, hidden)
    feeds = {"x": np.random.default_rng(1).standard_normal((steps, 1, hidden), np.float32)}
    if rival == "onnxruntime":
        return by_onnxruntime(model, feeds)
    return by_clopt(model, feeds, device, rival == "unrolled")


def apart(kind: str, steps: int, hidden: int, rival: str, device: str) -> Row:
    """Measure one rival in a process of its own."""
    words = [kind, str(steps), str(hidden), rival, device]
    command = [sys.executable, __file__, "--measure", *words]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=LIMIT_SECONDS
    )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--steps", nargs="+", type=int, default=[10, 100, 1000])
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--measure", nargs=5, help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    if args.measure:
        kind, steps, hidden, rival, device = args.measure
        print(json.dumps(measure(kind, int(steps), int(hidden), rival, device)))
        return
    lines = [
        "| network | steps | rival | compile, s | inference, ms | memory, MB |",
        "|---|---:|---|---:|---:|---:|",
    ]
    print("\n".join(lines))
    for kind in GATES:
        for steps in args.steps:
            rivals = ["clopt", *(["unrolled"] if steps <= MOST_UNROLLED else []), "onnxruntime"]
            for rival in rivals:
                row = apart(kind, steps, args.hidden, rival, args.device)
                figures = f"{row['compile']:.2f} | {row['run']:.2f} | {row['bytes'] / 1e6:.2f}"
                lines.append(f"| {kind} | {steps} | {rival} | {figures} |")
                print(lines[-1], flush=True)
    if args.output is not None:
        about = f"{args.hidden} features and hidden values, batch 1, on {args.device}."
        title = "# Recurrent networks of several lengths"
        text = [title, "", f"{measured()}.", about, "", *lines]
        args.output.write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
