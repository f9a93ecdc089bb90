"""Ways to compute one operator, timed by CPU time in turns, so that load affects all alike."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pyopencl as cl
from provenance import measured
from rich.console import Console
from rich.table import Table

import clopt
from clopt.backends.pyopencl_runtime import find_device, live_target
from clopt.backends.pyopencl_runtime.processor_time import processor_seconds
from clopt.targets import TargetChoice

SECONDS = 0.02
"""Minimum duration of a sample, which repeats its run."""

QUIET = 0.002
"""Seconds without CPU time after which the workers of other rivals sleep."""

COPIES = ("relayout", "pad", "depth_to_space")
"""Name prefixes of kernels that only move elements."""

Arrays = dict[str, np.ndarray]
Rows = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Rival:
    """A way to compute an operator, once per call of `run`."""

    name: str
    run: Callable[[], object]


def by_onnxruntime(
    model: onnx.ModelProto, inputs: Arrays, expected: np.ndarray, threads: int
) -> Rival:
    """Return onnxruntime with its inputs and output in place.

    Its threads do not spin: that would count as CPU time.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    binding = session.io_binding()
    names = [value.name for value in session.get_inputs()]
    held = [onnxruntime.OrtValue.ortvalue_from_numpy(inputs[name]) for name in names]
    for name, value in zip(names, held, strict=True):
        binding.bind_ortvalue_input(name, value)
    result = onnxruntime.OrtValue.ortvalue_from_numpy(np.empty_like(expected))
    binding.bind_ortvalue_output(session.get_outputs()[0].name, result)
    return Rival("onnxruntime", lambda: session.run_with_iobinding(binding))


def by_clopt(
    device: str, facts: str, model: onnx.ModelProto, inputs: Arrays, expected: np.ndarray
) -> Iterator[Rival]:
    """Return the launches of the compiled model, until the queue is empty.

    If some launches only copy to another layout or add a border, the launches that compute are a
    second rival. In a network, neighbouring kernels share the layout and need no copies.
    """
    chosen = find_device(device)
    context = cl.Context([chosen.handle])
    queue = cl.CommandQueue(context, chosen.handle)
    # Each kernel has a launch of its own, so that those that copy can be left out.
    target = TargetChoice.parse(f"turn_microseconds=0 {facts}").change(live_target(chosen))
    compiled = clopt.compile(model, target, device=clopt.Place(context=context, queue=queue))
    (found,) = compiled.run(inputs)
    error = np.abs(found - expected).max() / np.abs(expected).max()
    if error > 1e-4:
        raise RuntimeError(f"{device} {facts}: off by {error:.1e} of the largest result")

    def run(left_out: tuple[str, ...] = ()) -> None:
        # Requested here because the executable holds the buffers.
        for each in compiled.executable.launches:
            if not each.kernel.function_name.startswith(left_out or "-"):
                cl.enqueue_nd_range_kernel(queue, each.kernel, each.global_size, each.local_size)
        queue.finish()

    name = f"clopt {device} {facts}".strip()
    yield Rival(name, run)
    yield Rival(f"{name}, no copies", lambda: run(COPIES))


def settle() -> None:
    """Wait until no thread of the process computes, since Intel's workers spin for a while."""
    deadline = time.perf_counter() + 1.0
    while time.perf_counter() < deadline:
        before = processor_seconds()
        time.sleep(QUIET)
        if processor_seconds() - before < QUIET / 10:
            return


def measure(rivals: Sequence[Rival], rounds: int) -> list[list[float]]:
    """Return the CPU seconds of one run for each rival and round."""
    counts: list[int] = []
    for rival in rivals:
        rival.run()
        settle()
        start = processor_seconds()
        rival.run()
        counts.append(max(1, round(SECONDS / max(processor_seconds() - start, 1e-6))))
    samples: list[list[float]] = [[] for _ in rivals]
    for _ in range(rounds):
        for rival, count, seconds in zip(rivals, counts, samples, strict=True):
            settle()
            start = processor_seconds()
            for _ in range(count):
                rival.run()
            seconds.append((processor_seconds() - start) / count)
    return samples


def ratios(samples: list[list[float]]) -> list[float]:
    """Return the median over rounds of CPU time relative to the first rival's in that round."""
    return [
        statistics.median(s / base for s, base in zip(seconds, samples[0], strict=True))
        for seconds in samples
    ]


def show(subject: str, rows: Rows, console: Console) -> None:
    """Print the table."""
    headings = list(next(iter(rows.values())))
    table = Table(subject, *headings)
    for name, row in rows.items():
        table.add_row(name, *(f"{row[heading]:.2f}" for heading in headings))
    console.print(table)


def write(path: Path, title: str, about: str, subject: str, rows: Rows) -> None:
    """Write the report to `path` with the suffixes .md and .json."""
    headings = list(next(iter(rows.values())))
    lines = [
        f"# {title}",
        "",
        f"{measured()}.",
        about,
        "",
        f"| {subject} | {' | '.join(headings)} |",
        f"|---|{'---:|' * len(headings)}",
    ]
    for name, row in rows.items():
        lines.append(f"| {name} | {' | '.join(f'{row[h]:.2f}' for h in headings)} |")
    path.with_suffix(".md").write_text("\n".join(lines) + "\n")
    path.with_suffix(".json").write_text(json.dumps(rows, indent=1) + "\n")
