"""What memory limits cost: the estimated time of networks at limits below their fastest plan.

`python benchmarks/memory_limits.py MODEL... --target TARGET [--output results/memory_limits]`.
The limits are shares of the fastest plan's memory, and the tightest that clopt can meet. No kernel
is built. The time is the sum of the kernels' estimates. `--save FOLDER` saves each compiled model,
so that it can be measured.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from provenance import measured
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

import clopt
from clopt.backends.programs import program_of
from clopt.context import CloptContext
from clopt.dialects import cl
from clopt.dialects.remarks import remarks_of
from clopt.errors import CloptError
from clopt.frontends.onnx import import_onnx
from clopt.passes.cl.plan_memory import CLPlanMemoryPass
from clopt.passes.memory_times import times_of
from clopt.passes.pipelines import run_pipeline
from clopt.reports.memory import memory_report
from clopt.targets import TargetChoice

SHARES = (0.9, 0.75, 0.6, 0.5)
TIGHTEST = 0.0
"""The share that selects the tightest possible limit."""


@dataclass(frozen=True)
class Row:
    """A network at one limit; the other fields are empty if the limit cannot be met."""

    network: str
    target: str
    share: float
    """The limit as a share of the fastest plan's memory; 1 for that plan."""
    limit: int | None
    bytes: int = 0
    microseconds: float = 0.0
    """Estimated time of all launches."""
    lowerings: int = 0
    """How often the network was lowered."""
    seconds: float = 0.0
    """Compile time without the import."""
    remark: str = ""


class Watch:
    """A callback of the pipeline that counts lowerings."""

    lowerings = 0

    def __call__(
        self, previous: ModulePass | None, module: ModuleOp, following: ModulePass | None
    ) -> None:
        self.lowerings += isinstance(following, CLPlanMemoryPass)


def compile_within(path: Path, label: str, share: float, limit: int | None) -> Row:
    """Compile a network without building kernels. Raise CloptError if it exceeds the limit."""
    ctx, target = CloptContext(), TargetChoice.parse(label).load()
    assert target is not None, f"{label}: name a target"
    module, watch = import_onnx(path, ctx.weights), Watch()
    cl.set_target(module, target)
    start = time.perf_counter()
    run_pipeline(ctx, module, "opencl", watch, memory_limit=limit)
    seconds = time.perf_counter() - start
    report = memory_report(program_of(module), target)
    remark = next((text for text in remarks_of(module) if "less memory" in text), "")
    return Row(
        *(path.stem, label, share, limit, report.peak + report.separate_bytes),
        *(times_of(module).total, watch.lowerings, seconds, remark),
    )


def tightest(path: Path, label: str) -> int:
    """Return the tightest limit that clopt says it can meet."""
    try:
        return compile_within(path, label, TIGHTEST, 0).bytes
    except CloptError as error:
        (digits,) = re.findall(r"at least ([\d,]+) bytes", str(error))
        return int(digits.replace(",", ""))


def rows_of(path: Path, label: str, save: Path | None) -> list[Row]:
    """Return the rows of a network on a target, the fastest plan first."""
    fastest = compile_within(path, label, 1.0, None)
    least = tightest(path, label)
    limits = [(share, int(share * fastest.bytes)) for share in SHARES]
    rows = [fastest]
    for share, limit in [*limits, (TIGHTEST, least)]:
        try:
            rows.append(compile_within(path, label, share, limit))
        except CloptError:
            rows.append(Row(path.stem, label, share, limit))
    for row in rows:
        if save and row.bytes:
            model = clopt.compile(path, label, memory_limit=row.limit)
            model.save(save / f"{row.network}-{row.share:g}")
    return rows


def line_of(row: Row) -> str:
    """Return the line of a table."""
    limit = "tightest" if row.share == TIGHTEST else f"{row.share:.0%}"
    start = f"| {row.network} | {row.target} | {limit} |"
    if not row.bytes:
        return f"{start} cannot be met | | | |"
    return (
        f"{start} {row.bytes / 1e6:.3f} | {row.microseconds:.0f} | {row.lowerings} | "
        f"{row.seconds:.1f} |"
    )


HEAD = """\
| network | target | limit | MB | estimated us | lowerings | compile s |
|---|---|---|---|---|---|---|"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, and write it to the output."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--target", action="append", required=True)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--save", type=Path)
    options = parser.parse_args(arguments)
    rows: list[Row] = []
    print(HEAD)
    for path in options.models:
        for label in options.target:
            for row in rows_of(path, label, options.save):
                print(line_of(row), flush=True)
                rows.append(row)
    if options.output:
        lines = "\n".join(map(line_of, rows))
        options.output.with_suffix(".md").write_text(f"{measured()}\n\n{HEAD}\n{lines}\n")
        data = [asdict(row) for row in rows]
        options.output.with_suffix(".json").write_text(json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    main()
