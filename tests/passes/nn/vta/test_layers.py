"""Layers for quantised operations, run by VTA's simulator and compared with nn's evaluation."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import pytest
from xdsl.dialects import func
from xdsl.ir import Operation, SSAValue

from clopt.context import CloptContext
from clopt.dialects import nn, vta
from clopt.dialects.nn.evaluation import interpret
from clopt.dialects.vta import BATCH_2, BLOCK_16, Config
from clopt.dialects.vta.binary import MOST_TENSORS
from clopt.passes.nn.offload.regions import Region, form_regions
from clopt.passes.nn.vta.accelerator import VTA
from clopt.passes.nn.vta.averages import division_of
from clopt.passes.nn.vta.graphs import graph_of, packed, unpacked
from clopt.passes.nn.vta.matching import find_matches, split_dequantizes
from clopt.passes.vta.compiling import compile_graph
from clopt.passes.vta.lowering.packing import pack_activations
from support.nn.quantized import Quantized
from support.vta.graphs import Network, check

Array = np.ndarray

TINY = Config.parse("1x16_i8w8a32_7_7_10_10")
"""32 micro-ops, 8 tiles of inputs, 4 of weights and 16 of sums."""


def int8(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).integers(-128, 128, shape).astype(np.int8)


def weights(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).integers(-127, 128, shape).astype(np.float32)


def regions_of(
    function: func.FuncOp, context: CloptContext, config: Config = BLOCK_16
) -> tuple[list[Region], list[str]]:
    split_dequantizes(function)
    matches = find_matches(function, config, context.weights)
    regions = form_regions(function, {VTA(): matches.legal})
    return regions, [*dict.fromkeys(matches.reasons.values())]


def check_one_graph(
    net: Quantized, config: Config = BLOCK_16, *, kinds: str, seed: int = 5
) -> None:
    """A function whose operations are all one graph of layers `kinds`, with nn's results."""
    function = net.function()
    inputs = [int8(seed + i, *nn.shape_of(value)) for i, value in enumerate(function.args)]
    expected = interpret(function, inputs, net.context.weights)
    (region,), reasons = regions_of(function, net.context)
    assert not reasons
    outlined = graph_of(region, "g", config, net.context.weights)
    layers = [op.name.removeprefix("vta.") for op in outlined.graph.layers]
    assert " ".join(layers) == kinds
    assert list(outlined.inputs) == list(function.args)
    network = Network(config, net.context, outlined.graph.body.detach_block(0))
    end = network.block.last_op
    assert isinstance(end, vta.ReturnOp)
    outputs = list(end.values)
    end.detach()
    end.erase()
    program = network.stream(*outputs)
    results = [expected[net.results.index(value)] for value in region.outputs]
    check(network, program, inputs, results, seeds=())


@pytest.mark.parametrize("config", [BLOCK_16, BATCH_2])
@pytest.mark.parametrize("bound", ["", "relu", "clip"])
def test_convolution_with_bias(config: Config, bound: str) -> None:
    net = Quantized()
    x = net.back(net.input(1, 3, 7, 6), -4)
    w, b = weights(0, 20, 3, 3, 3) / 64, weights(1, 20) / 16
    y = net.conv(x, w, b, strides=(2, 1), pads=(1, 1, 1, 0))
    if bound:
        y = net.relu(y) if bound == "relu" else net.clip(y, -1.3, 6.0)
    net.result(net.round(y, -2))
    check_one_graph(net, config, kinds="conv")


def test_groups_and_transposed_convolution() -> None:
    net = Quantized()
    x = net.back(net.input(1, 32, 5, 5), -3)
    y = net.round(net.conv(x, weights(0, 32, 1, 3, 3) / 128, pads=(1, 1, 1, 1), groups=32), -2)
    z = net.transposed(
        net.back(y, -2), weights(2, 32, 4, 2, 2) / 256, strides=(2, 2), output_padding=(1, 0)
    )
    net.result(net.round(z, 0))
    check_one_graph(net, kinds="conv conv_transpose")


def test_matrix_product_with_a_vector() -> None:
    net = Quantized()
    x = net.back(net.input(3, 40), -4)
    y = net.plus(net.matmul(x, weights(0, 40, 10) / 32), weights(1, 10) / 8)
    net.result(net.round(y, 1))
    check_one_graph(net, kinds="dense")


def test_residual_of_two_scales_and_a_change_of_scale() -> None:
    net = Quantized()
    a, b = net.input(1, 16, 4, 4), net.input(1, 16, 4, 4)
    y = net.round(net.relu(net.plus(net.back(a, -3), net.back(b, -6))), -4)
    net.result(y)
    net.result(net.round(net.back(y, -4), -1))
    net.result(net.round(net.back(y, -4), -6))
    check_one_graph(net, kinds="add scale scale")


