"""Networks that onnxruntime quantised give its results within one step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from quantiser import output_step, quantise, run_onnxruntime

import clopt
from support.onnx.net import Net

pytestmark = pytest.mark.in_turns


def _convolutions() -> onnx.ModelProto:
    net = Net(1, 3, 9, 9)
    x = net.relu(net.conv(net.x, 3, 6, 3, pads=1))
    x = net.op("MaxPool", net.relu(net.conv(x, 6, 8, 3, stride=2)), kernel_shape=[2, 2])
    x = net.op("Flatten", net.op("GlobalAveragePool", x))
    return net.model(net.op("Gemm", x, net.normal(8, 5, scale=0.4), net.normal(5)))


def _inverted_residual() -> onnx.ModelProto:
    """A block of MobileNetV2, whose sum has operands of different scales."""
    net = Net(1, 4, 6, 6)
    stem = net.conv(net.x, 4, 4, 1)
    x = net.op("Clip", net.conv(stem, 4, 12, 1), net.scalar(0.0), net.scalar(6.0))
    x = net.conv(x, 12, 12, 3, pads=1, group=12)
    x = net.op("Clip", x, net.scalar(0.0), net.scalar(6.0))
    return net.model(net.op("Add", net.conv(x, 12, 4, 1), stem))


def _transformer() -> onnx.ModelProto:
    """Attention, whose products read two values, and a perceptron, with norms in floats."""
    tokens, width = 5, 8
    net = Net(1, tokens, width)
    q, k, v = (
        net.op("MatMul", net.x, net.normal(width, width, scale=width**-0.5)) for _ in range(3)
    )
    scores = net.op("MatMul", q, net.op("Transpose", k, perm=[0, 2, 1]))
    mixed = net.op("MatMul", net.op("Softmax", scores, axis=-1), v)
    norm = net.op("LayerNormalization", net.op("Add", mixed, net.x), net.normal(width), axis=-1)
    hidden = net.relu(net.op("MatMul", norm, net.normal(width, 16, scale=width**-0.5)))
    return net.model(net.op("MatMul", hidden, net.normal(16, 6, scale=0.25)))


def _lstm() -> onnx.ModelProto:
    """The cells stay floats; the products before and behind them do not."""
    steps, width, hidden = 3, 6, 4
    net = Net(steps, 1, width)
    x = net.op("MatMul", net.x, net.normal(width, width, scale=width**-0.5))
    weights = net.normal(1, 4 * hidden, width, scale=0.4), net.normal(1, 4 * hidden, hidden)
    y = net.op("LSTM", x, *weights, net.normal(1, 8 * hidden), hidden_size=hidden)
    rows = net.op("Reshape", y, net.ints(steps, hidden))
    return net.model(net.op("MatMul", rows, net.normal(hidden, 5, scale=0.5)))


NETWORKS: dict[str, Callable[[], onnx.ModelProto]] = {
    "convolutions": _convolutions,
    "inverted residual": _inverted_residual,
    "transformer": _transformer,
    "lstm": _lstm,
}


@pytest.mark.by_default(cases=1)
@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("per_channel", [False, True], ids=["per tensor", "per channel"])
def test_within_a_step(name: str, per_channel: bool, device: str) -> None:
    model = NETWORKS[name]()
    shape = [dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim]
    rng = np.random.default_rng(7)
    *samples, x = ({"x": rng.standard_normal(shape).astype("f4")} for _ in range(9))
    quantised = quantise(model, samples, per_channel)
    (expected,) = run_onnxruntime(quantised, x, optimised=False)
    (found,) = clopt.compile(quantised, device=device).run(x)
    step = output_step(quantised)
    assert np.abs(found - expected).max() <= 1.001 * step
    # A result off by a step nearly everywhere would be another result.
    assert (np.abs(found - expected) <= 0.001 * step).mean() >= 0.9


def test_scales_of_powers_of_two(device: str) -> None:
    """The rounded network stays near the model, each step is a shift, and each weight is told."""
    rng = np.random.default_rng(7)
    *samples, x = ({"x": rng.standard_normal((1, 3, 9, 9)).astype("f4")} for _ in range(9))
    quantised = quantise(_convolutions(), samples, per_channel=False)
    (expected,) = run_onnxruntime(quantised, x, optimised=False)
    model = clopt.compile(quantised, device=device, quantize=clopt.Quantization(round_scales=True))
    (found,) = model.run(x)
    assert 0 < np.abs(found - expected).max() < 0.1 * np.abs(expected).max()
    assert len(model.remarks) == 3, "two convolutions and a product"
    steps = found * 2.0**16
    assert np.array_equal(steps, np.round(steps)), "multiples of a power of two"
