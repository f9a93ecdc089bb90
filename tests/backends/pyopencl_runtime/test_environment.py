"""Variables for OpenCL runtimes, which the process has while it loads them."""

from __future__ import annotations

import os

import numpy as np
import pyopencl as cl
import pytest

from clopt.backends.pyopencl_runtime import environment, find_device
from clopt.backends.pyopencl_runtime.environment import environment_of_runtimes


@pytest.mark.parametrize("given", ["", "/a/folder"])
def test_a_variable_that_the_process_sets_stays(
    monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    """Also where clopt had found before that it is not set."""
    monkeypatch.setattr(environment, "_variables", lambda: {"CLOPT_TEST": "ours"})
    if given:
        monkeypatch.setenv("CLOPT_TEST", given)
    with environment_of_runtimes():
        assert os.environ["CLOPT_TEST"] == (given or "ours")
    assert os.environ.get("CLOPT_TEST", "") == given


SOURCE = """
__kernel void fill(__global float *x, float y) { x[get_global_id(0)] = y; }
__kernel void add(__global float *x, float y) { x[get_global_id(0)] += y; }
__kernel void count(__global float *x, float y, int z) { x[get_global_id(0)] += y * z; }
"""


def test_kernels_of_the_user_are_called_with_their_own_arguments(device: str) -> None:
    """Kernels with equally many arguments share pyopencl's functions until they have types."""
    context = cl.Context([find_device(device).handle])
    queue = cl.CommandQueue(context)
    program = cl.Program(context, SOURCE).build()
    fill, add, count = (cl.Kernel(program, name) for name in ("fill", "add", "count"))
    values = np.zeros(4, np.float32)
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, values.nbytes)
    fill(queue, (4,), None, buffer, np.float32(2))
    add(queue, (4,), None, buffer, np.float32(3))
    count.set_scalar_arg_dtypes([None, np.float32, np.int32])
    count(queue, (4,), None, buffer, 0.5, 4)
    add.set_scalar_arg_dtypes([None, np.float32])
    add(queue, (4,), None, buffer, 10)
    cl.enqueue_copy(queue, values, buffer)
    np.testing.assert_array_equal(values, [17] * 4)
