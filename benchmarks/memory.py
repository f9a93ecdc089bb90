"""Memory of the benchmark networks: clopt's plan, the lower bound, and rivals.

`python benchmarks/memory.py [names] [--target "adreno-740 texture=off"]`, f32, batch 1. No kernel
is built. For plans above the lower bound, `--live` lists the values at the busiest command.
The report goes to `benchmarks/results/memory.{md,json}`.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import models
from memory_bounds import Graph
from provenance import measured
from rich.console import Console
from rich.table import Table

from clopt.backends.programs import program_of
from clopt.context import CloptContext
from clopt.dialects.cl import Target, set_target
from clopt.frontends.onnx import import_onnx
from clopt.passes.pipelines import PIPELINES
from clopt.reports.memory import MemoryReport, memory_report
from clopt.targets import TargetChoice

HERE = Path(__file__).resolve().parent
AVX512 = "vector_width=16 vector_registers=32"
"""Facts that a live CPU with AVX-512 reports."""

TARGETS = (
    *("pocl", f"pocl {AVX512}", "intel-cpu", f"intel-cpu {AVX512}"),
    *("adreno-740", "adreno-740 texture=off"),
)
SIZES = {"inception_v3": 299}
PLANNING = {"tir-mark-in-place", "cl-reorder", "cl-plan-memory"}
MB = 1e6


@dataclass(frozen=True)
class Row:
    """One network on one target; sizes in bytes, times in seconds."""

    network: str
    target: str
    bound: int
    """The lower bound of the network's file by the rule of `memory_bounds`."""
    lower_bound: int
    """The lower bound of the compiled program: its kernels, scratch, pitch and order."""
    peak: int
    separate: int
    """Bytes outside the arenas."""
    pitch: int
    alignment: int
    fragmentation: int
    without_reuse: int
    held: int
    """All bytes on the device, including weights, inputs and outputs."""
    seconds: float

    @property
    def all(self) -> int:
        """All bytes of intermediates."""
        return self.peak + self.separate


@dataclass(frozen=True)
class Rival:
    """Intermediates of a network in other engines, in MB of 10^6 bytes, measured separately."""

    bound: float
    """The lower bound of the measured file; it is our file if this equals `MemoryRow.bound`."""
    tinygrad: float | None
    """tinygrad 0.14 on OpenCL: a buffer for each intermediate."""
    tinygrad_planned: float | None
    """The same with its planner, which it does not use for OpenCL."""
    tvm: float
    """Storages of TVM 0.27's StaticPlanBlockMemory for OpenCL."""
    onnxruntime: float
    """Growth of onnxruntime 1.31's arena (CPU)."""


RIVALS = {
    "mobilenet_v1": Rival(4.82, 19.97, 6.42, 4.82, 16.8),
    "mobilenet_v2": Rival(6.02, 26.47, 6.82, 8.64, 12.6),
    "resnet18": Rival(4.01, 10.05, 4.13, 4.92, 8.4),
    "resnet50": Rival(7.23, 38.96, 10.55, 9.83, 16.8),
    "squeezenet1_1": Rival(3.93, 11.00, 3.93, 6.35, 8.4),
    "efficientnet_lite0": Rival(6.02, 26.71, 6.82, 8.61, 12.6),
    "vit_tiny": Rival(1.36, 9.47, 1.22, 1.84, 7.3),
    "text_encoder": Rival(3.54, None, None, 3.94, 32.5),
    "yolo": Rival(1.61, 6.52, 1.30, 2.13, 7.3),
    "unet": Rival(19.27, 39.94, 16.06, 18.46, 68.2),
}


def compile_for(path: Path, target: Target) -> tuple[MemoryReport, float]:
    """Return the memory of a network and the seconds that planning it took."""
    ctx = CloptContext()
    module = import_onnx(path, ctx.weights)
    set_target(module, target)
    seconds = 0.0
    for pass_ in PIPELINES["opencl"]:
        start = time.perf_counter()
        pass_.apply(ctx, module)
        if pass_.name in PLANNING:
            seconds += time.perf_counter() - start
    return memory_report(program_of(module), target), seconds


def measure(name: str, label: str, live: Console | None) -> Row:
    """Return one row of the table; print to `live` if a plan exceeds the lower bound."""
    path = models.export(name, SIZES.get(name, 224))
    target = TargetChoice.parse(label).load()
    assert target is not None, f"{label}: name a target"
    report, seconds = compile_for(path, target)
    if live and report.ratio > 1:
        live.print(live_set(report, f"{name} on {label}, {report.ratio:.4f}"))
    return Row(
        network=name,
        target=label,
        bound=Graph(path).lower_bound(),
        lower_bound=report.lower_bound,
        peak=report.peak,
        separate=report.separate_bytes,
        pitch=report.waste.pitch,
        alignment=report.waste.alignment,
        fragmentation=report.waste.fragmentation,
        without_reuse=report.without_reuse,
        held=report.total,
        seconds=seconds,
    )


