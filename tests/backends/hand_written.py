"""Runs a tir kernel given as text on an OpenCL device, with numpy arrays for its parameters."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from clopt.backends.opencl_c import emit
from clopt.backends.pyopencl_runtime import find_device, target_for
from clopt.context import CloptContext
from clopt.dialects import tir
from clopt.dialects.cl.target import Target

Array = NDArray[np.generic]


def parse(text: str) -> ModuleOp:
    """A verified module."""
    module = Parser(CloptContext(), text).parse_module()
    module.verify()
    return module


@cache
def queue_on(device: str) -> tuple[cl.Context, cl.CommandQueue]:
    """One context and queue per device for all tests."""
    context = cl.Context([find_device(device).handle])
    return context, cl.CommandQueue(context)


def run(
    device: str,
    text: str,
    arrays: Sequence[Array],
    global_size: Sequence[int] = (1,),
    local_size: Sequence[int] | None = None,
    target: Target | None = None,
) -> list[Array]:
    """The contents of every parameter after the module's only kernel ran once."""
    module = parse(text)
    source = emit(module, target or target_for(find_device(device)))
    context, queue = queue_on(device)
    with warnings.catch_warnings():
        # Intel's compiler reports success, which pyopencl takes for a warning.
        warnings.simplefilter("ignore", cl.CompilerWarning)
        program = cl.Program(context, source).build()
    log = program.get_build_info(queue.device, cl.program_build_info.LOG)
    assert "warning" not in log, log + source
    (func,) = (op for op in module.body.block.ops if isinstance(op, tir.FuncOp))
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=np.ascontiguousarray(array)) for array in arrays]
    kernel = cl.Kernel(program, func.sym_name.data)
    kernel.set_args(*buffers)
    cl.enqueue_nd_range_kernel(queue, kernel, global_size, local_size)
    results = [np.empty_like(array) for array in arrays]
    for result, buffer in zip(results, buffers, strict=True):
        cl.enqueue_copy(queue, result, buffer)
    queue.finish()
    return results
