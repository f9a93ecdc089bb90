"""Graphs of VTA between kernels on one queue: Python, C and the numpy simulator agree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from clopt.backends.pyopencl_runtime import Executable
from clopt.backends.pyopencl_runtime.c_executable import CExecutable
from clopt.dialects import vta
from clopt.dialects.vta import BATCH_2, BLOCK_16, BLOCK_32, Config, Memory
from clopt.passes.vta.lowering.packing import pack_activations, unpack_activations
from support.vta.graphs import Network, convolution, requantized
from support.vta.queue_programs import program, queue_program

pytestmark = pytest.mark.in_turns

_LANES = {"vta_core_lanes": 32}


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


def test_layers(device: str) -> None:
    """Two convolutions and what goes around them, from layers to one command of the queue."""
    rng = np.random.default_rng(7)
    x = rng.integers(-128, 128, (1, 20, 6, 5)).astype(np.int8)
    first, second = (
        rng.integers(-128, 128, shape).astype(np.int8) for shape in ((33, 20, 3, 3), (20, 33, 1, 1))
    )
    bias = rng.integers(-999, 999, 33).astype(np.int32)
    network = Network(BLOCK_16)
    source = network.input(x.shape)
    a, b, c = map(network.constant, (first, bias, second))
    pads = {"pads": (1, 1, 1, 1)}
    hidden = network.add(vta.ConvOp(source, a, b, shift=9, low=0, high=127, **pads))
    short = network.add(vta.ConvOp(hidden, c, None, shift=8, low=-128, high=127))
    stream = network.stream(network.add(vta.AddOp(short, source)))
    expected = requantized(convolution(x, first, bias, **pads), 9, 0)
    expected = requantized(convolution(expected, second), 8) + x.astype(np.int64)
    expected = np.clip(expected, -128, 127).astype(np.int8)
    module, weights = queue_program(stream, network.context)
    executable = Executable(module, weights, device)
    (found,) = executable.run([pack_activations(x, BLOCK_16).reshape(-1)])
    tiles = found.reshape(-1, *BLOCK_16.element_shape(Memory.OUT))
    np.testing.assert_array_equal(unpack_activations(tiles, expected.shape, BLOCK_16), expected)
