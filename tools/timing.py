"""`clopt-run --time` and `--duration`: the time of inferences, including copies."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from rich.console import Console

from .tables import table


class RunTiming(NamedTuple):
    """Figures of consecutive runs; times in milliseconds."""

    runs: int
    median: float
    min: float
    p90: float
    p99: float
    throughput: float
    """Runs in a second."""


def timed(infer: Callable[[], object], runs: int, seconds: float, warm_up: int) -> RunTiming:
    """Time at least `runs` runs, and continue until they have taken `seconds`."""
    for _ in range(warm_up):
        infer()
    times: list[float] = []
    total = 0.0
    while len(times) < runs or total < seconds:
        start = time.perf_counter()
        infer()
        times.append(time.perf_counter() - start)
        total += times[-1]
    p90, p99 = (1000 * float(each) for each in np.percentile(times, (90, 99)))
    median, least = 1000 * statistics.median(times), 1000 * min(times)
    return RunTiming(len(times), median, least, p90, p99, len(times) / total)


def timing_facts(timing: RunTiming) -> dict[str, object]:
    """Return the figures as `--json` prints them."""
    figures = timing._asdict()
    counts = {name: figures.pop(name) for name in ("runs", "throughput")}
    return {"timing": {**counts, "milliseconds": figures}}


def print_timing(console: Console, timing: RunTiming) -> None:
    """Print the figures as a table of one row."""
    rows = table(*RunTiming._fields)
    times = (f"{each:.3f} ms" for each in timing[1:-1])
    rows.add_row(str(timing.runs), *times, f"{timing.throughput:.4g}/s")
    console.print(rows)
