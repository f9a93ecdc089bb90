"""A queue program written by hand, for the tests of the runtime."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyopencl as cl
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from clopt.backends.pyopencl_runtime import Device, Executable, Runnable
from clopt.context import CloptContext
from clopt.weights import Weights

KERNELS = """
kernel void add(global const float *a, global const float *b, global float *c) {
  int i = get_global_id(0);
  c[i] = a[i] + b[i];
}
"""

PROGRAM = """
cl.kernel @add(memref<4xf32>, memref<4xf32>, memref<4xf32>) outputs [2] global [4] local [2]
cl.program @main(%x: memref<4xf32> {{cl.name = "x"}},
                 %y: memref<4xf32> {{cl.name = "y"}}) inputs 1 {{
  %w = cl.constant "{key}" : memref<4xf32>
  %t = cl.alloc : memref<2x2xf32>
  %v = cl.view %t : memref<2x2xf32> to memref<4xf32>
  cl.enqueue_kernel @add(%x, %w, %v) : memref<4xf32>, memref<4xf32>, memref<4xf32>
  cl.enqueue_kernel @add(%v, %v, %y) : memref<4xf32>, memref<4xf32>, memref<4xf32>
  cl.return
}}
"""

ADD = """
tir.func @add(%a: memref<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>) attributes {{
  outputs = array<i64: 2>, global_size = array<i64: 4>, local_size = array<i64: 1>
}} {{
  tir.for global_x %i = 0 to 4 {{
    %va = memref.load %a[%i] : memref<4xf32>
    %vb = memref.load %b[%i] : memref<4xf32>
    %vc = arith.addf %va, %vb : f32
    memref.store %vc, %c[%i] : memref<4xf32>
  }}
}}
cl.program @main(%x: memref<4xf32> {{cl.name = "x"}},
                 %y: memref<4xf32> {{cl.name = "y"}}) inputs 1 {{
  %w = cl.constant "{key}" : memref<4xf32>
  cl.enqueue_kernel @add(%x, %w, %y) : memref<4xf32>, memref<4xf32>, memref<4xf32>
  cl.return
}}
"""

WEIGHT = np.array([1, 2, 3, 4], np.float32)


def twice(count: int) -> str:
    """The kernel @twice, b = 2 * a, of `count` floats."""
    return f"""
tir.func @twice(%a: memref<{count}xf32>, %b: memref<{count}xf32>) attributes {{
  outputs = array<i64: 1>, global_size = array<i64: {count}>, local_size = array<i64: 1>
}} {{
  tir.for global_x %i = 0 to {count} {{
    %v = memref.load %a[%i] : memref<{count}xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %b[%i] : memref<{count}xf32>
  }}
}}
"""


def parse(text: str) -> ModuleOp:
    """A verified module."""
    module = Parser(CloptContext(), text).parse_module()
    module.verify()
    return module


def check_no_wait(executable: Runnable, queue: cl.CommandQueue) -> None:
    """An inference of x and y, four floats each, is enqueued while the queue cannot go on."""
    context = queue.context
    buffers = {name: cl.Buffer(context, cl.mem_flags.READ_WRITE, 16) for name in "xy"}
    gate = cl.UserEvent(context)
    cl.enqueue_barrier(queue, wait_for=[gate])
    executable.enqueue(queue, buffers)  # would never return if anything in it waited
    done = cl.enqueue_marker(queue)
    queue.flush()
    assert done.command_execution_status != cl.command_execution_status.COMPLETE
    gate.set_status(cl.command_execution_status.COMPLETE)
    queue.finish()


@dataclass
class Doubler:
    """The program y = 2 * (x + w) with a cache folder of its own."""

    module: ModuleOp
    weights: Weights
    device: Device
    cache_folder: Path

    def executable(self, **options: object) -> Executable:
        """The program set up on the device."""
        settings = {"source": KERNELS, "cache_folder": self.cache_folder, **options}
        if "context" not in settings and "queue" not in settings:
            settings["device"] = self.device
        return Executable(self.module, self.weights, **settings)  # type: ignore[arg-type]
