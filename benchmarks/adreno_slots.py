"""The cost of each kernel of a network on Adreno: issue slots, counted in its instructions.

`python benchmarks/adreno_slots.py [name ...] --tool DIR [--gpu 630] [--precision f16]` compiles
each network for each GPU, and its kernels by Mesa's compiler in DIR (`adreno_tool.py`). It counts
the slots of a work-item (`adreno_isa.py`), times the work-items, for each multiply-add of the
network's file. The counts are no times: they say what the instructions allow.

The script keeps its counts in results/adreno_slots.json, so that you may count networks one by one,
and writes the tables of all to results/adreno_slots.md. Its exit status is 1 if a kernel takes over
3 % more slots than in the last commit, or spills more registers. With `--model` it counts nothing:
it compares the counts that it keeps with the costs by which rules choose tiles (`adreno_model.py`)
and passes layouts and offload (`adreno_costs.py`).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

import models
from adreno_costs import Sample, fitted
from adreno_kernels import Row, compile_network, rows_of
from adreno_model import Kernel, comparison, kernels_of
from adreno_tool import MISSING, Tool
from provenance import commit

from clopt.passes.nn.mixed_precision import PRECISIONS
from clopt.targets import load_target

ROOT = Path(__file__).resolve().parents[1]
STORE = "benchmarks/results/adreno_slots.json"
REPORT = "benchmarks/results/adreno_slots.md"
GPUS = {"630": 256, "660": 128, "740": 256}
"""The GPUs, and the number of work-items that should be in flight on each."""
AIMS: Mapping[str, float | None] = {
    "mobilenet_v2": 1.45,
    "resnet50": 1.25,
    "resnet18": 1.25,
    "unet": 1.25,
    "vit_tiny": 1.65,
    "squeezenet1_1": 1.45,
    "efficientnet_lite0": 1.45,
    "mobilenet_v3_small": 1.8,
    "yolo": 1.5,
}
"""Maximum slots per multiply-add in f32 that a network should need."""
F16_AIM = 0.65
"""Slots in f16 at double rate, relative to f32."""
TOLERANCE = 1.03


@dataclass(frozen=True)
class Result:
    """The kernels of a network for one GPU in one precision."""

    network: str
    precision: str
    gpu: str
    counted: str
    """The day and the commit of the count."""
    multiply_adds: int
    rows: tuple[Row, ...]

    @property
    def key(self) -> str:
        """The name in the results file."""
        return f"{self.network} {self.precision} {self.gpu}"

    @property
    def cost(self) -> float:
        """Slots of an inference if arithmetic on halves takes half a slot."""
        return sum(row.cost for row in self.rows)

    @property
    def slots(self) -> float:
        """Slots per multiply-add."""
        return self.cost / self.multiply_adds

    @property
    def raw(self) -> float:
        """The same if each instruction takes one slot."""
        return sum(row.raw for row in self.rows) / self.multiply_adds

    @property
    def threads(self) -> float:
        """Work-items in flight, averaged over the slots."""
        return sum(row.cost * row.threads for row in self.rows) / self.cost

    @property
    def full(self) -> float:
        """The share of slots in kernels with the desired number of work-items in flight."""
        enough = (row for row in self.rows if row.threads >= GPUS[self.gpu])
        return sum(row.cost for row in enough) / self.cost

    @classmethod
    def read(cls, key: str, fields: Mapping[str, object]) -> Result:
        """Return a result from the file."""
        rows = (Row(**{**row, "nodes": tuple(row["nodes"])}) for row in fields["rows"])
        network, precision, gpu = key.split()
        return cls(network, precision, gpu, fields["counted"], fields["multiply_adds"], tuple(rows))


def read(text: str) -> dict[str, Result]:
    """Return the results in a file's text."""
    return {key: Result.read(key, fields) for key, fields in json.loads(text or "{}").items()}


