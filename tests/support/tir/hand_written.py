"""Runs a tir kernel given as text on an OpenCL device, with numpy arrays for its parameters."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.parser import Parser

from clopt.backends.opencl_c import emit
from clopt.backends.pyopencl_runtime import find_device, target_for
from clopt.context import CloptContext
from clopt.dialects import tir
from clopt.machine.target import Target

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
    # PoCL's builtins pass vectors that a processor without AVX-512 has no registers for; clang says
    # so of its own calls, which says nothing of our code.
    ours = [line for line in log.splitlines() if "warning" in line and "AVX vector" not in line]
    assert not ours, log + source
    (func,) = (op for op in module.body.block.ops if isinstance(op, tir.FuncOp))
    pairs = zip(arrays, func.params, strict=True)
    memories = [_memory(context, array, param.type) for array, param in pairs]
    views = [_view(context, memory, param.type) for memory, param in zip(memories, func.params)]
    kernel = cl.Kernel(program, func.sym_name.data)
    kernel.set_args(*views, *map(np.int32, tir.rolled_bounds(func)))
    cl.enqueue_nd_range_kernel(queue, kernel, global_size, local_size)
    results = [np.empty_like(array) for array in arrays]
    for result, memory in zip(results, memories, strict=True):
        if isinstance(memory, cl.Image):
            region = (memory.width, memory.height, memory.array_size or 1)
            cl.enqueue_copy(queue, result, memory, origin=(0, 0, 0), region=region)
        else:
            cl.enqueue_copy(queue, result, memory)
    queue.finish()
    return results


def _memory(context: cl.Context, array: Array, type_: Attribute) -> cl.Buffer | cl.Image:
    """Memory for a parameter of this type, with the contents of `array`."""
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    array = np.ascontiguousarray(array)
    if not tir.is_texture(type_) or tir.image_of(type_).kind is tir.ImageKind.Buffer:
        return cl.Buffer(context, flags, hostbuf=array)
    image = tir.image_of(type_)
    is_array = image.kind is tir.ImageKind.Array2D
    extents = image.extents
    return cl.create_image(
        context, flags, _format(image), extents, hostbuf=array, is_array=is_array
    )


def _view(
    context: cl.Context, memory: cl.Buffer | cl.Image, type_: Attribute
) -> cl.Buffer | cl.Image:
    """The object that a parameter of this type is bound to."""
    if isinstance(memory, cl.Image) or not tir.is_texture(type_):
        return memory
    image = tir.image_of(type_)
    flags = cl.mem_flags.READ_WRITE
    return cl.create_image(context, flags, _format(image), image.extents, buffer=memory)


def _format(image: tir.Image) -> cl.ImageFormat:
    return cl.ImageFormat(cl.channel_order.RGBA, _CHANNELS[str(image.element_type)])


_CHANNELS = {
    "f32": cl.channel_type.FLOAT,
    "f16": cl.channel_type.HALF_FLOAT,
    **{f"i{bits}": getattr(cl.channel_type, f"SIGNED_INT{bits}") for bits in (8, 16, 32)},
    **{f"ui{bits}": getattr(cl.channel_type, f"UNSIGNED_INT{bits}") for bits in (8, 16, 32)},
}
