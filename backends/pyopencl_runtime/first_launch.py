"""Compilation of PoCL's kernels in parallel, before their first launch.

PoCL compiles a kernel when it is first launched with a local size, one kernel at a time, and keeps
the result on disk for all processes. So this process, with helpers for a large program, launches
one work-group of each kernel, or one row of them, on zeros. Two sorts of kernels are left for the
first inference: those with images, and those that divide integers by a value, because with zeros
they would divide by zero and end the process. (Only models saved by older versions of clopt have
these.)
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import cache
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

# PoCL's grid_width_specialization_limit: grids with a side of at least this size get another
# variant.
_LARGE_GRID = 0xFFFF

_DIVIDES_BY_A_VALUE = re.compile(r"(?<!/)[/%](?!/) *[^/\d ]")

# Buffers start at a page, because kernels may expect the alignment of any vector type.
_ALIGNMENT = 4096


@dataclass(frozen=True)
class _Group:
    """The launch of a work-group, or of a row of work-groups that makes the grid a large one."""

    kernel: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    buffers: tuple[int, ...]
    """The bytes of each argument that is a buffer; these arguments come first."""
    integers: tuple[int, ...]
    """The arguments after these: bounds of loops, and the first elements of rows."""


def compile_by_launching(
    context: cl.Context, device: Device, source: str, options: str, kernels: Iterable[Kernel]
) -> tuple[cl.Program, bool]:
    """Build `source`, and compile those of `kernels` that can run on zeros.

    Return the program, and whether any kernel was compiled. Helper processes compile some of the
    kernels if that saves time.
    """
    texts = split_kernels(source)
    # Kernels of other authors are excluded: they may not run on zeros.
    generated = [k for k in kernels if k.name in texts and not k.function]
    groups = {k.name: _group(k) for k in generated if _runs_on_zeros(k, texts[k.name])}
    queue = cl.CommandQueue(context, device.handle)
    remaining = dict.fromkeys(groups)

    @cache
    def program() -> cl.Program:
        return from_source(context, device, source, options)

    def message() -> bytes:
        program()  # PoCL stores it on disk for the helpers; building it takes each a second
        return f"{options}\n{source}".encode()

    def launch(name: str) -> None:
        del remaining[name]
        _launch(queue, program(), groups[name])

    if device.index >= 0:  # helpers find only listed devices
        compiled = share_work(
            {name: texts[name] for name in groups},
            launching_helper(device),
            launch,
            lambda name: json.dumps(asdict(groups[name])).encode(),
            message,
        )
        for name in compiled:
            remaining.pop(name, None)
    for name in list(remaining):
        launch(name)
    return program(), bool(groups)


def launching_helper(device: Device) -> str:
    """Return the Python of a helper process that launches kernels on a device."""
    return f"from {__name__} import help_launching; help_launching({device.index})"


def help_launching(index: int) -> None:
    """Run as a helper process, which receives options and source before its jobs."""
    device = find_device(index)
    queue = cl.CommandQueue(cl.Context([device.handle]), device.handle)

    def prepare(message: bytes) -> Callable[[bytes], bytes]:
        options, _, source = message.decode().partition("\n")
        program = from_source(queue.context, device, source, options)

        def launch(job: bytes) -> bytes:
            _launch(queue, program, _Group(**json.loads(job)))
            return b"compiled"

        return launch

    answer_jobs(prepare)


def _group(kernel: Kernel) -> _Group:
    assert kernel.local_size is not None
    assert kernel.global_size is not None
    sizes = tuple(map(byte_count, kernel.arg_types))
    grid = tuple(
        size if size >= _LARGE_GRID else group
        for size, group in zip(kernel.global_size, kernel.local_size, strict=True)
    )
    integers = (*kernel.bounds, *(0 for _ in kernel.rows))
    return _Group(kernel.name, grid, kernel.local_size, sizes, integers)


def _runs_on_zeros(kernel: Kernel, text: str) -> bool:
    return (
        kernel.local_size is not None
        and kernel.global_size is not None
        and prod(kernel.global_size) > 0
        and all(image_of(type_) is None for type_ in kernel.arg_types)
        and (all(map(_has_floats, kernel.arg_types)) or not _DIVIDES_BY_A_VALUE.search(text))
    )


def _has_floats(type_: Attribute) -> bool:
    if not isinstance(type_, MemRefType):
        return False
    return isinstance(cast("MemRefType[Attribute]", type_).element_type, AnyFloat)


def _launch(queue: cl.CommandQueue, program: cl.Program, group: _Group) -> None:
    kernel = cl.Kernel(program, group.kernel)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
    # The system maps zero pages lazily, so only memory that a kernel writes takes up space.
    memories = [_zeros(size) for size in group.buffers]
    buffers = [cl.Buffer(queue.context, flags, hostbuf=memory) for memory in memories]
    for number, argument in enumerate((*buffers, *map(np.int32, group.integers))):
        kernel.set_arg(number, argument)
    cl.enqueue_nd_range_kernel(queue, kernel, group.global_size, group.local_size)
    queue.finish()


def _zeros(size: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    memory = np.zeros(size + 2 * _ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % _ALIGNMENT
    return memory[start : start + max(size, 1)]
