"""A value with plain readers and readers of texels is stored in both forms, and both are right."""

from __future__ import annotations

import numpy as np
import pytest

from clopt.dialects import cl
from support.onnx import on_devices
from support.onnx.net import Net


@pytest.mark.parametrize("channels", [12, 6])
def test_an_output_that_is_read_again(channels: int, devices: dict[str, str]) -> None:
    net = Net(1, channels, 9, 11)
    y = net.relu(net.x)
    pooled = net.op("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2])
    model = net.model(y, net.conv(pooled, channels, 8, 3, pads=1))
    x = np.random.default_rng(0).standard_normal((1, channels, 9, 11)).astype(np.float32)
    compiled = on_devices.check(model, {"x": x}, devices, "f32")
    launches = [op for op in compiled.module.walk() if isinstance(op, cl.EnqueueKernelOp)]
    # The input is packed; then come the rectifier, a copy of its result in the other form, the pool
    # and the convolution.
    assert len(launches) == 5
