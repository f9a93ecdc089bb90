"""Layers as programs of VTA, run by both simulators and compared with numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import TensorType, i8
from xdsl.ir import Block
from xdsl.utils.exceptions import VerifyException

from clopt.dialects import vta
from clopt.dialects.vta import BATCH_2, BLOCK_16, BLOCK_32, Config, Memory
from clopt.errors import CloptError
from clopt.passes.vta.lowering.problems import why_not
from support.vta.graphs import (
    Network,
    check,
    convolution,
    requantized,
    transposed_convolution,
)

CONFIGS = [BLOCK_16, BLOCK_32, BATCH_2]
THREADS = (1, 2)

Array = np.ndarray


def int8(rng: np.random.Generator, *shape: int) -> Array:
    return rng.integers(-128, 128, shape).astype(np.int8)


def run_conv(
    config: Config,
    x_shape: Sequence[int],
    w_shape: Sequence[int],
    *,
    threads: int = 2,
    bias: bool = True,
    shift: int = 8,
    seeds: Sequence[int] = (0,),
    write_to_read: int = 4,
    **options: Any,
):
    rng = np.random.default_rng(3)
    x, weight = int8(rng, *x_shape), int8(rng, *w_shape)
    values = rng.integers(-(2**14), 2**14, w_shape[0]).astype(np.int32) if bias else None
    network = Network(config)
    source, constant = network.input(x_shape), network.constant(weight)
    offsets = None if values is None else network.constant(values)
    y = network.add(vta.ConvOp(source, constant, offsets, shift=shift, low=0, high=127, **options))
    stream = network.stream(y, threads=threads, write_to_read=write_to_read)
    expected = requantized(convolution(x, weight, values, **options), shift, 0, 127)
    return check(network, stream, [x], [expected], seeds=seeds)


def blocks(channels: int, config: Config) -> int:
    return -(-channels // config.block_in)


CONVOLUTIONS: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((1, 16, 4, 4), (16, 16, 1, 1), {}),
    ((1, 20, 9, 9), (40, 20, 3, 3), {"pads": (1, 1, 1, 1)}),
    ((3, 48, 9, 9), (35, 48, 3, 3), {"pads": (1, 1, 1, 1), "strides": (2, 2), "bias": False}),
    (
        (2, 40, 11, 10), (35, 40, 5, 3),
        {"pads": (1, 2, 4, 0), "strides": (2, 1), "dilations": (2, 1)},
    ),
    ((1, 64, 7, 8), (128, 64, 1, 1), {"strides": (2, 2), "bias": False, "shift": 0}),
    ((1, 16, 5, 40), (16, 16, 1, 7), {"pads": (0, 3, 0, 6), "shift": 17, "bias": False}),
]  # fmt: skip


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize(("x_shape", "w_shape", "options"), CONVOLUTIONS)
def test_convolution(
    config: Config,
    threads: int,
    x_shape: tuple[int, ...],
    w_shape: tuple[int, ...],
    options: dict[str, Any],
):
    run_conv(config, x_shape, w_shape, threads=threads, **options)


@pytest.mark.parametrize("bytes_", ["7_7_11_10", "9_8_13_9"])
@pytest.mark.parametrize(("x_shape", "w_shape", "options"), CONVOLUTIONS)
def test_small_scratchpads(
    bytes_: str, x_shape: tuple[int, ...], w_shape: tuple[int, ...], options: dict[str, Any]
):
    """What `why_not` allows is lowered, what it refuses is not."""
    config = Config.parse(f"1x16_i8w8a32_{bytes_}")
    x, weight = (Block(arg_types=[TensorType(i8, shape)]).args[0] for shape in (x_shape, w_shape))
    windows = {key: options[key] for key in ("pads", "strides", "dilations") if key in options}
    if why_not(vta.ConvOp(x, weight, **windows), config):
        with pytest.raises(CloptError, match="scratchpads"):
            run_conv(config, x_shape, w_shape, **options)
    else:
        run_conv(config, x_shape, w_shape, **options)


def test_a_distance_of_sums_is_kept_by_one_channel_block_at_one_place():
    """Nothing but sums of one element is left, so each product is an instruction."""
    run_conv(BLOCK_16, (1, 64, 1, 1), (16, 64, 1, 1), write_to_read=4)
    run_conv(BLOCK_16, (1, 64, 1, 1), (16, 64, 1, 1), write_to_read=0)


# H, IC, OC, kernel, pad, stride of the rows C2 to C11, and their tiles.
ROWS = {
    "C2": (56, 64, 64, 3, 1, 1, 451_584),
    "C3": (56, 64, 128, 3, 1, 2, 225_792),
    "C4": (56, 64, 128, 1, 0, 2, 25_088),
    "C5": (28, 128, 128, 3, 1, 1, 451_584),
    "C6": (28, 128, 256, 3, 1, 2, 225_792),
    "C7": (28, 128, 256, 1, 0, 2, 25_088),
    "C8": (14, 256, 256, 3, 1, 1, 451_584),
    "C9": (14, 256, 512, 3, 1, 2, 225_792),
    "C10": (14, 256, 512, 1, 0, 2, 25_088),
    "C11": (7, 512, 512, 3, 1, 1, 451_584),
}


@pytest.mark.long
@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("row", ROWS)
def test_row_of_resnet(row: str, threads: int):
    size, inputs, outputs, kernel, pad, stride, tiles = ROWS[row]
    counters = run_conv(
        BLOCK_16,
        (1, inputs, size, size),
        (outputs, inputs, kernel, kernel),
        threads=threads,
        pads=(pad,) * 4,
        strides=(stride,) * 2,
    )
    assert counters.gemm_tiles == tiles
    assert counters.bytes[Memory.OUT] == outputs * (size // stride) ** 2


@pytest.mark.parametrize("row", ["C8", "C10"])
def test_row_of_resnet_counts_its_products(row: str):
    """A quarter of each side: the same channels, so the same tiling of weights."""
    size, inputs, outputs, kernel, pad, stride, _ = ROWS[row]
    size = size // 4 * stride
    counters = run_conv(
        BLOCK_16,
        (1, inputs, size, size),
        (outputs, inputs, kernel, kernel),
        pads=(pad,) * 4,
        strides=(stride,) * 2,
    )
    result = size // stride
    assert counters.gemm_tiles == result**2 * kernel**2 * inputs * outputs // 256


GROUPS = [
    ((1, 32, 12, 12), 2, 1),
    ((1, 64, 9, 9), 4, 2),
    ((1, 32, 5, 5), 32, 1),
    ((2, 24, 6, 6), 3, 1),
    ((1, 256, 7, 7), 16, 2),
]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
@pytest.mark.parametrize(("shape", "groups", "stride"), GROUPS)
def test_grouped_convolution(config: Config, shape: tuple[int, ...], groups: int, stride: int):
    weight = (shape[1], shape[1] // groups, 3, 3)
    run_conv(config, shape, weight, groups=groups, strides=(stride,) * 2, pads=(1,) * 4)


def test_groups_of_whole_blocks_cost_no_products_of_zeros():
    counters = run_conv(BLOCK_16, (1, 64, 6, 6), (64, 16, 3, 3), groups=4, pads=(1,) * 4)
    assert counters.gemm_tiles == 4 * 9 * 36


TRANSPOSED: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((1, 32, 4, 4), (32, 16, 4, 4), {"strides": (2, 2), "pads": (1, 1, 1, 1)}),
    ((1, 20, 5, 3), (20, 18, 3, 2), {"strides": (2, 3), "pads": (0, 1, 0, -2)}),
    ((2, 32, 4, 4), (32, 16, 3, 3), {"strides": (1, 1), "pads": (1, 0, 2, 1), "groups": 2}),
    ((1, 16, 5, 4), (16, 16, 3, 3), {"strides": (2, 2), "pads": (1, 1, 0, 0), "dilations": (2, 1)}),
    ((1, 16, 4, 4), (16, 16, 1, 1), {"strides": (2, 2), "pads": (0, 0, -1, -1)}),
]  # fmt: skip


def run_transposed(
    config: Config,
    threads: int,
    x_shape: tuple[int, ...],
    w_shape: tuple[int, ...],
    options: dict[str, Any],
):
    rng = np.random.default_rng(4)
    x, weight = int8(rng, *x_shape), int8(rng, *w_shape)
    network = Network(config)
    source, constant = network.input(x_shape), network.constant(weight)
    y = network.add(vta.ConvTransposeOp(source, constant, shift=7, **options))
    stream = network.stream(y, threads=threads)
    expected = requantized(transposed_convolution(x, weight, **options), 7)
    return check(network, stream, [x], [expected], seeds=(0,))


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize(("x_shape", "w_shape", "options"), TRANSPOSED)
def test_transposed_convolution(
    config: Config,
    threads: int,
    x_shape: tuple[int, ...],
    w_shape: tuple[int, ...],
    options: dict[str, Any],
):
    run_transposed(config, threads, x_shape, w_shape, options)


def test_transposed_convolution_multiplies_no_inserted_zeros():
    options: dict[str, Any] = {"strides": (2, 2), "pads": (1, 1, 1, 1)}
    counters = run_transposed(BLOCK_16, 2, (1, 32, 4, 4), (32, 16, 4, 4), options)
    assert counters.gemm_tiles == 2 * 8 * 8 * 4


@pytest.mark.long
@pytest.mark.parametrize(
    ("size", "inputs", "outputs"), [(4, 1024, 512), (8, 512, 256), (16, 256, 128)]
)
def test_row_of_dcgan(size: int, inputs: int, outputs: int):
    options: dict[str, Any] = {"strides": (2, 2), "pads": (1, 1, 1, 1)}
    shape = (1, inputs, size, size)
    counters = run_transposed(BLOCK_16, 2, shape, (inputs, outputs, 4, 4), options)
    assert counters.gemm_tiles == (2 * size) ** 2 * 4 * inputs * outputs // 256


def run_dense(config: Config, threads: int, rows: int, inputs: int, outputs: int):
    rng = np.random.default_rng(5)
    x, weight = int8(rng, rows, inputs), int8(rng, outputs, inputs)
    bias = rng.integers(-(2**20), 2**20, outputs).astype(np.int32)
    network = Network(config)
    source = network.input(x.shape)
    y = network.add(vta.DenseOp(source, network.constant(weight), network.constant(bias), shift=9))
    stream = network.stream(y, threads=threads)
    sums = x.astype(np.int64) @ weight.astype(np.int64).T + bias
    return check(network, stream, [x], [requantized(sums, 9)], seeds=(0,))


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("shape", [(1, 50, 10), (5, 64, 128), (4, 256, 40)])
def test_dense(config: Config, threads: int, shape: tuple[int, int, int]):
    counters = run_dense(config, threads, *shape)
    rows, inputs, outputs = shape
    images = -(-rows // config.batch)
    assert counters.gemm_tiles == images * blocks(inputs, config) * blocks(outputs, config)


@pytest.mark.long
@pytest.mark.parametrize(
    "shape", [(16, 512, 1008), (128, 128, 128), (1, 256, 128), (4, 256, 128), (256, 1024, 1024)]
)
def test_row_of_dense(shape: tuple[int, int, int]):
    counters = run_dense(BLOCK_16, 2, *shape)
    assert counters.gemm_tiles == shape[0] * shape[1] * shape[2] // 256


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
@pytest.mark.parametrize("threads", THREADS)
def test_residual_block(config: Config, threads: int):
    """Two convolutions, a projection and their sum, of which nothing but results is stored."""
    rng = np.random.default_rng(6)
    x = int8(rng, 1, 24, 8, 8)
    w0, w1, wp = int8(rng, 40, 24, 3, 3), int8(rng, 40, 40, 3, 3), int8(rng, 40, 24, 1, 1)
    network = Network(config)
    source = network.input(x.shape)
    around, strides = (1, 1, 1, 1), (2, 2)
    first = network.add(
        vta.ConvOp(source, network.constant(w0), pads=around, strides=strides, shift=9, low=0)
    )
    second = network.add(vta.ConvOp(first, network.constant(w1), pads=around, shift=10))
    short = network.add(vta.ConvOp(source, network.constant(wp), strides=strides, shift=8))
    y = network.add(vta.AddOp(second, short, left_shifts=(1, 0), shift=1, low=0))
    stream = network.stream(y, threads=threads)
    hidden = requantized(convolution(x, w0, None, strides, around), 9, 0)
    main = requantized(convolution(hidden, w1, None, (1, 1), around), 10).astype(np.int64)
    projected = requantized(convolution(x, wp, None, strides), 8).astype(np.int64)
    expected = requantized((main << 1) + projected, 1, 0)
    check(network, stream, [x], [expected], seeds=range(4))


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
@pytest.mark.parametrize("threads", THREADS)
def test_elementwise_layers_alone(config: Config, threads: int):
    rng = np.random.default_rng(7)
    a, b = int8(rng, 2, 70, 20, 21), int8(rng, 2, 70, 20, 21)
    network = Network(config)
    left, right = network.input(a.shape), network.input(b.shape)
    total = network.add(vta.AddOp(left, right, left_shifts=(3, 1), shift=2))
    scaled = network.add(vta.ScaleOp(total, multiplier=-77, offset=1001, shift=6, low=-100))
    wide = network.add(vta.ScaleOp(left, multiplier=32767, shift=16, low=-9, high=40))
    stream = network.stream(total, scaled, wide, threads=threads)
    sums = requantized((a.astype(np.int64) << 3) + (b.astype(np.int64) << 1), 2)
    expected = [
        sums,
        requantized(sums.astype(np.int64) * -77 + 1001, 6, -100),
        requantized(a.astype(np.int64) * 32767, 16, -9, 40),
    ]
    check(network, stream, [a, b], expected)


def test_a_layer_that_does_not_fit_is_refused():
    with pytest.raises(CloptError, match="does not fit the scratchpads"):
        run_conv(BLOCK_16, (1, 16, 33, 33), (16, 16, 33, 33))


def test_rules_of_layers_are_sentences():
    network = Network(BLOCK_16)
    x = network.input((1, 16, 8, 8))
    weight = network.constant(np.zeros((16, 8, 3, 3), np.int8))
    with pytest.raises(VerifyException, match="the weight has 8 channels in each of 1 groups"):
        vta.ConvOp(x, weight)
    with pytest.raises(VerifyException, match="can pad a window of 3 by 0 to 2, not by 3 and 0"):
        vta.ConvOp(x, weight, groups=2, pads=(3, 0, 0, 0))
    with pytest.raises(VerifyException, match="a shift must be 0 to 30, not 31"):
        vta.ScaleOp(x, shift=31)
    with pytest.raises(VerifyException, match="must fit 16 bits, unlike 32768"):
        vta.ScaleOp(x, multiplier=32768)
