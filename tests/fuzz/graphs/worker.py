"""Checks graphs in another process: a runtime that crashes or hangs takes nothing with it."""

from __future__ import annotations

import gc
import multiprocessing
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from clopt.errors import CloptWarning

from .check import Outcome, check
from .configurations import CONFIGURATIONS, Configuration
from .generate import Graph, random_graphs
from .open_check import check_open
from .resizing import OpenGraph, opened

Job = tuple[tuple[int, ...], str, str]
"""Seeds of graphs, names of a configuration and of a device."""

_MOST_JOBS = 400
"""Runtimes leak; a worker is replaced after so many jobs."""

SEEDS_APART = 10**6

_OPTIONS = b"-cl-std=CL1.2"
_QUICK_OPTIONS = b"-cl-std=CL1.2 -cl-opt-disable"

_COLLECT_EVERY = 20


def first_seed(seed: int) -> int:
    """The seed of graph 0 of a campaign; that of graph number i is larger by i."""
    return seed * SEEDS_APART


class Worker:
    """Runs jobs in another process, which is started again when it dies."""

    def __init__(self, seconds: float) -> None:
        """`seconds` is the limit for one job."""
        self._seconds = seconds
        self._process: multiprocessing.process.BaseProcess | None = None

    def run(self, job: Job) -> list[Outcome]:
        """The outcomes of a job; of its graphs one by one if the runtime dies of it."""
        if self._process is None or self._jobs >= _MOST_JOBS:
            self.close()
            self._start()
        self._jobs += 1
        self._pipe.send(job)
        if self._pipe.poll(self._seconds):
            try:
                return self._pipe.recv()
            except (EOFError, OSError):
                death = "the process died"
        else:
            death = f"no answer for {self._seconds:.0f} s"
        self.close()
        seeds, configuration, device = job
        if len(seeds) == 1:
            return [Outcome(seeds[0], configuration, device, "failed", death)]
        middle = len(seeds) // 2
        halves = (seeds[:middle], seeds[middle:])
        return [o for half in halves for o in self.run((half, configuration, device))]

    def close(self) -> None:
        """End the process and remove what it left."""
        if self._process is not None:
            self._process.kill()
            self._process.join(60)
            self._process = None
            self._cache.cleanup()

    def _start(self) -> None:
        self._cache = tempfile.TemporaryDirectory(prefix="clopt-fuzz-", ignore_cleanup_errors=True)
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._cache.name), daemon=True)
        self._process.start()
        theirs.close()
        self._jobs = 0


def _serve(pipe: Connection, cache: str) -> None:
    Path(cache, "files").mkdir()
    os.environ["POCL_CACHE_DIR"] = cache  # it grows without bounds
    build_quickly()
    devices = find_devices()
    warnings.simplefilter("ignore", CloptWarning)
    gc.disable()  # it takes a quarter of the time of compiling
    jobs = count()
    while True:
        seeds, configuration, device = pipe.recv()
        row = next(c for c in CONFIGURATIONS if c.name == configuration)
        if row.sizes:
            pipe.send(list(_check_open(seeds, row, device, devices[device])))
        else:
            files = Path(cache, "files")
            pipe.send(list(check(_graphs(seeds), row, {device: devices[device]}, files)))
        for entry in os.scandir(cache):
            if entry.is_dir() and entry.name != "files":
                shutil.rmtree(entry, ignore_errors=True)
        if next(jobs) % _COLLECT_EVERY == 0:
            gc.collect()


@lru_cache(maxsize=1)
def _graphs(seeds: Sequence[int]) -> list[Graph]:
    return random_graphs(seeds)


def _check_open(
    seeds: Sequence[int], row: Configuration, name: str, device: str
) -> Iterator[Outcome]:
    graphs = _open_graphs(seeds, row.sizes)
    for seed in seeds:
        if seed not in graphs:
            yield Outcome(seed, row.name, name, "unsuited")
    yield from check_open(list(graphs.values()), row, name, device)


@lru_cache(maxsize=1)
def _open_graphs(seeds: Sequence[int], sizes: Sequence[int]) -> dict[int, OpenGraph]:
    found = {graph.seed: opened(graph, sizes) for graph in _graphs(seeds)}
    return {seed: graph for seed, graph in found.items() if graph is not None}


def find_devices() -> dict[str, str]:
    """The index of each OpenCL device, by the name of its target."""
    from clopt.backends.pyopencl_runtime import list_devices, target_for

    return {target_for(device).name: str(device.index) for device in list_devices()}


def build_quickly() -> None:
    """Build all kernels as one program that the runtime does not optimise.

    The kernels run once, on a few elements: the runtimes' compilers would take most of the time.
    """
    from clopt.backends import host_c
    from clopt.backends.pyopencl_runtime import build
    from support.cl import quick_builds

    package_files = host_c.package_files

    def quick_package(*arguments: Any) -> dict[str, bytes]:
        files = package_files(*arguments)
        return {path: data.replace(_OPTIONS, _QUICK_OPTIONS) for path, data in files.items()}

    for name, value in quick_builds.CHANGES.items():
        setattr(build, name, value)
    host_c.package_files = quick_package
