"""Time of `clopt-run model.onnx` with empty caches and with full ones, as a user waits for it.

`python benchmarks/starts.py [names] [--devices portable intel] [--rivals onnxruntime openvino]
[--rounds 3]`. Each start is a process of its own. A round empties clopt's caches, calibrates the
device by a tiny model, and starts the network twice. Rivals load the same file and run it once;
OpenVINO has its cache of compiled models. The figures are medians over the rounds. CPU time is user
and system time of the process and its helpers; `beyond imports` takes off what a process that only
imports numpy and pyopencl (a rival: numpy and itself) needs.
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
from dataclasses import asdict, dataclass
from pathlib import Path

import models
from provenance import measured

HERE = Path(__file__).resolve().parent
TINY = HERE.parent / "examples" / "digits" / "digits.onnx"
RIVALS = {
    "onnxruntime": """
session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
types = {"tensor(float)": "f4", "tensor(int64)": "i8"}
session.run(None, {x.name: numpy.zeros(x.shape, types[x.type]) for x in session.get_inputs()})
""",
    "openvino": """
core = openvino.Core()
core.set_property({"CACHE_DIR": os.environ["XDG_CACHE_HOME"]})
model = core.compile_model(sys.argv[1], "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
model({x: numpy.zeros(tuple(x.shape), x.element_type.to_dtype()) for x in model.inputs})
""",
}
"""What each rival executes, by the name of its module, to run the model `sys.argv[1]` once."""
LIMIT_SECONDS = 600
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


@dataclass(frozen=True)
class Start:
    """Wall seconds and CPU seconds of a process."""

    wall: float
    cpu: float

    @classmethod
    def of(cls, arguments: list[str], caches: str) -> Start:
        """Run Python with these arguments and caches until it ends."""
        environment = {**os.environ, "XDG_CACHE_HOME": caches}
        # Users have clopt's bytecode, because pip writes it.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        before, begin = os.times(), time.perf_counter()
        command = [sys.executable, *arguments]
        subprocess.run(
            command, env=environment, check=True, timeout=LIMIT_SECONDS, stdout=subprocess.DEVNULL
        )
        wall, after = time.perf_counter() - begin, os.times()
        user = after.children_user - before.children_user
        return cls(wall, user + after.children_system - before.children_system)

    @classmethod
    def median(cls, starts: list[Start]) -> Start:
        """Return the medians of the wall times and of the CPU times."""
        return cls(
            statistics.median(start.wall for start in starts),
            statistics.median(start.cpu for start in starts),
        )


@dataclass(frozen=True)
class Starts:
    """The first and the second start of a network on a device."""

    network: str
    device: str
    first: Start
    second: Start
    imports: float

    @property
    def beyond_imports(self) -> float:
        """CPU seconds of the second start, without importing numpy and pyopencl."""
        return self.second.cpu - self.imports


def clopt_run(model: Path, device: str, *options: str) -> list[str]:
    """Return the Python arguments that run a model with the command line tool."""
    return ["-m", "clopt.tools.run", str(model), "--device", device, *options]


def starts_of(name: str, device: str, rounds: int) -> Starts:
    """Start a network twice in each round, from empty caches, on a device or by a rival."""
    path = models.export(name)
    imports_alone = f"import os, sys, numpy, {device if device in RIVALS else 'pyopencl'}\n"
    if device in RIVALS:
        run = ["-c", imports_alone + RIVALS[device], str(path)]
    else:
        run = clopt_run(path, device)
    first: list[Start] = []
    second: list[Start] = []
    imports: list[Start] = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="clopt-starts-") as caches:
            if device not in RIVALS:
                Start.of(clopt_run(TINY, device, "--dim", "batch=1"), caches)
            first.append(Start.of(run, caches))
            second.append(Start.of(run, caches))
            imports.append(Start.of(["-c", imports_alone], caches))
    return Starts(
        name, device, Start.median(first), Start.median(second), Start.median(imports).cpu
    )


def table(rows: list[Starts]) -> list[str]:
    """Return the lines of a Markdown table of seconds, one row per network and device."""
    heading = ["network", "run by", "first, wall", "first, CPU", "second, wall", "second, CPU"]
    lines = ["| " + " | ".join([*heading, "beyond imports, CPU"]) + " |", "|---" * 7 + "|"]
    for row in rows:
        figures = [row.first.wall, row.first.cpu, row.second.wall, row.second.cpu]
        cells = [f"{figure:.2f}" for figure in [*figures, row.beyond_imports]]
        lines.append(" | ".join([f"| {row.network} | {row.device}", *cells]) + " |")
    return lines


def main() -> None:
    """Measure the starts that the command line names, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", default=list(NETWORKS))
    parser.add_argument("--devices", nargs="+", default=["portable", "intel"])
    parser.add_argument("--rivals", nargs="*", default=list(RIVALS), choices=list(RIVALS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path, default=HERE / "results" / "starts")
    args = parser.parse_args()
    choices = [*models.NAMES, *models.UNTUNED]
    for name in args.names:
        if name not in choices:
            parser.error(f"unknown network {name}; choose from {', '.join(choices)}")
    rows: list[Starts] = []
    for name in args.names:
        for device in [*args.devices, *args.rivals]:
            rows.append(starts_of(name, device, args.rounds))
            print("\n".join(table(rows[-1:])[2:]), flush=True)
    lines = ["# Seconds of the first and the second start", "", measured(), "", *table(rows)]
    args.output.with_suffix(".md").write_text("\n".join(lines) + "\n")
    text = json.dumps([asdict(row) for row in rows], indent=1)
    args.output.with_suffix(".json").write_text(text + "\n")


if __name__ == "__main__":
    main()
