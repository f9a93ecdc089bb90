"""Writes the ONNX models of the tests of textures: one line for each node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper

from support.onnx.graph import OnnxGraph


class Net(OnnxGraph):
    """A graph with one float input `x`, and the layers of the tests of textures."""

    def __init__(self, *shape: int, seed: int = 0) -> None:
        super().__init__(seed)
        self.shape = shape
        self.x = "x"

    def conv(
        self,
        x: str,
        cin: int,
        cout: int,
        kernel: int | Sequence[int],
        *,
        stride: int | Sequence[int] = 1,
        pads: int | Sequence[int] = 0,
        group: int = 1,
        dilation: int = 1,
    ) -> str:
        """A convolution with a bias; `pads` are top, left, bottom, right."""
        window = _pair(kernel)
        w = self.normal(cout, cin // group, *window, scale=(cin // group * np.prod(window)) ** -0.5)
        return self.op(
            "Conv",
            x,
            w,
            self.normal(cout, scale=0.1),
            kernel_shape=window,
            strides=_pair(stride),
            pads=[pads] * 4 if isinstance(pads, int) else list(pads),
            group=group,
            dilations=[dilation] * 2,
        )

    def transposed(
        self,
        x: str,
        cin: int,
        cout: int,
        kernel: int,
        *,
        stride: int = 2,
        pads: int = 0,
        dilation: int = 1,
    ) -> str:
        """A transposed convolution with a bias."""
        w = self.normal(cin, cout, kernel, kernel, scale=(cin * kernel * kernel) ** -0.5 * stride)
        return self.op(
            "ConvTranspose",
            x,
            w,
            self.normal(cout, scale=0.1),
            kernel_shape=[kernel] * 2,
            strides=[stride] * 2,
            pads=[pads] * 4,
            dilations=[dilation] * 2,
        )

    def relu(self, x: str) -> str:
        """A rectifier."""
        return self.op("Relu", x)

    def nchw(self, x: str) -> str:
        """From NHWC to NCHW."""
        return self.op("Transpose", x, perm=[0, 3, 1, 2])

    def nhwc(self, x: str) -> str:
        """From NCHW to NHWC."""
        return self.op("Transpose", x, perm=[0, 2, 3, 1])

    def model(self, *outputs: str) -> onnx.ModelProto:
        """The model with these outputs, whose types onnx infers."""
        source = helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)
        sinks = [helper.make_empty_tensor_value_info(name) for name in outputs]
        graph = helper.make_graph(self.nodes, "net", [source], sinks, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        return onnx.shape_inference.infer_shapes(model)


def _pair(value: int | Sequence[int]) -> list[int]:
    return [value, value] if isinstance(value, int) else list(value)
