"""Whole networks with CLML, computed by its reference library and compared with onnxruntime.

`python benchmarks/clml_networks.py [name ...] [--device pocl --device intel]`: each network in each
mode and precision is compiled once for an Adreno 740 and runs once on each device. `prefer` and
`auto` are those of the fact `clml`; with `textures` CLML computes every other stretch of a network
and our kernels, on images, the stretches between. The library's own log of an inference has the
calls. The script keeps its rows in results/clml_networks.json, so that you may measure networks one
by one, and writes the tables of all rows to results/clml_networks.md.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from pathlib import Path
from unittest import mock

import models
import numpy as np
import onnxruntime
import rounding
from clml import CLASSIFIERS, PRECISIONS, SIZES
from compare import relative_error
from provenance import commit, processor
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

import clopt
from clopt.backends.opencl_c import emit
from clopt.backends.pyopencl_runtime import CExecutable
from clopt.context import CloptContext
from clopt.dialects.cl import EnqueueCopyOp, EnqueueKernelOp, EnqueueOffloadOp, Target, set_target
from clopt.frontends.onnx import import_onnx
from clopt.passes.nn.choose import NNChoosePass, choose
from clopt.passes.nn.clml import accelerator
from clopt.passes.nn.clml.matching import find_matches
from clopt.passes.nn.mixed_precision import NNMixedPrecisionPass
from clopt.passes.nn.offload.matches import Matches
from clopt.passes.nn.offload.partition import Partition
from clopt.passes.pipelines import PIPELINES
from clopt.targets import TargetChoice
from clopt.weights import Weights

MODES = {
    "prefer": "adreno-740 clml=prefer",
    "auto": "adreno-740 clml=auto",
    "textures": "adreno-740 texture=prefer clml=prefer",
}
OTHERS = ("rounded", "off")
"""The modes without CLML, for comparison."""

STRETCH = 6
"""Number of consecutive matches that CLML computes before our kernels compute as many."""
OPERATION, COPY = "clEnqueueMLOpQCOM", "clEnqueueCopyMLTensorDataQCOM"
HOST_COPIES = ("clEnqueueWriteMLTensorDataQCOM", "clEnqueueReadMLTensorDataQCOM")
BUILT = "built a program"
"""The text of log lines that are not calls."""
RESULTS = Path(__file__).resolve().parent / "results"
STORE = RESULTS / "clml_networks.json"
REPORT = RESULTS / "clml_networks.md"


@dataclass(frozen=True)
class Program:
    """A compiled network, shared by all devices."""

    module: ModuleOp
    weights: Weights
    source: str
    partition: Partition


@dataclass(frozen=True)
class Row:
    """One run; most counts are zero without CLML."""

    network: str
    mode: str
    precision: str
    device: str
    error: float
    """The largest error, relative to the largest value of the output."""
    seconds: float
    """Seconds of the inference, on a computer with other load."""
    kernels: int
    """Launches of clopt's kernels."""
    operations: int = 0
    offloaded: int = 0
    views: int = 0
    graphs: int = 0
    commands: int = 0
    """Commands of CLML, without copies."""
    copies: int = 0
    """Copies of CLML between layouts."""
    images: int = 0
    """Kernel parameters that are images."""
    calls: dict[str, int] = field(default_factory=dict[str, int])
    """Calls of CLML in one inference."""
    reasons: dict[str, int] = field(default_factory=dict[str, int])
    """Reasons why operations remain, with counts."""
    measured: str = ""
    """`2026-11-22, at commit 82f53d0`."""

    @property
    def key(self) -> tuple[str, ...]:
        """Network, mode, precision and device, which identify a row."""
        return self.network, self.mode, self.precision, self.device


