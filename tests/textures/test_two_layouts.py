"""A kernel whose result is wanted both plain and in texels writes both, and both are right."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
from onnx_net import Net

import clopt
from clopt.dialects import cl


@pytest.mark.parametrize("channels", [12, 6])
def test_an_output_that_is_read_again(channels: int, device: str) -> None:
    net = Net(1, channels, 9, 11)
    y = net.relu(net.x)
    pooled = net.op("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2])
    model = net.model(y, net.conv(pooled, channels, 8, 3, pads=1))
    x = np.random.default_rng(0).standard_normal((1, channels, 9, 11)).astype(np.float32)
    expected = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    compiled = clopt.compile(model, target="adreno-740 texture=prefer", device=device)
    launches = [op for op in compiled.module.walk() if isinstance(op, cl.EnqueueKernelOp)]
    # The input is packed; then come the rectifier with two results, the pool, the convolution.
    assert len(launches) == 4
    assert len(launches[1].args) == 3
    for got, want in zip(compiled.run({"x": x}), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
