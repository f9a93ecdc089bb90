"""Programs for several sizes: compiled, with poisoned memory, and their numbers of work-items."""

from __future__ import annotations

from math import prod
from pathlib import Path

import numpy as np
import onnx
import pyopencl as cl

import clopt
from clopt.backends.pyopencl_runtime.devices import Device
from clopt.backends.pyopencl_runtime.launched_program import LaunchedProgram
from clopt.options import CompileOptions, Origin, Place
from clopt.static_compilation import StaticCompilation


def compile_ranged(
    model: onnx.ModelProto | Path, dims: dict[str, int], device: str, use_cache: bool = False
) -> clopt.CompiledModel:
    """Compile a model for the first of `dims`, and for all smaller sizes of it."""
    asked = Place.of(device)
    place = asked.chosen()
    assert isinstance(place.device, Device)
    options = CompileOptions(dims=dims, ranged=(next(iter(dims)), 1))
    origin = Origin.of(asked, place.device, {}, use_cache)
    return StaticCompilation(model, options, place, origin, use_cache).run()


def poison(compiled: clopt.CompiledModel) -> None:
    """Fill the arenas with NaN."""
    executable = compiled.executable
    for arena in executable.arena:
        size = arena.size // 4 * 4
        cl.enqueue_fill_buffer(executable.queue, arena, np.array([np.nan], np.float32), 0, size)
    executable.queue.finish()


def work_items(compiled: clopt.CompiledModel) -> int:
    """Return how many work-items an inference launches."""
    executable = compiled.executable
    assert isinstance(executable, LaunchedProgram)
    return sum(prod(launch.global_size) for launch in executable.launches)
