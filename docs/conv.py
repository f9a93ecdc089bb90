"""Write docs/conv.onnx, the convolution that docs/architecture.md follows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def main() -> None:
    rng = np.random.default_rng(0)

    def weight(name: str, *shape: int) -> TensorProto:
        array = rng.standard_normal(shape).round(1).astype(np.float32)
        return numpy_helper.from_array(np.abs(array) if name == "var" else array, name)

    nodes = [
        helper.make_node("Conv", ["image", "w"], ["features"], "conv", pads=[1, 1, 1, 1]),
        helper.make_node(
            "BatchNormalization", ["features", "scale", "bias", "mean", "var"], ["normed"], "norm"
        ),
        helper.make_node("Relu", ["normed"], ["result"], "relu"),
    ]
    image, result = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", channels, 16, 16])
        for name, channels in (("image", 3), ("result", 8))
    )
    weights = [weight("w", 8, 3, 3, 3), *(weight(n, 8) for n in ("scale", "bias", "mean", "var"))]
    graph = helper.make_graph(nodes, "one_convolution", [image], [result], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, Path(__file__).with_name("conv.onnx"))


if __name__ == "__main__":
    main()