def test_bounds_in_a_row_are_taken_in_order() -> None:
    net = Quantized()
    x = net.back(net.input(1, 16, 2, 8), -4)
    net.result(net.round(net.clip(net.clip(x, -5.0, 1.0), 2.0, 3.0), -4))
    net.result(net.round(net.clip(net.clip(x, 1.5, 9.0), -2.0, 3.1), -4))
    net.result(net.round(net.clip(x, 3.0, 1.0), -4))
    check_one_graph(net, kinds="scale scale scale")


def test_a_residual_block_is_one_graph() -> None:
    net = Quantized()
    first = net.input(1, 16, 6, 6)
    a = net.round(net.relu(net.conv(net.back(first, -5), weights(0, 32, 16, 1, 1) / 64)), -4)
    half = net.back(a, -4)
    b = net.round(net.conv(half, weights(1, 32, 32, 3, 3) / 512, pads=(1, 1, 1, 1)), -3)
    net.result(net.round(net.relu(net.plus(net.back(b, -3), half)), -3))
    check_one_graph(net, kinds="conv conv add")


@pytest.mark.parametrize(
    ("why", "rounding", "scale", "factor"),
    [
        ("VTA rounds halves up", "half_even", 0.25, 1),
        ("powers of two, but this one is 0.3", "half_up", 0.3, 1),
        ("need steps of 2^", "half_up", 0.25, np.float32(0.3)),
    ],
)
def test_refusals_name_the_rule(why: str, rounding: str, scale: float, factor: float) -> None:
    net = Quantized()
    x = net.back(net.input(1, 16, 4, 4), -4)
    y = net.conv(x, weights(0, 16, 16, 1, 1) * factor)
    net.result(net.quantize(y, scale, rounding))
    regions, reasons = regions_of(net.function(), net.context)
    assert not regions
    assert any(why in reason for reason in reasons)


def test_sums_beyond_32_bits_are_refused() -> None:
    net = Quantized()
    x = net.back(net.input(1, 16, 1, 1), 0)
    bias = np.full(16, 2.0**31 - 128, np.float32)
    net.result(net.round(net.conv(x, weights(0, 16, 16, 1, 1), bias), 8))
    _, (reason,) = regions_of(net.function(), net.context)
    assert "but VTA's have 32 bits" in reason


def test_a_product_that_stays_float_says_so() -> None:
    net = Quantized()
    x = net.back(net.input(1, 16, 4, 4), 0)
    net.result(net.relu(net.conv(x, weights(0, 16, 16, 1, 1))))
    _, reasons = regions_of(net.function(), net.context)
    assert reasons == [
        "no VTA layer reads its result",
        "no nn.quantize with a power-of-two scale rounds its result to int8",
    ]


def test_pools_between_layers() -> None:
    net = Quantized()
    x = net.input(1, 3, 12, 12)
    y = net.conv(net.back(x, -4), weights(0, 20, 3, 3, 3) / 64, strides=(2, 2), pads=(1, 1, 1, 1))
    y = net.round(y, -2)
    windows: list[dict[str, Any]] = [
        {"pads": (1, 1, 1, 1)}, {"ceil_mode": True}, {"dilations": (2, 1)}
    ]  # fmt: skip
    for window in windows:
        y = net.add(nn.PoolOp(y, "max", (2, 2), strides=(1, 2), **window))
    net.result(y)
    check_one_graph(net, kinds="conv max_pool max_pool max_pool")


def test_concatenation_and_upsampling() -> None:
    net = Quantized()
    a, b = net.input(1, 16, 4, 6), net.input(1, 20, 2, 3)
    a = net.round(net.conv(net.back(a, -4), weights(0, 32, 16, 1, 1) / 64), -2)
    b = net.round(net.conv(net.back(b, -4), weights(1, 20, 20, 1, 1) / 64), -2)
    up = net.add(nn.ResizeOp(b, (1, 20, 4, 6), "nearest", coordinate_mode="asymmetric",
                             nearest_mode="floor"))  # fmt: skip
    both = net.add(nn.ConcatOp([a, up], 1))
    net.result(net.round(net.conv(net.back(both, -2), weights(2, 8, 52, 3, 3) / 512), 0))
    check_one_graph(net, kinds="conv conv upsample concat conv")


@pytest.mark.parametrize(("size", "exponent"), [(4, -4), (7, -4), (7, -7), (5, -2)])
def test_averages_of_images(size: int, exponent: int) -> None:
    net = Quantized()
    x = net.back(net.input(2, 20, size, size), -4)
    net.result(net.round(net.add(nn.ReduceOp(x, "mean", (2, 3), keepdims=True)), exponent))
    check_one_graph(net, kinds="sum_pool")


def test_averages_of_windows() -> None:
    net = Quantized()
    x = net.back(net.input(1, 16, 7, 7), -4)
    window = {"strides": (2, 2), "pads": (1, 1, 1, 1), "count_include_pad": True}
    net.result(net.round(net.relu(net.add(nn.PoolOp(x, "average", (3, 3), **window))), -5))
    check_one_graph(net, kinds="sum_pool")


