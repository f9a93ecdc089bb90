"""Has PoCL compile a program's kernels side by side, and before their first launch.

PoCL compiles a kernel when it is first launched with a local size, one kernel at a time, and keeps
the result on disk for all processes. So this process and helpers share the kernels and launch one
work-group of each, over zeros. Left for the first inference are kernels of integers, for which
zeros might be divisors, those with images, and those with a grid of which PoCL makes another
variant.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from math import prod
from typing import Any, cast

import numpy as np
import pyopencl as cl
from xdsl.dialects.builtin import AnyFloat, MemRefType
from xdsl.ir import Attribute

from ...dialects.cl.images import image_of
from ...dialects.cl.kernels import Kernel
from ...dialects.cl.ops import byte_count
from ..kernel_source import split_kernels
from .compiler import from_source
from .devices import Device, find_device
from .workers import answer_jobs, share_work

_LARGE_GRID = 0xFFFF  # PoCL's grid_width_specialization_limit

# A page, and more than any vector: kernels may expect aligned buffers.
_ALIGNMENT = 4096


@dataclass(frozen=True)
class _Group:
    """The launch of one work-group."""

    kernel: str
    local_size: tuple[int, ...]
    buffers: tuple[int, ...]
    """The bytes of each argument that is a buffer; they come first."""
    bounds: tuple[int, ...]


def compile_by_launching(
    device: Device, program: cl.Program, source: str, options: str, kernels: Iterable[Kernel]
) -> bool:
    """Whether it saves time to compile the `kernels` of a program of `source` now; if so, do it."""
    if device.index < 0:  # a helper would not find it
        return False
    texts = split_kernels(source)
    # A kernel of another author may not run on zeros.
    known = [k for k in kernels if k.name in texts and not k.function]
    groups = {k.name: _group(k) for k in known if _runs_on_zeros(k)}
    queue = cl.CommandQueue(program.context, device.handle)
    ours: list[str] = []

    def launch(name: str) -> None:
        ours.append(name)
        _launch(queue, program, groups[name])

    share_work(
        {name: texts[name] for name in groups},
        f"from {__name__} import help_launching; help_launching({device.index}, {options!r})",
        launch,
        lambda name: json.dumps(asdict(groups[name])).encode(),
        source.encode(),
    )
    return bool(ours)


def help_launching(index: int, options: str) -> None:
    """The work of a helper process, which gets the source before its jobs."""
    device = find_device(index)
    queue = cl.CommandQueue(cl.Context([device.handle]), device.handle)

    def prepare(source: bytes) -> Callable[[bytes], bytes]:
        program = from_source(queue.context, device, source.decode(), options)

        def launch(job: bytes) -> bytes:
            _launch(queue, program, _Group(**json.loads(job)))
            return b"compiled"

        return launch

    answer_jobs(prepare)


def _group(kernel: Kernel) -> _Group:
    assert kernel.local_size is not None
    sizes = tuple(map(byte_count, kernel.arg_types))
    return _Group(kernel.name, kernel.local_size, sizes, kernel.bounds)


def _runs_on_zeros(kernel: Kernel) -> bool:
    return (
        kernel.local_size is not None
        and kernel.global_size is not None
        and prod(kernel.global_size) > 0
        and max(kernel.global_size) < _LARGE_GRID
        and all(map(_has_floats, kernel.arg_types))
    )


def _has_floats(type_: Attribute) -> bool:
    if image_of(type_) is not None or not isinstance(type_, MemRefType):
        return False
    return isinstance(cast("MemRefType[Attribute]", type_).element_type, AnyFloat)


def _launch(queue: cl.CommandQueue, program: cl.Program, group: _Group) -> None:
    kernel = cl.Kernel(program, group.kernel)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
    # The system gives pages of zeros only where a kernel writes.
    memories = [_zeros(size) for size in group.buffers]
    buffers = [cl.Buffer(queue.context, flags, hostbuf=memory) for memory in memories]
    for number, argument in enumerate((*buffers, *map(np.int32, group.bounds))):
        kernel.set_arg(number, argument)
    cl.enqueue_nd_range_kernel(queue, kernel, group.local_size, group.local_size)
    queue.finish()


def _zeros(size: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    memory = np.zeros(size + 2 * _ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % _ALIGNMENT
    return memory[start : start + max(size, 1)]
