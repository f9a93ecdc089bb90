"""Runs scheduled kernels on a device, many in one program."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import pyopencl as cl
from xdsl.dialects.builtin import ModuleOp, StringAttr

from clopt.backends.opencl_c import emit
from clopt.backends.pyopencl_runtime import find_device, target_for
from clopt.dialects import tir
from support.tir.hand_written import queue_on

from .check import Outcome

BUILD_OPTIONS = ["-cl-opt-disable"]
"""Our text is tested, and not optimisers: Intel's miscompiles the kernel of seed 3004, and that of
PoCL's LLVM 14 the one of seed 20154; each is right on the other runtime, and on both with this."""


def run_all(outcomes: Sequence[Outcome], device: str) -> None:
    """Run the lowered kernel of each outcome; notes a fault where the device disagrees.

    A kernel that the device cannot hold, as its work-groups are too large, is left out.
    """
    found = find_device(device)
    target = target_for(found)
    kernels = {f"nest_{outcome.seed}": outcome for outcome in outcomes}
    module = ModuleOp([])
    for name, outcome in kernels.items():
        assert outcome.lowered is not None
        func = _kernel(outcome.lowered).clone()
        func.sym_name = StringAttr(name)
        module.body.block.add_op(func)
    context, queue = queue_on(device)
    with warnings.catch_warnings():
        # Intel's compiler reports success, which pyopencl takes for a warning.
        warnings.simplefilter("ignore", cl.CompilerWarning)
        program = cl.Program(context, emit(module, target)).build(BUILD_OPTIONS)
    for func in module.ops:
        assert isinstance(func, tir.FuncOp)
        outcome = kernels[func.sym_name.data]
        local = None if func.local_size is None else tuple(func.local_size.iter_values())
        if local is not None and np.prod(local) > target.device.max_work_group_size:
            continue
        _compare(cl.Kernel(program, func.sym_name.data), queue, func, outcome, local)


def _compare(
    kernel: cl.Kernel,
    queue: cl.CommandQueue,
    func: tir.FuncOp,
    outcome: Outcome,
    local: tuple[int, ...] | None,
) -> None:
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    memories = [cl.Buffer(queue.context, flags, hostbuf=array) for array in outcome.arrays]
    kernel.set_args(*memories, *map(np.int32, tir.rolled_bounds(func)))
    assert func.global_size is not None
    cl.enqueue_nd_range_kernel(queue, kernel, tuple(func.global_size.iter_values()), local)
    for i in func.output_indices:
        result = np.empty_like(outcome.expected[i])
        cl.enqueue_copy(queue, result, memories[i])
        if not np.array_equal(result, outcome.expected[i]):
            outcome.fault = f"on the device, output {i} is\n{result}, not\n{outcome.expected[i]}"


def _kernel(module: ModuleOp) -> tir.FuncOp:
    (func,) = (op for op in module.ops if isinstance(op, tir.FuncOp))
    return func
