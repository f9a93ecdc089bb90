"""Time to append to, read, search and merge a large tuning database."""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from clopt.decisions.database import DeviceDriver, TuningDatabase
from clopt.decisions.record import Record, facts_that_count
from clopt.passes.tir.ranked_plans import ranked_plans
from clopt.targets import load_target
from clopt.tuning import records

T = TypeVar("T")
TARGET = load_target("pocl")
DEVICE = DeviceDriver("A processor (benchmark)", "1.0")
KERNELS = 500
PLAN = (
    '#tir.plan<"register-tile", 4, {{local_size = [1, 1, 1], col = 3, width = 8, vectors = 2, '
    "row = 1, rows = {}, chunk = 2, parts = 1, panel = plain, order = [0, 2, 3, 1]}}>"
)


def made(number: int) -> Record:
    """Return a record of a plan for one of some kernels."""
    return Record(
        kind="plan",
        site=f"{number % KERNELS:016x}",
        choice=PLAN.format(number // KERNELS),
        target=TARGET.name,
        facts=facts_that_count(TARGET),
        device=DEVICE.name,
        driver=DEVICE.driver,
        microseconds=1 + number / 7,
        noise=0.0123,
        runs=30,
        seconds=1.25,
        nodes="conv, relu",
        default=number < KERNELS,
        when="2026-01-31T12:00:00Z",
    )


def timed(what: str, work: Callable[[], T]) -> T:
    """Call a function, and print its wall and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{what:30} {wall:8.2f} s, {cpu:.2f} s of the processor")
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    count = parser.parse_args().records
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "all.jsonl")
        several = [made(number) for number in range(count)]
        timed("append, at once", lambda: records.append(path, several))
        for _ in range(3):
            os.utime(path)  # a file that has not changed is kept
            database = timed(f"read, {path.stat().st_size:,} bytes", lambda: read(path))
        default = PLAN.format(0)
        for what, record in (("first choice", several[0]), ("next choice", several[1])):
            choose = partial(ranked_plans, database, record.site, TARGET, DEVICE, default)
            timed(what, choose)
        timed("append one more", lambda: records.append(path, [made(count)]))
        timed("merge with itself", lambda: records.merge(several, database.records))


def read(path: Path) -> TuningDatabase:
    return TuningDatabase.read(path)


if __name__ == "__main__":
    main()
