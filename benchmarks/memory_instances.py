"""Hard instances of memory planning, by greedy orders and by the search.

`python benchmarks/memory_instances.py [--seeds N] [--effort N] [FILE.CAPACITY.csv ...]`. Without
files it plans generated instances and writes `results/memory_instances.md` and `.json`, with files
`results/minimalloc_instances.md` and `.json`. A file has one tensor a line in the format of
MiniMalloc's instances (github.com/google/minimalloc, benchmarks/challenging): a name, the first
command, the command after the last, and bytes; the capacity is in the file's name.

A generated instance fills a rectangle of time by capacity with boxes, so that its capacity can be
met: it cuts parts of the rectangle in two, at one time or at one height. Other parts are cut into
five around a box in the middle, which no such cut can make. The planner gets only the lifetime and
the size of each box. Some instances leave a few per cent of the capacity free.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from provenance import measured
from rich.console import Console
from rich.table import Table

from clopt.passes.cl.memory import LiveTensor, lower_bound, plan
from clopt.passes.cl.memory.greedy import Placer
from clopt.passes.cl.memory.plan import EFFORT, FITTING

RESULTS = Path(__file__).resolve().parent / "results"
CAPACITY = 1 << 20
UNIT = 1 << 10
FREE = (0.0, 0.02, 0.05)


class Rectangle(NamedTuple):
    """An interval of time and an interval of offsets (in units); ends are exclusive."""

    left: int
    right: int
    low: int
    high: int


def generate(seed: int, count: int, free: float) -> list[LiveTensor]:
    """Return at least `count` tensors that fit in CAPACITY and leave the share `free` unused."""
    rng = random.Random(seed)
    whole = Rectangle(0, count, 0, int(CAPACITY * (1 - free)) // UNIT)
    parts = [whole]
    while len(parts) < count:
        largest = max(range(len(parts)), key=lambda i: _area(parts[i]) * rng.uniform(0.2, 1))
        pieces = _cut(parts[largest], rng)
        parts[largest : largest + 1] = pieces
    tensors = [LiveTensor((p.high - p.low) * UNIT, p.left, p.right - 1) for p in parts]
    rng.shuffle(tensors)
    return tensors


def _area(part: Rectangle) -> int:
    return (part.right - part.left) * (part.high - part.low)


def _cut(part: Rectangle, rng: random.Random) -> list[Rectangle]:
    """Return two parts, or five like a pinwheel, or the part itself if it is too small."""
    left, right, low, high = part
    wide, tall = right - left >= 2, high - low >= 2
    if right - left >= 6 and high - low >= 6 and rng.random() < 0.2:
        a, b = sorted(rng.sample(range(left + 1, right), 2))
        c, d = sorted(rng.sample(range(low + 1, high), 2))
        return [
            Rectangle(left, b, low, c),
            Rectangle(b, right, low, d),
            Rectangle(a, right, d, high),
            Rectangle(left, a, c, high),
            Rectangle(a, b, c, d),
        ]
    if wide and (not tall or rng.random() < 0.45):
        at = rng.randint(left + 1, right - 1)
        return [part._replace(right=at), part._replace(left=at)]
    if tall:
        at = rng.randint(low + 1, high - 1)
        return [part._replace(high=at), part._replace(low=at)]
    return [part]


def read(path: Path) -> tuple[list[LiveTensor], int]:
    """Return the tensors of a file in MiniMalloc's format, and the capacity in its name."""
    with path.open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    tensors = [LiveTensor(int(size), int(start), int(end) - 1) for _, start, end, size in rows]
    return tensors, int(path.name.split(".")[-2])


class Row(NamedTuple):
    """One instance, with bytes as multiples of the capacity."""

    name: str
    tensors: int
    bound: float
    by_size: float
    greedy: float
    greedy_seconds: float
    search: float
    search_seconds: float
    method: str


def measure(name: str, tensors: list[LiveTensor], capacity: int, effort: int) -> Row:
    by_size = sorted(range(len(tensors)), key=lambda i: -tensors[i].size)
    plain = Placer(tensors).place(by_size, tightest=True).sizes[0]
    start = time.process_time()
    greedy = plan(tensors, effort=0)
    middle = time.process_time()
    found = plan(tensors, capacity, effort)
    end = time.process_time()
    return Row(
        name,
        len(tensors),
        lower_bound(tensors) / capacity,
        plain / capacity,
        greedy.bytes / capacity,
        middle - start,
        found.bytes / capacity,
        end - middle,
        found.method,
    )


NOTE = """# Memory planning: hard instances

{measured}

To fit all tensors into the capacity the search visits at most {fitting} states, and at most
{effort} (`--effort`) to do with less. Bytes as multiples of the capacity, which can be met; seconds
of one CPU core. "by size": the largest first into the tightest gap. "plan" with more than 1 did not
fit into one arena of the capacity: it is the sum of its arenas.

"""
HEADER = "instance|tensors|lower bound|by size|best greedy|s|plan|s|found by"


def cells(row: Row) -> list[str]:
    numbers = [f"{row.bound:.3f}", f"{row.by_size:.3f}", f"{row.greedy:.3f}"]
    seconds = f"{row.greedy_seconds:.2f}", f"{row.search_seconds:.2f}"
    end = [seconds[0], f"{row.search:.3f}", seconds[1], row.method]
    return [row.name, str(row.tensors), *numbers, *end]


def show(rows: Iterable[Row]) -> None:
    table = Table(*HEADER.split("|"))
    for row in rows:
        table.add_row(*cells(row))
    Console().print(table)


def write(name: str, rows: list[Row], effort: int) -> None:
    """Write `results/<name>.md` and `.json`."""
    header = HEADER.split("|")
    lines = [header, ["---"] * len(header), *map(cells, rows)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    (RESULTS / f"{name}.md").write_text(
        NOTE.format(measured=measured(), effort=effort, fitting=effort * FITTING) + table + "\n"
    )
    content = {"effort": effort, "rows": [row._asdict() for row in rows]}
    (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--effort", type=int, default=EFFORT)
    arguments = parser.parse_args()
    rows: list[Row] = []
    for path in arguments.files:
        rows.append(measure(path.name.split(".")[0], *read(path), arguments.effort))
    for seed in range(0 if arguments.files else arguments.seeds):
        tensors = generate(seed, 150 + 25 * seed, FREE[seed % len(FREE)])
        rows.append(measure(f"seed {seed}", tensors, CAPACITY, arguments.effort))
    show(rows)
    name = "minimalloc_instances" if arguments.files else "memory_instances"
    write(name, rows, arguments.effort)


if __name__ == "__main__":
    main()