def every_other(function: FuncOp, target: Target, weights: Weights) -> Matches:
    """Return every other stretch of legal matches, in place of `find_matches`."""
    legal = find_matches(function, target, weights).legal
    return Matches([match for i, match in enumerate(legal) if i // STRETCH % 2 == 0])


def lower(path: Path, target: Target, mode: str, precision: str) -> Program:
    """Run all passes; keep the partition."""
    ctx = CloptContext()
    module = import_onnx(path, ctx.weights)
    set_target(module, target)
    found = Partition((), ())
    stretches = mock.patch.object(accelerator, "find_matches", every_other)
    for pass_ in PIPELINES["opencl"]:
        match pass_:
            case NNMixedPrecisionPass():
                replace(pass_, precision=precision).apply(ctx, module)
            case NNChoosePass():
                with stretches if mode == "textures" else nullcontext():
                    (found,) = choose(module, ctx, pass_)
            case _:
                pass_.apply(ctx, module)
    return Program(module, ctx.weights, emit(module, target), found)


def run(
    program: Program, device: str, inputs: Mapping[str, np.ndarray]
) -> tuple[list[np.ndarray], dict[str, int], CExecutable, float]:
    """Run one inference; return outputs, calls of CLML, executable and seconds."""
    executable = CExecutable(
        program.module,
        program.weights,
        device,
        source=program.source,
        stand_ins={"clml": "reference"},
    )
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        knobs = {"CLML_REFERENCE_LOG": str(log), "CLML_REFERENCE_LOG_LEVEL": "1"}
        with mock.patch.dict(os.environ, knobs):
            start = time.perf_counter()
            outputs = executable.run(inputs)
            seconds = time.perf_counter() - start
        lines = log.read_text(encoding="utf-8").splitlines()
    refused = [line for line in lines if not line.startswith("- ")]
    assert not refused, refused
    calls = Counter(line.split()[1].rstrip(":") for line in lines if BUILT not in line)
    return outputs, dict(calls), executable, seconds


def measure(
    name: str, devices: Sequence[str], modes: Sequence[str], precisions: Sequence[str]
) -> Iterator[Row]:
    """Measure one network."""
    path = models.export(name, SIZES.get(name, 224))
    inputs = models.sample_inputs(path)
    expected = onnxruntime.InferenceSession(str(path)).run(None, inputs)
    for precision in precisions:
        if "rounded" in modes and precision != "f32":
            yield Row(name, "rounded", precision, "onnxruntime", rounding.error(path), 0.0, 0)
        if "off" in modes:
            yield from _without(name, path, precision, devices, inputs, expected)
        done: dict[str, list[Row]] = {}
        for mode in (mode for mode in MODES if mode in modes):
            # Only f16 needs arithmetic in half, which PoCL lacks.
            facts = MODES[mode] if precision == "f16" else f"{MODES[mode]} fp16=false"
            target = TargetChoice.parse(facts).load()
            assert target is not None
            program = lower(path, target, mode, precision)
            key = "".join(str(op) for op in program.module.ops if op.name != "cl.target")
            if key not in done:
                done[key] = [
                    _row(name, mode, precision, device, program, inputs, expected)
                    for device in devices
                    if precision != "f16" or device != "pocl"
                ]
            yield from (replace(row, mode=mode) for row in done[key])


def _without(
    name: str,
    path: Path,
    precision: str,
    devices: Sequence[str],
    inputs: Mapping[str, np.ndarray],
    expected: Sequence[np.ndarray],
) -> Iterator[Row]:
    """Return the error of the precision without CLML, with code for the last device."""
    device = devices[-1]
    if precision == "f16" and device == "pocl":
        return
    model = clopt.compile(path, device=device, precision=precision)
    model.run(inputs)
    start = time.perf_counter()
    outputs = model.run(inputs)
    seconds = time.perf_counter() - start
    error = relative_error(outputs, list(expected))
    kernels = sum(isinstance(op, EnqueueKernelOp) for op in model.module.walk())
    yield Row(name, "off", precision, device, error, seconds, kernels)


def _row(
    name: str,
    mode: str,
    precision: str,
    device: str,
    program: Program,
    inputs: Mapping[str, np.ndarray],
    expected: Sequence[np.ndarray],
) -> Row:
    outputs, calls, executable, seconds = run(program, device, inputs)
    ops, found = list(program.module.walk()), program.partition
    assert not any(isinstance(op, EnqueueCopyOp) for op in ops)
    offload = executable.offload
    assert offload is not None
    return Row(
        name,
        mode,
        precision,
        device,
        operations=len(found.nodes),
        offloaded=found.offloaded,
        views=sum(node.is_view for node in found.nodes),
        graphs=len(found.graphs),
        commands=sum(isinstance(op, EnqueueOffloadOp) for op in ops) - found.copies,
        copies=found.copies,
        kernels=sum(isinstance(op, EnqueueKernelOp) for op in ops),
        images=program.source.count("image2d_t") + program.source.count("image1d_buffer_t"),
        calls=calls,
        reasons=dict(Counter(n.note for n in found.nodes if not n.graph and not n.is_view)),
        error=relative_error(outputs, list(expected)),
        seconds=seconds,
    )


def report(rows: Sequence[Row]) -> str:
    """Return all tables."""
    precisions, modes = list(PRECISIONS), [*OTHERS, *MODES]
    ordered = sorted(
        rows,
        key=lambda row: (
            CLASSIFIERS.index(row.network),
            precisions.index(row.precision),
            modes.index(row.mode),
        ),
    )
    with_clml = [row for row in ordered if row.mode in MODES]
    counts = Counter(row.measured for row in rows)
    dates = [f"{when} ({count} rows)" for when, count in sorted(counts.items())]
    lines = [
        "# Networks with CLML, run on its reference library",
        "",
        f"Measured on {processor()}, {'; '.join(dates)}: `python benchmarks/clml_networks.py`",
        "",
        "Classifiers of 224x224 pixels (Inception v3: 299), compiled for an Adreno 740 and run by",
        "PoCL and Intel's runtime. No times: the reference library has one work-item for each",
        "element, and none of a device's tricks.",
        "",
        "- `prefer` and `auto` are those of the fact `clml`. With `textures` CLML computes",
        f"  stretches of {STRETCH} matches, and our kernels, from images, as many in between.",
        "- Operations are those after `simplify`, with the casts of `precision`.",
        "- Copies change a layout on the device. Calls are counted in the library's log of an",
        "  inference: as many operations and copies as the program has. Host copies are calls",
        "  that write or read tensors from the host.",
        "- Nothing here says whether a device's own layout takes more bytes than planned: the plan",
        "  estimates them with the layout of the reference library.",
        "- An error is the largest difference from onnxruntime in f32, relative to the largest",
        "  value of the output. `rounded` is about what half costs by itself: onnxruntime in",
        "  f32, with weights and values rounded to half (`rounding.py`). `off` is without CLML,",
        "  by our kernels for Intel's runtime.",
        "- `f16` is for Intel's runtime alone, as PoCL has no arithmetic in half.",
        "",
        "## Programs",
        "",
        *_programs(with_clml),
        "",
        "## Errors",
        "",
        *_errors(ordered),
        "",
        "## What is left, and why",
        "",
        *_reasons(with_clml),
    ]
    return "\n".join(lines) + "\n"


def _programs(rows: Sequence[Row]) -> Iterator[str]:
    columns = (
        "network",
        "precision",
        "mode",
        "in CLML",
        "graphs",
        "commands",
        "copies",
        "host copies",
        "kernels",
        "images",
    )
    yield f"| {' | '.join(columns)} |"
    yield "|---|---|---|" + "---:|" * (len(columns) - 3)
    for row in {row.key[:3]: row for row in rows}.values():
        cells = (
            row.network,
            row.precision,
            row.mode,
            f"{row.offloaded} of {row.operations}",
            row.graphs,
            row.commands,
            row.copies,
            _host_copies(row),
            row.kernels,
            row.images,
        )
        yield f"| {' | '.join(map(str, cells))} |"


def _host_copies(row: Row) -> int:
    """Count calls that transfer tensors with the host; check the others by the program."""
    counts = Counter(row.calls)
    assert (counts[OPERATION], counts[COPY]) == (row.commands, row.copies), row
    return sum(counts[name] for name in HOST_COPIES)


def _errors(rows: Sequence[Row]) -> Iterator[str]:
    devices = dict.fromkeys(row.device for row in rows if row.mode in MODES)
    columns = [(mode, device) for mode in MODES for device in devices]
    titles = [f"{mode}, {device}" for mode, device in columns]
    yield f"| network | precision | {' | '.join((*OTHERS, *titles))} |"
    yield "|---|---|" + "---:|" * len((*OTHERS, *titles))
    for network, precision in dict.fromkeys((row.network, row.precision) for row in rows):
        of = {row.key[1::2]: row for row in rows if row.key[::2] == (network, precision)}
        alone = [{mode: row for (mode, _), row in of.items()}.get(mode) for mode in OTHERS]
        cells = [*alone, *(of.get(column) for column in columns)]
        keys = [*((mode, None) for mode in OTHERS), *columns]
        texts = (
            f"{row.error:.1e}" if row else "" if _senseless(precision, *key) else "not run"
            for key, row in zip(keys, cells, strict=True)
        )
        yield f"| {network} | {precision} | {' | '.join(texts)} |"


def _senseless(precision: str, mode: str, device: str | None) -> bool:
    """Return whether the case is meaningless: f32 does not round, PoCL multiplies no halves."""
    return (precision, mode) == ("f32", "rounded") or (precision, device) == ("f16", "pocl")


def _reasons(rows: Sequence[Row]) -> Iterator[str]:
    """Return the reasons of all modes but `textures`, which leaves operations on purpose."""
    yield "| network | precision | mode | operations | reason |"
    yield "|---|---|---|---:|---|"
    for row in {row.key[:3]: row for row in rows if row.mode != "textures"}.values():
        for reason, count in row.reasons.items():
            yield f"| {row.network} | {row.precision} | {row.mode} | {count} | {reason} |"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[*CLASSIFIERS], metavar="name")
    parser.add_argument("--device", action="append", help="pocl and intel unless given")
    parser.add_argument(
        "--mode", action="append", choices=[*OTHERS, *MODES], help="all unless given"
    )
    parser.add_argument("--precision", action="append", choices=PRECISIONS, help="likewise")
    args = parser.parse_args()
    stored = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else []
    rows = {row.key: row for row in (Row(**row) for row in stored)}
    devices, modes = args.device or ["pocl", "intel"], args.mode or [*OTHERS, *MODES]
    for name in args.names:
        for row in measure(name, devices, modes, args.precision or PRECISIONS):
            row = replace(row, measured=f"{date.today().isoformat()}, at commit {commit()}")
            rows[row.key] = row
            print(json.dumps(asdict(row)), flush=True)
            text = json.dumps([asdict(row) for row in rows.values()], indent=1)
            STORE.write_text(text + "\n", encoding="utf-8")
    REPORT.write_text(report(list(rows.values())), encoding="utf-8")


if __name__ == "__main__":
    main()
