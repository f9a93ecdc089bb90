"""Quantised networks on VTA's core, between kernels: bit by bit what nn says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

import clopt
from clopt.dialects import nn
from clopt.dialects.cl import set_target
from clopt.dialects.nn.evaluation import interpret
from clopt.dialects.offload import OffloadGraphOp
from clopt.dialects.vta import BinaryOp
from clopt.passes.nn.integer_products import NNIntegerProductsPass
from clopt.passes.pipelines import run_pipeline
from clopt.targets import load_target, with_facts
from support.nn.quantized import Quantized

pytestmark = pytest.mark.in_turns

DIGITS = Path(__file__).parents[3] / "examples" / "digits"


def weights(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-90, 91, shape).astype(np.float32)


def graphs_of(model: clopt.CompiledModel) -> int:
    """The launches of an inference that are graphs of VTA."""
    return sum("vta" in row.name for row in model.profile().rows)


def test_digits_are_those_of_our_kernels(device: str) -> None:
    with np.load(DIGITS / "held_out.npz") as data:
        images = data["images"][:8, None].astype(np.float32) / 16
    results: list[np.ndarray] = []
    for mode, graphs in (("off", 0), ("prefer", 1)):
        model = clopt.compile(
            DIGITS / "digits.onnx",
            dims={"batch": 2},
            device=device,
            quantize=clopt.Quantization("int8", {"image": images}, "max", round_scales=True),
            vta=mode,
        )
        results += [model.run([images[i : i + 2]])[0] for i in range(0, 8, 2)]
        assert graphs_of(model) == graphs
    np.testing.assert_array_equal(results[4:], results[:4])


def layer(net: Quantized, x: SSAValue, w: np.ndarray, stride: int = 1) -> SSAValue:
    pad = w.shape[2] // 2
    y = net.conv(net.back(x, -4), w / 512, strides=(stride, stride), pads=(pad,) * 4)
    return net.round(net.relu(y), -4)


def pooled(net: Quantized, x: SSAValue) -> SSAValue:
    return net.add(nn.PoolOp(x, "max", (2, 2), strides=(2, 2)))


def upsampled(net: Quantized, x: SSAValue) -> SSAValue:
    n, c, h, w = nn.shape_of(x)
    modes = {"coordinate_mode": "asymmetric", "nearest_mode": "floor"}
    return net.add(nn.ResizeOp(x, (n, c, 2 * h, 2 * w), "nearest", **modes))


def unet() -> Quantized:
    """An encoder with residuals, a decoder behind a concatenation, and a head with a sigmoid."""
    net = Quantized()
    x = net.input(1, 3, 8, 8)
    skip = layer(net, x, weights(0, 20, 3, 3, 3))
    down = layer(net, skip, weights(1, 32, 20, 3, 3), 2)
    inner = layer(net, layer(net, down, weights(2, 32, 32, 3, 3)), weights(3, 32, 32, 1, 1))
    down = net.round(net.relu(net.plus(net.back(inner, -4), net.back(down, -4))), -3)
    wide = weights(4, 32, 20, 2, 2) / 256
    up = net.transposed(net.back(down, -3), wide, strides=(2, 2), output_padding=(0, 0))
    both = net.add(nn.ConcatOp([net.round(up, -4), skip], 1))
    head = layer(net, layer(net, both, weights(5, 16, 40, 3, 3)), weights(6, 5, 16, 1, 1))
    net.result(net.add(nn.UnaryOp(net.back(head, -4), "sigmoid")))
    return net


def test_a_decoder_between_graphs(device: str) -> None:
    net = unet()
    function = net.function()
    x = np.random.default_rng(7).integers(-128, 128, (1, 3, 8, 8)).astype(np.int8)
    (expected,) = interpret(function, [x], net.context.weights)
    module, store = ModuleOp([function]), net.context.weights
    model = clopt.compile(module, weights=store, device=device, vta="prefer")
    assert graphs_of(model) == 2
    np.testing.assert_allclose(model.run([x])[0], expected, rtol=1e-6)


def segmenter() -> Quantized:
    """A small U-Net: maxima on the way down, transposed and nearest upsampling on the way up."""
    net = Quantized()
    x = net.input(1, 3, 16, 12)
    first = layer(net, x, weights(0, 16, 3, 3, 3))
    second = layer(net, pooled(net, first), weights(1, 32, 16, 3, 3))
    inner = layer(net, pooled(net, second), weights(2, 48, 32, 3, 3))
    wide = weights(3, 48, 32, 2, 2) / 256
    up = net.transposed(net.back(inner, -4), wide, strides=(2, 2), output_padding=(0, 0))
    joined = net.add(nn.ConcatOp([second, net.round(up, -4)], 1))
    up = upsampled(net, layer(net, joined, weights(4, 16, 64, 3, 3)))
    joined = net.add(nn.ConcatOp([up, first], 1))
    net.result(layer(net, joined, weights(5, 5, 32, 3, 3)))
    return net


def detector() -> Quantized:
    """A small network like YOLO: split paths, pools of pools, two scales and two heads."""
    net = Quantized()
    x = layer(net, net.input(1, 3, 16, 16), weights(0, 16, 3, 3, 3), 2)
    left = layer(net, x, weights(1, 16, 16, 1, 1))
    right = layer(net, layer(net, x, weights(2, 16, 16, 1, 1)), weights(3, 16, 16, 3, 3))
    right = net.round(net.plus(net.back(right, -4), net.back(x, -4)), -4)
    fine = layer(net, net.add(nn.ConcatOp([left, right], 1)), weights(4, 32, 32, 1, 1))
    pools = [layer(net, fine, weights(5, 32, 32, 3, 3), 2)]
    for _ in range(3):
        pool = nn.PoolOp(pools[-1], "max", (5, 5), strides=(1, 1), pads=(2, 2, 2, 2))
        pools.append(net.add(pool))
    coarse = layer(net, net.add(nn.ConcatOp(pools, 1)), weights(6, 32, 128, 1, 1))
    joined = net.add(nn.ConcatOp([upsampled(net, coarse), fine], 1))
    net.result(layer(net, joined, weights(7, 18, 64, 1, 1)))
    net.result(layer(net, coarse, weights(8, 18, 32, 1, 1)))
    return net


def classifier() -> Quantized:
    """Two images: a pool, an average with a shift, and rows of a matrix that were images."""
    net = Quantized()
    x = layer(net, net.input(2, 3, 12, 12), weights(0, 20, 3, 3, 3))
    x = layer(net, pooled(net, x), weights(1, 20, 20, 3, 3))
    mean = net.add(nn.ReduceOp(net.back(x, -4), "mean", (2, 3), keepdims=True))
    net.result(net.round(mean, -6))
    flat = net.add(nn.ReshapeOp(pooled(net, x), (2, 180)))
    net.result(net.round(net.matmul(net.back(flat, -4), weights(2, 180, 10) / 512), -2))
    return net


@pytest.mark.parametrize("make", [segmenter, detector, classifier])
def test_networks_that_are_one_graph(make: Callable[[], Quantized], device: str) -> None:
    net = make()
    function = net.function()
    shape = nn.shape_of(function.args[0])
    x = np.random.default_rng(11).integers(-128, 128, shape).astype(np.int8)
    wanted = interpret(function, [x], net.context.weights)
    for mode, graphs in (("prefer", 1), ("off", 0)):
        module, store = ModuleOp([function.clone()]), net.context.weights
        model = clopt.compile(module, weights=store, device=device, vta=mode)
        assert graphs_of(model) == graphs
        for found, expected in zip(model.run([x]), wanted, strict=True):
            np.testing.assert_array_equal(found, expected)


def gated() -> Quantized:
    """Two layers, the second of which reads the first and a kernel's function of it."""
    net = Quantized()
    x = net.input(1, 16, 4, 4)
    first = net.conv(net.back(x, -4), weights(8, 16, 16, 1, 1) / 256)
    first = net.round(net.relu(first), -4)
    gate = net.round(net.add(nn.UnaryOp(net.back(first, -4), "sigmoid")), -7)
    net.result(net.round(net.plus(net.back(first, -4), net.back(gate, -7)), -4))
    return net


