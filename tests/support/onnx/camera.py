"""A small network whose input and outputs are images, and texels for them."""

from __future__ import annotations

import numpy as np
import onnx

from clopt.dialects.nn import Array

TARGET = "adreno-740 texture=prefer"


def network(channels: int = 3) -> onnx.ModelProto:
    """A convolution, which adds up channels, and a function that is not zero at zero."""
    model = onnx.parser.parse_model(f"""
<ir_version: 8, opset_import: ["" : 17]>
net (float[2,{channels},5,7] camera) => (float[2,5,5,7] mask, float[2,{channels},5,7] picture) {{
  mask = Conv <pads = [1, 1, 1, 1]> (camera, w)
  picture = Exp (camera)
}}
""")
    weights = np.random.default_rng(0).standard_normal((5, channels, 3, 3), np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    return model


def texels(array: Array, beyond: float) -> Array:
    """The texels of N x C x H x W, with `beyond` in the channels that it lacks."""
    n, channels, height, width = array.shape
    blocks = -(-channels // 4)
    found = np.full((n, blocks, height, width, 4), beyond, array.dtype)
    for channel in range(channels):
        found[:, channel // 4, :, :, channel % 4] = array[:, channel]
    return found
