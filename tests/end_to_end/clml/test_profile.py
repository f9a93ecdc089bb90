"""How long each command of an inference takes, kernels and operations of CLML alike."""

from __future__ import annotations

import numpy as np
import pytest

import clopt
from clopt import CloptError
from clopt.backends.pyopencl_runtime.c_executable import CExecutable
from clopt.dialects.cl import EnqueueKernelOp, EnqueueMLOp
from support.clml.small_networks import BETWEEN, network


def test_each_command_has_its_time(device: str) -> None:
    model = clopt.compile(network(BETWEEN), device=device, clml="prefer", clml_library="reference")
    executable = model.executable
    assert isinstance(executable, CExecutable)
    with pytest.raises(CloptError, match="run the model first"):
        executable.profile()
    x = np.zeros((1, 3, 8, 8), np.float32)
    model.run({"x": x})
    timings = executable.profile()
    kinds = [op for op in model.module.walk() if isinstance(op, EnqueueKernelOp | EnqueueMLOp)]
    assert [t.kind == "kernel" for t in timings] == [
        isinstance(op, EnqueueKernelOp) for op in kinds
    ]
    assert all(timing.nanoseconds > 0 for timing in timings)
    assert len({timing.kind for timing in timings}) == 2
