"""The example program on every OpenCL runtime."""

from __future__ import annotations

from pathlib import Path

import pytest

from clopt.backends.pyopencl_runtime import find_device
from clopt.weights import Weights
from support.cl.programs import PROGRAM, WEIGHT, Doubler, parse


@pytest.fixture
def doubler(device: str, tmp_path: Path) -> Doubler:
    """The example program with a cache folder of its own."""
    weights = Weights()
    key = weights.add(WEIGHT, "w")
    module = parse(PROGRAM.format(key=key))
    return Doubler(module, weights, find_device(device), tmp_path / "kernels")
