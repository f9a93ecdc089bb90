"""What PoCL compiles before the first inference: every kernel of a model, also of a small one."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from clopt import list_devices
from support import processes

POCL = "Portable Computing Language"

PROGRAM = """
import sys
from pathlib import Path
import numpy as np
import onnx
import pyopencl as cl
from xdsl.dialects.builtin import MemRefType, f32
import clopt
from clopt.backends.pyopencl_runtime import find_device
from clopt.backends.pyopencl_runtime.first_launch import compile_by_launching
from clopt.dialects.cl.kernels import Kernel

def compiled():
    return sorted(str(path) for path in Path(sys.argv[1]).rglob("*.so"))

model = onnx.parser.parse_model('''<ir_version: 9, opset_import: ["": 18]>
net (float[4,8] x, int32[4] n) => (float[4,4] a, int32[4] b) {
  t = Transpose(x)
  a = MatMul(x, t)
  b = Add(n, n)
}''')
small = clopt.compile(model, device=sys.argv[2], use_cache=False)
before = compiled()
results = small.run([np.ones(t.shape, t.dtype) for t in small.inputs])
assert all(np.all(r == e) for r, e in zip(results, (8, 2), strict=True))
assert len(before) == len(small.executable.launches), before
assert compiled() == before

# PoCL makes another variant of a kernel for grids of more than 65,534 work-items.
source = "__kernel void set(__global float *y) {\\n    y[get_global_id(0)] = 1;\\n}\\n"
device, size = find_device(sys.argv[2]), 70_000
context = cl.Context([device.handle])
wide = Kernel("set", (MemRefType(f32, [size]),), frozenset({0}), (size,), (1,))
program, any_ran = compile_by_launching(context, device, source, "", [wide])
assert any_ran
before = compiled()
kernel = cl.Kernel(program, "set")
memory = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * size)
kernel.set_arg(0, memory)
queue = cl.CommandQueue(context)
cl.enqueue_nd_range_kernel(queue, kernel, (size,), (1,))
queue.finish()
assert compiled() == before
"""


@pytest.mark.skipif(POCL not in {d.platform for d in list_devices()}, reason="needs PoCL")
def test_the_first_inference_of_a_small_model_compiles_no_kernel(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), POCL]
    environment = {**os.environ, "POCL_CACHE_DIR": str(tmp_path), "CLOPT_CALIBRATION": "off"}
    ran = processes.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert ran.returncode == 0, ran.stderr
