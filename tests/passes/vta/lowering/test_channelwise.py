"""Pools, upsampling and concatenation as programs of VTA, compared with numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.utils.exceptions import VerifyException

from clopt.dialects import vta
from clopt.dialects.vta import BATCH_2, BLOCK_16, Config
from support.vta.graphs import Network, check, convolution, requantized

Array = np.ndarray

SMALL = Config.parse("1x16_i8w8a32_7_7_11_12")
"""64 tiles of sums."""

CONFIGS = [BLOCK_16, BATCH_2, SMALL]
NAMES = [config.name for config in CONFIGS]

WINDOWS: list[dict[str, Any]] = [
    {"kernel": (3, 3), "strides": (2, 2), "pads": (1, 1, 1, 1)},
    {"kernel": (2, 2), "strides": (2, 2)},
    {"kernel": (3, 2), "strides": (1, 3), "pads": (2, 0, 1, 1)},
    {"kernel": (2, 3), "dilations": (2, 1), "pads": (0, 2, 2, 2)},
]


def int8(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).integers(-128, 128, shape).astype(np.int8)


def windows(
    x: Array,
    empty: int,
    kernel: Sequence[int],
    strides: Sequence[int] = (1, 1),
    pads: Sequence[int] = (0, 0, 0, 0),
    dilations: Sequence[int] = (1, 1),
) -> Array:
    """The elements of each window in the last dimension, `empty` where it is beyond x."""
    borders = ((0, 0), (0, 0), *zip(pads[:2], pads[2:], strict=True))
    padded = np.pad(x.astype(np.int64), borders, constant_values=empty)
    sizes = [
        (padded.shape[2 + i] - (kernel[i] - 1) * dilations[i] - 1) // strides[i] + 1
        for i in range(2)
    ]
    pieces = [
        padded[:, :, a * dilations[0] :: strides[0], b * dilations[1] :: strides[1]]
        for a, b in np.ndindex(*kernel)
    ]
    return np.stack([piece[:, :, : sizes[0], : sizes[1]] for piece in pieces], -1)


@pytest.mark.parametrize("config", CONFIGS, ids=NAMES)
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("threads", [1, 2])
def test_max_pool(config: Config, window: dict[str, Any], threads: int) -> None:
    x = int8(0, 2, 20, 9, 8)
    network = Network(config)
    y = network.add(vta.MaxPoolOp(network.input(x.shape), **window))
    expected = windows(x, -128, **window).max(-1).astype(np.int8)
    check(network, network.stream(y, threads=threads), [x], [expected])


@pytest.mark.parametrize("config", CONFIGS, ids=NAMES)
@pytest.mark.parametrize("window", WINDOWS)
def test_sum_pool(config: Config, window: dict[str, Any]) -> None:
    x = int8(1, 1, 20, 7, 8)
    network = Network(config)
    options = {"multiplier": 37, "offset": -5, "shift": 7, "low": -100}
    y = network.add(vta.SumPoolOp(network.input(x.shape), **window, **options))
    expected = requantized(windows(x, 0, **window).sum(-1) * 37 - 5, 7, -100)
    check(network, network.stream(y), [x], [expected])


@pytest.mark.parametrize("channels", [16, 80])
def test_sum_of_an_image(channels: int) -> None:
    x = int8(2, 1, channels, 7, 7)
    network = Network(BLOCK_16)
    y = network.add(vta.SumPoolOp(network.input(x.shape), (7, 7), shift=6))
    expected = requantized(x.astype(np.int64).sum((2, 3), keepdims=True), 6)
    check(network, network.stream(y), [x], [expected])


@pytest.mark.parametrize("config", CONFIGS, ids=NAMES)
@pytest.mark.parametrize("factors", [(2, 2), (1, 3)])
def test_upsample(config: Config, factors: tuple[int, int]) -> None:
    x = int8(3, 1, 20, 5, 6)
    network = Network(config)
    y = network.add(vta.UpsampleOp(network.input(x.shape), factors))
    expected = x.repeat(factors[0], 2).repeat(factors[1], 3)
    check(network, network.stream(y), [x], [expected])


def test_layers_behind_a_pool_join_it() -> None:
    """One that adds and one that scales: the pool is not stored between."""
    x, z = int8(4, 1, 16, 6, 6), int8(5, 1, 16, 3, 3)
    network = Network(SMALL)
    pooled = network.add(vta.MaxPoolOp(network.input(x.shape), (2, 2), strides=(2, 2), low=0))
    both = network.add(vta.AddOp(pooled, network.input(z.shape), shift=1))
    y = network.add(vta.ScaleOp(both, multiplier=3, shift=1))
    stream = network.stream(y)
    assert all("layer" not in symbol.key for symbol in stream.symbols)
    sums = windows(x, -128, (2, 2), (2, 2)).max(-1).clip(0) + z
    expected = requantized(requantized(sums, 1).astype(np.int64) * 3, 1)
    check(network, stream, [x, z], [expected])


@pytest.mark.parametrize("config", CONFIGS, ids=NAMES)
@pytest.mark.parametrize("images", [1, 3])
def test_concat(config: Config, images: int) -> None:
    """A layer's result lies in the concatenation; inputs, results and second readers are copied."""
    x = int8(6, images, 16, 4, 3)
    w = int8(7, 32, 16, 1, 1)
    network = Network(config)
    source = network.input(x.shape)
    wide = network.add(vta.ConvOp(source, network.constant(w), shift=9))
    short = network.add(vta.MaxPoolOp(source, (1, 1), low=-3))
    inner = network.add(vta.ConcatOp(wide, source, wide))
    outer = network.add(vta.ConcatOp(inner, short))
    stream = network.stream(outer, short)
    between = sum("layer" in symbol.key for symbol in stream.symbols)
    assert between == (2 if images > config.batch else 0)
    first = requantized(convolution(x, w), 9)
    clipped = x.clip(-3)
    expected = np.concatenate([first, x, first, clipped], 1)
    check(network, stream, [x], [expected, clipped])


def test_rules_are_sentences() -> None:
    network = Network(BLOCK_16)
    x, y = network.input((1, 16, 1, 1)), network.input((1, 20, 1, 1))
    with pytest.raises(VerifyException, match="has no element inside a size of 1"):
        vta.MaxPoolOp(x, (2, 1), dilations=(2, 1), pads=(1, 0, 1, 0))
    with pytest.raises(
        VerifyException, match="a window of 3 can extend 0 to 2 beyond the input, not 3 and 0"
    ):
        vta.MaxPoolOp(x, (3, 3), pads=(3, 1, 0, 1))
    with pytest.raises(VerifyException, match="requires tensors that differ only in C"):
        vta.ConcatOp(x, network.input((1, 16, 2, 1)))
    both = network.add(vta.ConcatOp(y, x))
    with pytest.raises(VerifyException, match="can concatenate whole blocks of 16 channels"):
        network.stream(both)
