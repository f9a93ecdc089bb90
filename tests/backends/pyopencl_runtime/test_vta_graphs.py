"""Graphs of VTA between kernels on one queue: Python, C and the numpy simulator agree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from clopt.backends.pyopencl_runtime import Executable
from clopt.backends.pyopencl_runtime.c_executable import CExecutable
from clopt.dialects.vta import BATCH_2, BLOCK_16, BLOCK_32, Config
from support.vta.queue_programs import program

_LANES = {"vta_core_lanes": 32, "vta_core_vector": 1}


@pytest.mark.parametrize(
    ("config", "facts"), [(BLOCK_16, {}), (BLOCK_32, _LANES), (BATCH_2, _LANES)]
)
def test_graphs_between_kernels(config: Config, facts: dict[str, int], device: str) -> None:
    model = program(config, **facts)
    executable = Executable(model.module, model.weights, device)
    for seed in range(3):
        x = model.input(seed)
        np.testing.assert_array_equal(executable.run([x])[0], model.expected(x))


def test_in_c(device: str, tmp_path: Path) -> None:
    model = program(BLOCK_16)
    executable = CExecutable(model.module, model.weights, device, library_folder=tmp_path)
    for seed in range(3):
        x = model.input(seed)
        np.testing.assert_array_equal(executable.run([x])[0], model.expected(x))