def test_a_graph_reads_what_another_gives(device: str) -> None:
    """The kernel between them keeps them from being one."""
    net = gated()
    function = net.function()
    data = np.random.default_rng(9).integers(-128, 128, (1, 16, 4, 4)).astype(np.int8)
    (expected,) = interpret(function, [data], net.context.weights)
    module, store = ModuleOp([function]), net.context.weights
    model = clopt.compile(module, weights=store, device=device, vta="prefer")
    assert graphs_of(model) == 2
    np.testing.assert_array_equal(model.run([data])[0], expected)


def test_the_host_waits_for_no_graph(device: str) -> None:
    """All commands are on the queue before the first may run."""
    net = gated()
    module, store = ModuleOp([net.function()]), net.context.weights
    model = clopt.compile(module, weights=store, device=device, vta="prefer")
    data = np.random.default_rng(10).integers(-128, 128, (1, 16, 4, 4)).astype(np.int8)
    expected = model.run([data])[0]
    context = model.executable.context
    queue, begin = cl.CommandQueue(context), cl.UserEvent(context)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    names = [tensor.name for tensor in (*model.inputs, *model.outputs)]
    found = np.zeros_like(expected)
    arrays = dict(zip(names, (data, found), strict=True))
    buffers = {name: cl.Buffer(context, flags, hostbuf=array) for name, array in arrays.items()}
    cl.enqueue_barrier(queue, wait_for=[begin])
    model.executable.enqueue(queue, buffers)
    begin.set_status(cl.command_execution_status.COMPLETE)
    cl.enqueue_copy(queue, found, buffers[names[-1]])
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("facts", "graphs"),
    [
        ({"vta": "prefer", "dot_product": "plain", "vector_width": 16}, 2),
        ({"vta": "prefer", "vta_config": "2x16_i8w8a32_15_15_18_17"}, 2),
        ({"vta": "auto", "vta_megahertz": 1e9}, 2),
        ({"vta": "auto", "vta_megahertz": 1e-3}, 0),
        ({"vta": "off"}, 0),
    ],
)
def test_costs_decide_who_computes(facts: dict[str, str | float], graphs: int) -> None:
    net = unet()
    module = ModuleOp([net.function()])
    set_target(module, with_facts(load_target("pocl"), facts))
    NNIntegerProductsPass().apply(net.context, module)
    run_pipeline(net.context, module, "fuse")
    assert sum(isinstance(op, BinaryOp) for op in module.ops) == graphs