def written(results: Mapping[str, Result]) -> str:
    """Return the text of a file, one line per kernel."""
    parts: list[str] = []
    for key, result in sorted(results.items()):
        head = f'"counted": {json.dumps(result.counted)}, "multiply_adds": {result.multiply_adds}'
        rows = ",\n".join(json.dumps(asdict(row)) for row in result.rows)
        parts.append(f'"{key}": {{{head}, "rows": [\n{rows}\n]}}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def committed() -> str:
    """Return the file in the last commit; empty if it is missing."""
    command = ["git", "-C", str(ROOT), "show", f"HEAD:{STORE}"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def worse(old: Result, new: Result) -> Iterator[str]:
    """Return a line for each kernel that became worse, and for the network.

    Kernels are identified by the nodes that their launches compute.
    """
    before = {(row.stem, node): row for row in old.rows for node in row.nodes}
    for row in new.rows:
        earlier = [before[row.stem, node] for node in row.nodes if (row.stem, node) in before]
        slots = sum(one.launch_cost for one in earlier)
        now = len(earlier) * row.launch_cost
        name = f"{new.key}: {row.kernel} ({row.nodes[0]})"
        if now > TOLERANCE * slots:
            yield f"{name} takes {now / slots:.3f} times the slots"
        if earlier and row.spills > max(one.spills for one in earlier):
            yield f"{name} spills {row.spills} times"
    if new.cost > TOLERANCE * old.cost:
        yield f"{new.key} takes {new.cost / old.cost:.3f} times the slots"


def report(results: Mapping[str, Result]) -> str:
    """Return the tables of all networks."""
    last = max(result.counted for result in results.values())
    lines = [
        "# Issue slots on Adreno",
        "",
        f"Measured on Mesa's ir3, without a device, {last}: `python benchmarks/adreno_slots.py`",
        "",
        "Counted in the instructions that Mesa's compiler for Adreno makes of our kernels. Slots",
        "are those of a work-item, with the trips of its loops, times the work-items, for each",
        "multiply-add of the network's convolutions and products. The least is 1, and 1/2 for",
        "halves: arithmetic on halves counts half a slot, in brackets a whole one. Threads are",
        "work-items in flight on a core, a mean over the slots; `full` is the share of slots in",
        "kernels with at least",
        f"{', '.join(f'{n} on {gpu}' for gpu, n in GPUS.items())}. Both sides of a condition count",
        "for each work-item, so that a kernel of parts of different sizes seems dearer than",
        f"it is. The three figures of a cell are those of Adreno {', '.join(GPUS)}; Qualcomm's own",
        "compiler makes others.",
        "",
        *summary(results),
    ]
    ordered = sorted(results.values(), key=_order)
    for network, precision in dict.fromkeys((r.network, r.precision) for r in ordered):
        lines += ["", f"## {network}, {precision}", "", *kernels(results, network, precision)]
    return "\n".join(lines) + "\n"


def summary(results: Mapping[str, Result]) -> Iterator[str]:
    """Return a row for each network, precision and GPU."""
    yield "| network | precision | GPU | slots | aim | threads | full | with spills | counted |"
    yield "|---|---|---|---:|---:|---:|---:|---:|---|"
    for r in sorted(results.values(), key=_order):
        cells = (
            r.network,
            r.precision,
            r.gpu,
            f"{r.slots:.3f}" + (f" ({r.raw:.3f})" if r.precision == "f16" else ""),
            _aim(r, results),
            f"{r.threads:.0f}",
            f"{r.full:.0%}",
            sum(row.spills > 0 for row in r.rows) or "",
            r.counted,
        )
        yield f"| {' | '.join(map(str, cells))} |"


def _order(result: Result) -> tuple[int, int, str]:
    names = [*AIMS, *models.NAMES]
    return names.index(result.network), PRECISIONS.index(result.precision), result.gpu


def _aim(result: Result, results: Mapping[str, Result]) -> str:
    floats = results.get(f"{result.network} f32 {result.gpu}")
    if result.precision == "f16":
        return f"{F16_AIM * floats.slots:.3f}" if floats else ""
    aim = AIMS.get(result.network) if result.precision == "f32" else None
    return f"{aim:.2f}" if aim else ""


def kernels(results: Mapping[str, Result], network: str, precision: str) -> Iterator[str]:
    """Return a row for each kernel of a network, by the node that its first launch computes."""
    found = [results.get(f"{network} {precision} {gpu}") for gpu in GPUS]
    of_gpu = [
        (r, {(row.stem, node): row for row in r.rows for node in row.nodes}) for r in found if r
    ]
    firsts = {(row.stem, row.nodes[0]): row for r, _ in of_gpu for row in r.rows}
    yield "| kernel | node | launches | slots | share | threads | registers | spills |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|"
    for (stem, node), first in firsts.items():
        same = [(rows.get((stem, node)), r.cost) for r, rows in of_gpu]
        cells = (
            stem,
            node,
            len(first.nodes),
            _each(row and _slots(row) for row, _ in same),
            _each(row and f"{row.cost / cost:.1%}" for row, cost in same),
            _each(row and str(row.threads) for row, _ in same),
            _each(row and str(row.registers) for row, _ in same),
            _each(row and str(row.spills) for row, _ in same),
        )
        yield f"| {' | '.join(map(str, cells))} |"
    if unknown := sorted({row.kernel for r, _ in of_gpu for row in r.rows if not row.is_matched}):
        yield ""
        yield f"Loops not found in the instructions, counted once: {', '.join(unknown)}."


def _slots(row: Row) -> str:
    return f"{row.launch_cost / row.multiply_adds:.2f}" if row.multiply_adds else "-"


def _each(texts: Iterator[str | None]) -> str:
    """Return the texts of all GPUs, or one if they are equal."""
    cells = [text or "none" for text in texts]
    return cells[0] if len(set(cells)) == 1 else " / ".join(cells)


def measure(name: str, gpu: str, precision: str, tool: Tool) -> Result:
    """Count one network."""
    network = compile_network(models.export(name), gpu, precision)
    rows = rows_of(network, gpu, tool)
    stamp = f"{date.today().isoformat()}, at commit {commit()}"
    return Result(name, precision, gpu, stamp, network.multiply_adds, tuple(rows))


def compare(old: Mapping[str, Result], new: Sequence[Result]) -> list[str]:
    """Return the regressions; print how the networks changed."""
    found: list[str] = []
    for result in new:
        before = old.get(result.key)
        then = f", was {before.slots:.3f}" if before else ""
        print(f"{result.key}: {result.slots:.3f} slots{then}; {result.threads:.0f} threads")
        found += worse(before, result) if before else []
    return found


def model(results: Mapping[str, Result], names: Sequence[str], gpus: Sequence[str]) -> None:
    """Compare the costs of rules and of layouts with the counts in f32."""
    kernels, samples = list[Kernel](), list[Sample]()
    keys = (f"{name} f32 {gpu}" for name in names for gpu in gpus)
    for result in (results[key] for key in keys if key in results):
        network = compile_network(models.export(result.network), result.gpu, result.precision)
        kernels += kernels_of(result.key, network, result.rows)
        samples += (
            Sample(result.gpu, network.work[row.nodes[0]], row.launch_cost)
            for row in result.rows
            if row.multiply_adds and row.nodes[0] in network.work
        )
    targets = {gpu: load_target(f"adreno-{gpu}") for gpu in gpus}
    facts = {
        gpu: (target.machine.access_cost, target.machine.result_cost)
        for gpu, target in targets.items()
    }
    print(*comparison(kernels), "", *fitted(samples, facts), sep="\n")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", default=list(AIMS), metavar="name")
    parser.add_argument("--tool", type=Path, help="the compiler's folder, by default $ADRENO")
    parser.add_argument("--gpu", action="append", choices=GPUS, help="default: all")
    parser.add_argument("--precision", action="append", choices=PRECISIONS, help="default: f32")
    parser.add_argument("--model", action="store_true", help="compare the rules' costs")
    args = parser.parse_args()
    path = ROOT / STORE
    results = read(path.read_text(encoding="utf-8") if path.exists() else "")
    if args.model:
        model(results, args.names, args.gpu or list(GPUS))
        return
    tool = Tool.find(args.tool)
    if tool is None:
        parser.error(MISSING)
    old, new = read(committed()), list[Result]()
    for name in args.names:
        for precision in args.precision or ["f32"]:
            for gpu in args.gpu or GPUS:
                new.append(measure(name, gpu, precision, tool))
                results[new[-1].key] = new[-1]
                path.write_text(written(results), encoding="utf-8")
    (ROOT / REPORT).write_text(report(results), encoding="utf-8")
    found = compare(old, new)
    print(*found, sep="\n")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