@pytest.mark.parametrize("count", [1, 3, 6, 9, 16, 49, 64, 100])
@pytest.mark.parametrize("exponent", [-3, 0, 2])
def test_division_rounds_all_sums_as_fractions_do(count: int, exponent: int) -> None:
    found = division_of(count, exponent)
    half = 1 << found.shift - 1 if found.shift else 0
    for total in range(-128 * count, 127 * count + 1):
        exact = Fraction(total, count) * Fraction(2) ** exponent
        wanted = min(max(floor(exact + Fraction(1, 2)), -128), 127)
        shifted = (total * found.multiplier + found.offset + half) >> found.shift
        assert min(max(shifted, -128), 127) == wanted


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (
            lambda x: nn.PoolOp(x, "average", (3, 3), pads=(1, 1, 1, 1)),
            "fewer elements at the border",
        ),
        (lambda x: nn.ReduceOp(x, "mean", (1, 2), keepdims=True), "reduces exactly H and W"),
        (lambda x: nn.ReduceOp(x, "mean", (2, 3)), "with keepdims"),
    ],
)
def test_averages_that_vta_does_not_take(make: Callable[[SSAValue], Operation], why: str) -> None:
    net = Quantized()
    x = net.back(net.input(1, 16, 6, 6), -4)
    net.result(net.round(net.add(make(x)), -4))
    regions, (reason,) = regions_of(net.function(), net.context)
    assert not regions
    assert why in reason


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda x: nn.ConcatOp([x, x], 1), "can concatenate whole blocks of 16 channels"),
        (lambda x: nn.ConcatOp([x, x], 2), "concatenates only channels"),
        (lambda x: nn.ConcatOp([x] * 15, 1), "has at most 16 tensors"),
        (lambda x: nn.ResizeOp(x, (1, 20, 9, 9)), "each element equally often"),
        (lambda x: nn.PoolOp(x, "max", (2, 1), dilations=(9, 1), pads=(8, 0, 8, 0)), "no element"),
    ],
)
def test_moves_that_vta_does_not_take(make: Callable[[SSAValue], Operation], why: str) -> None:
    net = Quantized()
    net.result(net.add(make(net.input(1, 20, 6, 6))))
    regions, (reason,) = regions_of(net.function(), net.context)
    assert not regions
    assert why in reason


def test_layers_that_no_scratchpad_holds_are_refused() -> None:
    """Four tiles of weights: room for a window of 1 by 1 twice, not for one of 3 by 3."""
    net = Quantized()
    x = net.input(1, 16, 4, 4)
    y = net.round(net.conv(net.back(x, -4), weights(0, 16, 16, 3, 3), pads=(1, 1, 1, 1)), 8)
    net.result(net.round(net.conv(net.back(y, 8), weights(1, 16, 16, 1, 1)), 18))
    (region,), (reason,) = regions_of(net.function(), net.context, TINY)
    assert len(region.matches) == 1
    assert reason == f"2 of its smallest tiles do not fit the scratchpads of VTA {TINY.name}"


def test_a_sum_of_vectors_is_refused() -> None:
    net = Quantized()
    a, b = net.input(5), net.input(5)
    net.result(net.round(net.plus(net.back(a, -3), net.back(b, -3)), -2))
    regions, (reason,) = regions_of(net.function(), net.context)
    assert not regions
    assert "have the dimensions N and C" in reason


def test_graphs_of_more_tensors_than_instructions_name_are_split() -> None:
    net = Quantized()
    values = [net.input(1, 16, 2, 2) for _ in range(18)]
    total = values[0]
    for value in values[1:]:
        total = net.round(net.plus(net.back(total, -4), net.back(value, -4)), -4)
    net.result(total)
    function = net.function()
    split_dequantizes(function)
    matches = find_matches(function, BLOCK_16, net.context.weights)
    regions = form_regions(function, {VTA(): matches.legal})
    assert [len(region.inputs) + len(region.outputs) for region in regions] == [15, 6]
    for number, region in enumerate(regions):
        graph = graph_of(region, f"g{number}", BLOCK_16, net.context.weights).graph
        assert len(compile_graph(graph, net.context.weights).all_tensors) <= MOST_TENSORS


@pytest.mark.parametrize("shape", [(1, 3, 2, 5), (3, 32, 1, 1), (3, 20)])
@pytest.mark.parametrize("config", [BLOCK_16, BATCH_2])
def test_packing_is_vtas_and_comes_back(shape: tuple[int, ...], config: Config) -> None:
    net = Quantized()
    x = net.input(*shape)
    tiles = net.add(*packed(x, config))
    net.result(tiles)
    net.result(net.add(*unpacked(tiles, shape, config)))
    array = int8(0, *shape)
    first, second = interpret(net.function(), [array], net.context.weights)
    expected = pack_activations(array, config)
    np.testing.assert_array_equal(first.reshape(expected.shape), expected)
    np.testing.assert_array_equal(second, array)