def test_explain_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    net = unet()
    module, store = ModuleOp([net.function()]), net.context.weights
    clopt.compile(module, "pocl", weights=store, explain=True, vta="prefer")
    text = capsys.readouterr().err
    assert "VTA can concatenate whole blocks of 16 channels, but" in text
    assert "no nn.quantize with a power-of-two scale rounds its result to int8" in text


def test_what_no_scratchpad_holds_is_a_kernel(
    device: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A small core takes the windows of 1 by 1; the others run on the same queue."""
    net = unet()
    function = net.function()
    x = np.random.default_rng(7).integers(-128, 128, (1, 3, 8, 8)).astype(np.int8)
    (expected,) = interpret(function, [x], net.context.weights)
    module, store = ModuleOp([function]), net.context.weights
    tiny = "1x16_i8w8a32_7_7_10_10"
    facts: dict[str, Any] = {"vta": "prefer", "vta_config": tiny}
    model = clopt.compile(module, weights=store, device=device, explain=True, **facts)
    assert graphs_of(model) == 2
    np.testing.assert_allclose(model.run([x])[0], expected, rtol=1e-6)
    assert f"smallest tiles do not fit the scratchpads of VTA {tiny}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("megahertz", "computing"),
    [(1e9, ["clml.graph", "vta.binary"]), (1e-3, ["clml.graph"])],
)
def test_two_accelerators_share_a_network(
    megahertz: float, computing: list[str], device: str
) -> None:
    """VTA takes layers of integers, CLML convolutions of floats, and kernels the sigmoid."""
    net = Quantized()
    x = layer(net, net.input(1, 16, 16, 16), weights(0, 32, 16, 3, 3))
    y = net.back(layer(net, x, weights(1, 32, 32, 3, 3)), -4)
    y = net.conv(net.add(nn.UnaryOp(y, "sigmoid")), weights(2, 64, 32, 3, 3) / 512, pads=(1,) * 4)
    net.result(net.conv(y, weights(3, 8, 64, 1, 1) / 512))
    function = net.function()
    data = np.random.default_rng(7).integers(-128, 128, (1, 16, 16, 16)).astype(np.int8)
    (expected,) = interpret(function, [data], net.context.weights)
    model = clopt.compile(
        ModuleOp([function]),
        "adreno-740 fp16=false clml_launch_microseconds=0.1 clml=auto vta=auto",
        weights=net.context.weights,
        device=device,
        accelerators={"clml": "reference"},
        vta_megahertz=megahertz,
    )
    graphs = [op.name for op in model.module.ops if isinstance(op, OffloadGraphOp)]
    assert sorted(graphs) == computing
    np.testing.assert_allclose(model.run([data])[0], expected, rtol=1e-5, atol=1e-5)
