"""The plans of 1x1 convolutions between values in blocks of channels, on cores of two kinds."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import onnx
import pytest

import clopt
from clopt.dialects import tir
from support.onnx.models import model

AVX2 = "intel-cpu blocks=prefer l2_cache_bytes=524288 l1_cache_bytes=32768"
AVX512 = f"{AVX2} vector_width=16 vector_registers=32"
LARGE_L2 = (
    "intel-cpu blocks=prefer l2_cache_bytes=2097152 l1_cache_bytes=49152 "
    "vector_width=16 vector_registers=32"
)


def plan(inputs: int, outputs: int, size: int, target: str) -> dict[str, Any]:
    """The plan of a 1x1 convolution between two others."""
    sizes = (outputs, inputs, outputs, inputs)
    weights = {f"w{i}": np.ones((sizes[i + 1], sizes[i], 1, 1), np.float32) for i in range(3)}
    body = "a = Conv(x, w0) b = Relu(a) c = Conv(b, w1) d = Relu(c) e = Conv(d, w2) y = Relu(e)"
    return plan_of(model(f"float[1,{outputs},{size},{size}] x", body, constants=weights), target)


def plan_of(proto: onnx.ModelProto, target: str) -> dict[str, Any]:
    """The plan of the kernel of node Conv_2."""
    kernels = [
        op for op in clopt.compile(proto, target).module.walk() if isinstance(op, tir.FuncOp)
    ]
    (found,) = (op.plan for op in kernels if op.comment and "Conv_2" in op.comment.data)
    assert found is not None
    assert found.data.rule == "channel-blocks"
    return dict(found.data.parameters)


TWO_PASSES = f"{AVX512} vector_passes=2"


def registers(values: dict[str, Any]) -> int:
    """The sums, a vector of weights for each block, and one element."""
    return values["blocks"] * values["columns"] + values["blocks"] + 1


@pytest.mark.parametrize(
    ("inputs", "outputs", "size"), [(64, 256, 56), (128, 96, 28), (512, 64, 7)]
)
def test_a_step_fits_in_16_registers(inputs: int, outputs: int, size: int):
    assert registers(plan(inputs, outputs, size, AVX2)) <= 16


def test_channels_of_a_group_share_the_elements_that_they_read():
    """Eight elements for each vector of weights: they are single, so that a tile reads from L1."""
    constants = {"w0": np.ones((128, 128, 1, 1), np.float32)}
    constants["w1"] = np.ones((128, 16, 3, 3), np.float32)
    body = (
        "a = Conv(x, w0) b = Relu(a) c = Conv<group=8, pads=[1, 1, 1, 1]>(b, w1) d = Relu(c) "
        "e = Conv(d, w0) y = Relu(e)"
    )
    values = plan_of(model("float[1,128,28,28] x", body, constants=constants), AVX2)
    assert values["blocks"] == 1
    assert values["columns"] >= 7


@pytest.mark.parametrize(
    ("inputs", "outputs", "size"), [(64, 256, 56), (512, 256, 28), (512, 512, 14)]
)
def test_a_step_uses_most_of_32_registers(inputs: int, outputs: int, size: int):
    """A single vector of weights may lack a register: compilers load it again for each sum."""
    assert 28 < registers(plan(inputs, outputs, size, AVX512)) <= 33


def test_a_tile_reads_few_weights_from_the_second_cache():
    """With 512 channels, they exceed L1: more columns than blocks, unless weights come ahead."""
    values = plan(512, 256, 28, LARGE_L2)
    assert values["columns"] >= 3 * values["blocks"]


@pytest.mark.parametrize(("channels", "size"), [(512, 14), (1024, 7)])
def test_no_sum_is_computed_twice_where_loads_cost_little(channels: int, size: int):
    """Vectors take two passes through the arithmetic units; elements of x take a slot each."""
    values = plan(channels, channels, size, TWO_PASSES)
    assert size**2 % values["columns"] == 0
    assert channels // 16 % values["blocks"] == 0


def test_rows_that_exceed_the_second_cache_are_read_once():
    """They are 3.2 MB, the weights 64 KB: all channels of a row follow each other."""
    assert plan(256, 64, 56, AVX2)["order"] == (0, 2, 1)


def test_weights_that_exceed_the_second_cache_are_read_once():
    """They are 1 MB, the rows 200 KB: all rows of some channels follow each other."""
    assert plan(256, 1024, 14, AVX2)["order"] == (0, 1, 2)


@pytest.mark.parametrize(("target", "distance"), [(AVX2, 0), (AVX512, 2048)])
def test_only_vectors_of_whole_lines_are_fetched_ahead(target: str, distance: int):
    """Two vectors of 8 lanes would fetch a line twice."""
    assert plan(512, 512, 14, target)["ahead"] == distance


def test_pixels_are_one_row():
    """Tiles of a 1x1 convolution cover all 49 pixels at once and overlap little."""
    values = plan(512, 512, 7, AVX2)
    assert values["columns"] * -(-49 // values["columns"]) <= 52
    assert len(values["order"]) == 3


@pytest.mark.parametrize("cores", [2, 7, 16])
def test_all_cores_are_busy_until_the_end(cores: int):
    """Work-items compute several tiles each, and the last ones end at about the same time."""
    values = plan(512, 512, 14, f"{AVX2} compute_units={cores}")
    row = -(-196 // values["columns"])
    items = -(-row // values["chunk"]) * -(-64 // values["blocks"])
    assert items >= 4 * cores
    assert -(-items // cores) * cores <= 1.15 * items
    assert values["chunk"] > 1


def test_work_items_compute_few_tiles_twice():
    """49 pixels in tiles of 7: two work-items of four tiles would compute one of them twice."""
    values = plan(96, 576, 7, LARGE_L2)
    row = -(-49 // values["columns"])
    assert -(-row // values["chunk"]) * values["chunk"] - row <= row / 20


def test_one_core_reads_the_weights_that_exceed_the_second_cache():
    """Work-items with the same weights would be taken by several cores."""
    values = plan(2048, 512, 7, LARGE_L2)
    assert values["chunk"] == -(-49 // values["columns"])


def sources(target: str, window: int) -> str:
    """The kernels of three convolutions of 64 channels."""
    weights = {"w": np.ones((64, 64, window, window), np.float32)}
    pads = [window // 2] * 4
    body = f"a = Conv<pads={pads}>(x, w) b = Conv<pads={pads}>(a, w) y = Conv<pads={pads}>(b, w)"
    return clopt.compile(model("float[1,64,9,9] x", body, constants=weights), target).source


def unrolled(source: str) -> list[int]:
    """The steps of the loops over channels that compilers are asked to unroll."""
    return [int(n) for n in re.findall(r"#pragma unroll\n +for \(int ci = 0; ci < (\d+);", source)]


@pytest.mark.parametrize(("target", "lanes"), [(AVX2, 8), (AVX512, 16)])
def test_compilers_are_asked_to_unroll_the_channels_of_a_block(target: str, lanes: int):
    assert set(unrolled(sources(target, 1))) == {lanes}


def test_only_short_loops_of_a_window_are_unrolled():
    """Loops that test a border stay rolled, as do all loops of 16 lanes and those of GPUs."""
    windows = sources(f"{AVX2} winograd=off", 3)
    assert unrolled(windows)
    assert len(unrolled(windows)) < windows.count("for (int ci = 0;")
    assert not unrolled(sources(f"{AVX512} winograd=off", 3))
    assert "#pragma unroll" not in sources("nvidia", 1)
