"""The accelerator of docs/extend/call-a-library.md: its functions on the host, from the pages."""

from __future__ import annotations

import re
from pathlib import Path

from support import packages

PAGES = Path(__file__).parents[2] / "docs" / "extend"

# Each name is one of `use.py`.
CHECKS = """
import os
import sys
from pathlib import Path

import pyopencl as cl
import toy.calls
import toy.gemm
from clopt.backends.pyopencl_runtime import Executable
from clopt.backends.pyopencl_runtime.replay import Replay

expected = np.maximum(x @ v, 0) @ w

def check(y):
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)

def refused(call):
    try:
        call()
    except clopt.CloptError as error:
        print(error)

def run(model):
    return model.run([x])[0]

# A model is kept: the second time it comes from the cache, and calls by name.
os.environ |= {"CLOPT_MODEL_CACHE": "auto", "XDG_CACHE_HOME": sys.argv[1]}
for _ in range(2):
    again = clopt.compile(network.SerializeToString(), device=0, toy="prefer")
assert isinstance(again.executable, Replay)
assert again.plan == "Toy"
for each in (model, again):
    check(run(each))
    rows = each.profile().rows
    assert [row.name.startswith("toy") for row in rows] == [True, False, True], rows
    assert all(row.nanoseconds > 0 for row in rows), rows
check(Executable(model.module, model.weights, 0).run([x])[0])

# On the caller's queue, with buffers of the caller that change.
for each in (model, again):
    context = each.executable.context
    queue = cl.CommandQueue(context)
    for factor in (1, 2):
        inputs = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=factor * x)
        outputs = cl.Buffer(context, 0, expected.nbytes)
        each.enqueue(queue, {"x": inputs, "y": outputs})
        y = np.empty_like(expected)
        cl.enqueue_copy(queue, y, outputs)
        np.testing.assert_allclose(y, factor * expected, rtol=1e-5, atol=1e-5)

folder = Path(sys.argv[1])
model.save(folder / "saved")
check(run(clopt.load(folder / "saved", device=0)))
refused(lambda: model.save_c(folder / "c"))
assert not (folder / "c").exists()

# A device with a queue of its own. It is late: what follows waits for it, and the host does not.
import toy.npu
from clopt.dialects.crossings import Fence, MemorySpace
from toy.dialect import GraphOp

def late(queue, buffers, scalars, wait_for):
    gates.append(cl.UserEvent(queue.context))
    return toy.npu.with_events(queue, buffers, scalars, [*wait_for, gates[-1]])

toy.npu.late = late
GraphOp.FENCE = Fence.EVENTS
toy.calls.ToyCalls.functions = {"gemm": "toy.npu:late"}
text = network.SerializeToString()
for cache in (False, True, True):
    each = clopt.compile(text, device=0, toy="prefer", use_cache=cache, toy_entry_microseconds=9)
    gates = []
    context = each.executable.context
    queue = cl.CommandQueue(context)
    inputs = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=x)
    outputs = cl.Buffer(context, 0, expected.nbytes)
    each.enqueue(queue, {"x": inputs, "y": outputs})
    y = np.empty_like(expected)
    end = cl.enqueue_copy(queue, y, outputs, is_blocking=False)
    for gate in gates:
        assert end.command_execution_status != cl.command_execution_status.COMPLETE
        gate.set_status(cl.command_execution_status.COMPLETE)
    queue.finish()
    check(y)
assert isinstance(each.executable, Replay)
assert each.describe().graphs[0].fence == "events"
toy.calls.ToyCalls.functions = {"gemm": "toy.npu:with_events"}
check(run(clopt.load(folder / "saved", device=0)))

# One that takes pointers: its weights are not on the device.
GraphOp.FENCE, GraphOp.MEMORY = Fence.FINISH, MemorySpace.HOST
toy.calls.ToyCalls.functions = {"gemm": "toy.npu:on_the_host"}
for cache in (False, True, True):
    each = clopt.compile(text, device=0, toy="prefer", use_cache=cache, toy_entry_microseconds=8)
    check(run(each))
    assert each.executable.device_bytes < v.nbytes
    assert all(row.nanoseconds > 0 for row in each.profile().rows)
assert isinstance(each.executable, Replay)
GraphOp.FENCE = Fence.EVENTS
refused(lambda: run(clopt.load(folder / "saved", device=0)))
GraphOp.FENCE, GraphOp.MEMORY = Fence.QUEUE, MemorySpace.BUFFERS

# A library that is not installed, and one that fails.
assert clopt.has_accelerator("toy")
toy.calls.ToyCalls.functions = {"gemm": "no_such_library:gemm"}
assert not clopt.has_accelerator("toy")
refused(lambda: clopt.load(folder / "saved", device=0))
other = clopt.compile(network, device=0, toy="prefer", fallback=True)
check(run(other))
print(other.plan, "because:", other.plan_reason)

def gemm(queue, buffers, scalars):
    raise ValueError(f"no {scalars}")

toy.gemm.failing = gemm
toy.calls.ToyCalls.functions = {"gemm": "toy.gemm:failing"}
refused(lambda: run(clopt.compile(network, device=0, toy="prefer")))
"""

PRINTED = """\
@main has parts for Toy, whose functions are in Python, but this program must run as C; compile \
the model with toy=off.
Graphs of Toy use host memory, so their fence must be FINISH, not EVENTS.
The function gemm of the accelerator "toy" cannot be loaded: No module named 'no_such_library'; \
install what it needs, or compile the model with toy=off.
kernels because: The function gemm of the accelerator "toy" cannot be loaded: No module named \
'no_such_library'; install what it needs, or compile the model with toy=off.
The function gemm of the node MatMul_0 failed: no (4, 16, 8)
"""

WITHOUT = """
import sys
import clopt

try:
    clopt.load(sys.argv[1])
except clopt.CloptError as error:
    print(error)
"""


def test_a_library_called_from_python(tmp_path: Path):
    package = packages.install(PAGES / "add-an-accelerator.md", tmp_path / "package")
    page = PAGES / "call-a-library.md"
    packages.write_blocks(page, package)
    script = package / "use.py"
    script.write_text(script.read_text() + CHECKS)
    (shown,) = re.findall(r"prints the same: `(.*?)`", page.read_text(encoding="utf-8"))
    printed = packages.run_script(package, "use.py", tmp_path)
    assert printed.startswith(f"{shown}\n{PRINTED}"), printed

    # Where the package is not installed.
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "load.py").write_text(WITHOUT)
    printed = packages.run_script(bare, "load.py", tmp_path / "saved")
    assert 'has parts for the accelerator "toy", which no installed package provides' in printed
