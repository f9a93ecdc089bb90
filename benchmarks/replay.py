"""Time of an inference by the C library, launched or replayed, and by the Python runtime.

`python benchmarks/replay.py --device pocl --device intel`: the digits network, whose time is
overhead, and MobileNetV2 at 224. Each is compiled once for a device and runs in C and in Python on
buffers of the device. In C inferences with and without replay alternate. The table of medians goes
to `benchmarks/results/replay.md`.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from statistics import median

import models
import pyopencl as cl
from provenance import measured
from rich.console import Console
from rich.table import Table

import clopt
from clopt.backends.pyopencl_runtime import find_device
from clopt.dialects.cl.ops import EnqueueKernelOp

HERE = Path(__file__).resolve().parent
DIGITS = HERE.parent / "examples" / "digits" / "digits.onnx"
HEADINGS = ("network", "runtime", "launches", "by", "call, µs", "inference, µs", "CPU, µs")
Sample = tuple[float, float, float]
"""Microseconds until the call returned, until the queue was empty, and of all processors."""


def in_c(model: clopt.CompiledModel, device: str, rounds: int) -> dict[str, list[Sample]]:
    """Take samples without and with replay."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "net"
        model.save_c(folder, "net")
        sources = [HERE / "replay.c", folder / "net.c", folder / "net_kernels.c"]
        sources += sorted((folder / "clopt_runtime").glob("*.c"))
        include = [f"-I{folder}", f"-I{folder / 'clopt_runtime'}"]
        program = folder / "replay"
        command = ["cc", "-std=c99", "-O2", *include, *sources, "-lOpenCL", "-o", program]
        subprocess.run(command, check=True)
        words = [program, find_device(device).platform, folder / "weights.bin", str(rounds)]
        *lines, kind = subprocess.run(
            words, capture_output=True, text=True, check=True
        ).stdout.splitlines()
    if kind != "recorded":
        raise SystemExit(f"{device} cannot record launches")
    samples: dict[str, list[Sample]] = {"C": [], "C, replayed": []}
    for line in lines:
        replayed, call, wall, cpu = line.split()
        way = "C, replayed" if replayed == "1" else "C"
        samples[way].append((float(call), float(wall), float(cpu)))
    return samples


def in_python(model: clopt.CompiledModel, rounds: int) -> Iterator[Sample]:
    """Take samples of the Python runtime, on a queue and buffers of the benchmark."""
    context = model.executable.context
    queue = cl.CommandQueue(context)
    ports = [*model.inputs, *model.outputs]
    flags = cl.mem_flags.READ_WRITE
    buffers = {
        port.name: cl.Buffer(context, flags, prod(port.shape) * port.dtype.itemsize)
        for port in ports
    }
    for i in range(10 + rounds):
        cpu, start = time.process_time_ns(), time.perf_counter_ns()
        model.enqueue(queue, buffers)
        returned = time.perf_counter_ns()
        queue.finish()
        end, spent = time.perf_counter_ns(), time.process_time_ns()
        if i >= 10:
            yield (returned - start) / 1e3, (end - start) / 1e3, (spent - cpu) / 1e3


def rows(label: str, path: Path, device: str, rounds: int) -> list[list[str]]:
    """Return a row for each way to run a network on a device."""
    model = clopt.compile(path, dims={"batch": 1} if path == DIGITS else None, device=device)
    launches = sum(isinstance(op, EnqueueKernelOp) for op in model.module.walk())
    samples = in_c(model, device, rounds)
    samples["Python"] = list(in_python(model, rounds))
    name = find_device(device).platform
    return [
        [label, name, str(launches), way, *(f"{median(column):,.0f}" for column in zip(*taken))]
        for way, taken in samples.items()
    ]


def report(table: Sequence[Sequence[str]], note: str) -> str:
    """Return the results as Markdown."""
    lines = [HEADINGS, ["---"] * 2 + ["---:"] + ["---"] + ["---:"] * 3, *table]
    return f"""# Replay: launches recorded once, in C, and the Python runtime

{measured()}

Medians per inference, inputs and outputs on the device. *call*: until the
function returned; *inference*: until the queue was empty; *CPU*: of all processors. {note}

{chr(10).join("| " + " | ".join(line) + " |" for line in lines)}
"""


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--device", action="append", required=True)
    parser.add_argument("--rounds", type=int, default=1000, help="of the small network")
    parser.add_argument("--note", default="", help="a sentence for the report")
    parser.add_argument("--output", type=Path, default=HERE / "results" / "replay.md")
    args = parser.parse_args()
    found: list[list[str]] = []
    for device in args.device:
        found += rows("digits", DIGITS, device, args.rounds)
        path = models.export("mobilenet_v2")
        found += rows("mobilenet_v2 224", path, device, max(args.rounds // 20, 5))
    table = Table(*HEADINGS)
    for row in found:
        table.add_row(*row)
    Console(width=None if Console().is_terminal else 160).print(table)
    args.output.write_text(report(found, args.note))


if __name__ == "__main__":
    main()