def live_set(report: MemoryReport, title: str) -> Table:
    """Return the values that are live at the busiest command."""
    table = Table("node", "type", "kind", "bytes", "offset", "first", "last", title=title)
    now = report.busiest or 0
    for row in report.rows:
        if row.first <= now <= row.last and row.offset is not None:
            numbers = (row.bytes, row.offset, row.first, row.last)
            table.add_row(row.node, row.type, row.kind, *map(str, numbers))
    return table


HEADINGS = ("network", "target", "lower bound", "peak", "ratio", "pitch", "alignment",
            "fragmentation", "separate", "without reuse", "all held", "planned in, s")  # fmt: skip


def cells(row: Row) -> list[str]:
    """Return a row in MB, ratios and seconds."""
    ratio = row.peak / row.lower_bound if row.lower_bound else 1.0
    waste = (row.pitch, row.alignment, row.fragmentation, row.separate)
    return [
        row.network,
        row.target,
        f"{row.lower_bound / MB:.3f}",
        f"{row.peak / MB:.3f}",
        f"{ratio:.3f}",
        *(f"{size / MB:.3f}" if size else "0" for size in waste),
        f"{row.without_reuse / MB:.2f}",
        f"{row.held / MB:.2f}",
        f"{row.seconds:.2f}",
    ]


RIVAL_HEADINGS = ("network", "least", *(f"clopt, {t}" for t in TARGETS), "TVM, OpenCL",
                  "tinygrad, OpenCL", "tinygrad, planner", "onnxruntime, CPU")  # fmt: skip


def rival_cells(name: str, rows: list[Row]) -> list[str]:
    """Return the memory of each engine in MB, and as a multiple of the file's lower bound."""
    bound = rows[0].bound / MB
    by_target = {row.target: row.all / MB for row in rows}
    ours = [_times(by_target.get(target), bound) for target in TARGETS]
    rival = RIVALS.get(name)
    if rival is None:
        return [name, f"{bound:.2f}", *ours, *([""] * 4)]
    same = abs(rival.bound - bound) < 0.01
    least = f"{bound:.2f}" if same else f"{bound:.2f}; rivals' file {rival.bound:.2f}"
    theirs = (rival.tvm, rival.tinygrad, rival.tinygrad_planned, rival.onnxruntime)
    return [name, least, *ours, *(_times(size, rival.bound) for size in theirs)]


def _times(size: float | None, bound: float) -> str:
    return "" if size is None else f"{size:.2f} ({size / bound:.2f})"


def markdown(rows: list[Row]) -> str:
    """Return the report."""

    def table(headings: tuple[str, ...], lines: list[list[str]]) -> list[str]:
        rule = ["---" if i < 1 else "---:" for i in range(len(headings))]
        return ["| " + " | ".join(line) + " |" for line in (headings, rule, *lines)]

    names = list(dict.fromkeys(row.network for row in rows))
    return "\n".join(
        [
            "# Memory of intermediates, f32, batch 1",
            "",
            measured(),
            "",
            "MB are 10^6 bytes; 224x224 images, for Inception-v3 299x299. The lower bound is the",
            "most that is live at one command of the compiled program; the peak is the size of the",
            "arena. Pitch is part of the lower bound, alignment and fragmentation are what the",
            "arena has above it, separate is what lies in no arena. All held adds weights, inputs",
            "and outputs.",
            "",
            *table(HEADINGS, [cells(row) for row in rows]),
            "",
            "## Beside others",
            "",
            "MB, and in brackets how many times the least that the network's file allows: nodes in",
            "the file's order, elementwise operations in the kernels before them, reshapes for",
            "nothing; inputs, outputs and weights are not counted (`memory_bounds.py`). Ours",
            "contains the scratch of padding and Winograd's transforms, and channels that fill up",
            "blocks; it may be less than the least where commands were reordered or more fused.",
            "The figures of others were measured separately, at the same sizes (TVM 0.27",
            "StaticPlanBlockMemory, tinygrad 0.14, onnxruntime 1.31); where they had another",
            "export of a network, its least is given, and only the brackets compare.",
            "",
            *table(
                RIVAL_HEADINGS, [rival_cells(n, [r for r in rows if r.network == n]) for n in names]
            ),
            "",
        ]
    )


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", default=list(models.NAMES), metavar="name")
    parser.add_argument("--target", action="append", help=f"default: {', '.join(TARGETS)}")
    parser.add_argument("--live", action="store_true", help="what is live where a plan is short")
    parser.add_argument("--output", type=Path, default=HERE / "results" / "memory")
    args = parser.parse_args()
    console = Console(width=None if Console().is_terminal else 160)
    rows: list[Row] = []
    for name in args.names:
        for label in args.target or TARGETS:
            rows.append(measure(name, label, console if args.live else None))
            console.print("  ".join(cells(rows[-1])))
    table = Table(*HEADINGS)
    for row in rows:
        table.add_row(*cells(row))
    console.print(table)
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.with_suffix(".md").write_text(markdown(rows))
    args.output.with_suffix(".json").write_text(
        json.dumps([asdict(row) for row in rows], indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
