"""Time every kernel of a compiled network on an OpenCL device, the slowest first.

`python benchmarks/kernels.py mobilenet_v2 --device pocl [--size 224] [--top 30]`; a path to any
ONNX file works too. Times come from the device's profiling events. GFLOP/s count the
floating-point operations of the kernel's loops, GB/s each argument once. With `--group` launches of
the same kernel are one row.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from pathlib import Path

import models
import pyopencl as cl
from rich.console import Console
from rich.table import Table
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, ModuleOp
from xdsl.ir import Block

import clopt
from clopt.backends.programs import program_of
from clopt.backends.pyopencl_runtime import find_device
from clopt.dialects import tir
from clopt.dialects.cl.ops import EnqueueKernelOp, byte_count


@dataclass
class Row:
    """One launch of a kernel, or all launches of it."""

    kernel: str
    nodes: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    flops: int
    bytes: int
    launches: int = 1
    milliseconds: float = 0.0
    samples: list[float] = field(default_factory=list)


def float_operations(block: Block, times: int = 1) -> int:
    """Return the float operations of a kernel's loops; both branches of a condition count."""
    total = 0
    for op in block.ops:
        inner = times * op.size if isinstance(op, tir.ForOp) else times
        for region in op.regions:
            total += sum(float_operations(child, inner) for child in region.blocks)
        counted = op.dialect_name() in (arith.Arith.name, math.Math.name) or op.name == "tir.call"
        if counted and op.results and isinstance(op.results[0].type, AnyFloat):
            total += 0 if isinstance(op, arith.ConstantOp) else times
    return total


def rows_of(module: ModuleOp) -> list[Row]:
    """Return a row for each launch of the program, in order."""
    functions = {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, tir.FuncOp)}
    flops = {name: float_operations(f.body.block) for name, f in functions.items()}
    program = program_of(module)
    rows: list[Row] = []
    for op in program.body.block.ops:
        if not isinstance(op, EnqueueKernelOp):
            continue
        function = functions[op.kernel_name]
        location = op.get_loc() if hasattr(op, "get_loc") else None
        comment = function.comment.data if function.comment is not None else str(location or "")
        size = function.global_size
        local = function.local_size
        rows.append(
            Row(
                op.kernel_name,
                comment.removeprefix("nodes: "),
                tuple(size.get_values()) if size is not None else (),
                tuple(local.get_values()) if local is not None else None,
                flops[op.kernel_name],
                sum(byte_count(arg.type) for arg in op.args),
            )
        )
    return [row for row in rows if 0 not in row.global_size]


def profile(path: Path, device: str, runs: int) -> tuple[list[Row], float]:
    """Return the median milliseconds of every launch, and of a whole inference seen from Python."""
    chosen = find_device(device)
    context = cl.Context([chosen.handle])
    properties = cl.command_queue_properties.PROFILING_ENABLE
    queue = cl.CommandQueue(context, chosen.handle, properties)
    place = clopt.Place(context=context, queue=queue)
    compiled = clopt.compile(path, device=place, turn_microseconds=0)  # a launch for each kernel
    inputs = models.sample_inputs(path)
    for _ in range(2):
        compiled.run(inputs)
    rows = rows_of(compiled.module)
    executable = compiled.executable
    launches = executable.launches
    if len(launches) != len(rows):
        raise RuntimeError(f"{len(launches)} launches for {len(rows)} commands")
    for _ in range(runs):
        events = [
            cl.enqueue_nd_range_kernel(queue, c.kernel, c.global_size, c.local_size)
            for c in launches
        ]
        queue.finish()
        for row, event in zip(rows, events, strict=True):
            row.samples.append(1e-6 * (event.profile.end - event.profile.start))
    for row in rows:
        row.milliseconds = statistics.median(row.samples)
    return rows, sum(row.milliseconds for row in rows)


def grouped(rows: list[Row]) -> list[Row]:
    """Merge launches of the same kernel into one row with their sums."""
    groups: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.kernel].append(row)
    return [
        Row(
            name,
            same[0].nodes,
            same[0].global_size,
            same[0].local_size,
            sum(row.flops for row in same),
            sum(row.bytes for row in same),
            len(same),
            sum(row.milliseconds for row in same),
        )
        for name, same in groups.items()
    ]


def show(rows: list[Row], total: float, top: int, title: str) -> None:
    """Print the slowest rows."""
    console = Console(width=None if sys.stdout.isatty() else 160)
    table = Table(title=title)
    for heading in ("kernel", "x", "ms", "share", "GFLOP/s", "GB/s", "MFLOP", "global", "local"):
        table.add_column(heading, justify="left" if heading == "kernel" else "right", no_wrap=True)
    table.add_column("nodes", overflow="ellipsis", no_wrap=True, max_width=60)
    for row in sorted(rows, key=lambda r: -r.milliseconds)[:top]:
        seconds = max(row.milliseconds, 1e-6) * 1e-3
        table.add_row(
            row.kernel,
            str(row.launches),
            f"{row.milliseconds:.3f}",
            f"{row.milliseconds / total:.1%}",
            f"{row.flops / seconds / 1e9:.1f}",
            f"{row.bytes / seconds / 1e9:.1f}",
            f"{row.flops / 1e6:.1f}",
            "x".join(map(str, row.global_size)),
            "x".join(map(str, row.local_size or ())),
            row.nodes,
        )
    console.print(table)
    flops = sum(row.flops for row in rows)
    console.print(
        f"{sum(row.launches for row in rows)} launches, {total:.2f} ms in kernels, "
        f"{flops / 1e9:.2f} GFLOP, {flops / total / 1e6:.1f} GFLOP/s"
    )


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("network", help="a name from models.py, or the path of an ONNX file")
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--top", type=int, default=30)
    parser.add_argument("--group", action="store_true", help="one row for each kernel")
    parser.add_argument("--order", action="store_true", help="queue order, not slowest first")
    parser.add_argument("--json", type=Path, help="write all rows to this file")
    args = parser.parse_args()
    known = args.network in (*models.NAMES, *models.UNTUNED)
    path = models.export(args.network, args.size) if known else Path(args.network)
    rows, total = profile(path, args.device, args.runs)
    if args.json is not None:
        args.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    if args.group:
        rows = grouped(rows)
    show(rows, total, args.top, f"{args.network} on {args.device}")


if __name__ == "__main__":
    main()
