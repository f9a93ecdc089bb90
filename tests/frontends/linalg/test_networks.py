"""Networks from ONNX, JAX and TOSA, printed by IREE's compiler, compute what their sources do."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

import clopt
from clopt.context import CloptContext
from clopt.dialects.nn.evaluation import interpret
from clopt.messages.source import Source, SourceModule
from clopt.universe import frontend
from support.onnx import builders

FOLDER = Path(__file__).parent / "networks"
FROM_JAX = ["classifier", "cnn", "lstm", "mixer", "transformer", "upsampler"]
FROM_TOSA = ["tosa"]
FROM_ONNX = ["densenet121", "mobilenet_v1", "resnet50", "squeezenet1_1", "unet"]


@cache
def example(name: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """An input of a network, and what the framework of its origin computes from it."""
    if name not in FROM_ONNX:
        arrays = np.load(FOLDER / f"{name}.npz")
        return arrays["input"], arrays["output"]
    model = builders.NETWORKS[name]()
    inputs = builders.inputs_for(model)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (x,), (y, *_) = inputs.values(), session.run(None, inputs)
    return x, y


@pytest.mark.parametrize("name", FROM_JAX + FROM_TOSA + FROM_ONNX)
def test_network(name: str) -> None:
    x, expected = example(name)
    context = CloptContext()
    path = FOLDER / f"{name}.mlir"
    read = SourceModule.parse(context, Source(str(path), path.read_text()))
    module = frontend("linalg")(read, context.weights)
    module.verify()
    (network,) = module.ops
    (result,) = interpret(network, [x], context.weights)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.in_turns
@pytest.mark.usefixtures("quick_builds")
@pytest.mark.parametrize("name", FROM_JAX + FROM_TOSA + FROM_ONNX)
@pytest.mark.by_default(cases=2)
def test_network_on_a_device(name: str, device: str) -> None:
    x, expected = example(name)
    model = clopt.compile(FOLDER / f"{name}.mlir", device=device)
    (result,) = model.run({"input0": x})
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
