"""Quotients, roots and means are rounded correctly where ONNX's result depends on the last bit.

On the CPU runtimes a device's own division is right. That corrections of a wrong one are right is
tested in `backends/opencl_c/test_rounding.py`.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import clopt
from clopt.backends.kernel_source import ROUNDING_OPTION

pytestmark = pytest.mark.in_turns

STEPS = ["Floor", "Ceil", "Round", "Sign"]
TARGETS = [
    None,
    "adreno-740 texture=off fp16=false read_imageh=false",
    "adreno-740 texture=prefer fp16=false read_imageh=false",
    "generic-gpu",
]


def steps_after(first: list[object], inputs: dict[str, np.ndarray]) -> bytes:
    """A model that computes "r", and every function with steps of it, and its integers."""
    nodes = [*first, *(helper.make_node(kind, ["r"], [kind]) for kind in STEPS)]
    nodes.append(helper.make_node("Cast", ["r"], ["Cast"], to=TensorProto.INT32))
    kinds = {"Cast": TensorProto.INT32}
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(k, TensorProto.FLOAT, v.shape) for k, v in inputs.items()],
        [
            helper.make_tensor_value_info(name, kinds.get(name, TensorProto.FLOAT), None)
            for name in (*STEPS, "Cast")
        ],
    )
    opset = helper.make_opsetid("", 18)
    return helper.make_model(graph, opset_imports=[opset], ir_version=9).SerializeToString()


def check(
    model: bytes, inputs: dict[str, np.ndarray], r: np.ndarray, target: str | None, device: str
) -> str:
    """Compare bit by bit with steps of `r`; the source of the kernels."""
    compiled = clopt.compile(model, target=target, device=device)
    outputs = compiled.run(list(inputs.values()))
    expected = [np.floor(r), np.ceil(r), np.rint(r), np.sign(r), r.astype(np.int32)]
    for name, y, wanted in zip((*STEPS, "Cast"), outputs, expected, strict=True):
        np.testing.assert_array_equal(y, wanted, err_msg=name)
    return compiled.source


def is_rounded(source: str) -> bool:
    return ROUNDING_OPTION in source or bool(
        re.search(r"static float\d* (?!vector_exp|short_exp)", source)
    )


@pytest.mark.parametrize("target", TARGETS)
def test_quotients(target: str | None, device: str) -> None:
    """Multiples and halves of multiples of numbers such as 0.1 and 3, where a step is."""
    rng = np.random.default_rng(3)
    b = (rng.integers(1, 2000, (4, 600)) / 10).astype(np.float32)
    a = (b * rng.integers(-400, 400, b.shape) / 2).astype(np.float32)
    model = steps_after([helper.make_node("Div", ["a", "b"], ["r"])], {"a": a, "b": b})
    assert is_rounded(check(model, {"a": a, "b": b}, a / b, target, device))


@pytest.mark.parametrize("target", TARGETS)
def test_roots_and_reciprocals(target: str | None, device: str) -> None:
    x = np.arange(1, 2001, dtype=np.float32).reshape(4, 500)
    squares = [helper.make_node("Mul", ["x", "x"], ["s"]), helper.make_node("Sqrt", ["s"], ["r"])]
    assert is_rounded(check(steps_after(squares, {"x": x}), {"x": x}, x, target, device))
    x = (1 / x).astype(np.float32)
    reciprocal = steps_after([helper.make_node("Reciprocal", ["x"], ["r"])], {"x": x})
    assert is_rounded(check(reciprocal, {"x": x}, 1 / x, target, device))


@pytest.mark.by_default(cases=1)
@pytest.mark.parametrize("target", TARGETS)
def test_means(target: str | None, device: str) -> None:
    """Sums of integers are exact, so that a mean is a quotient."""
    x = np.random.default_rng(5).integers(-9, 9, (2, 40, 7, 7)).astype(np.float32)
    mean = [helper.make_node("ReduceMean", ["x", "axes"], ["r"], keepdims=0)]
    axes = numpy_helper.from_array(np.array([2, 3]), "axes")
    constant = helper.make_node("Constant", [], ["axes"], value=axes)
    total = x.sum((2, 3), dtype=np.float32)
    model = steps_after([constant, *mean], {"x": x})
    assert is_rounded(check(model, {"x": x}, total / np.float32(49), target, device))
    pool = helper.make_node("AveragePool", ["x"], ["r"], kernel_shape=[7, 7])
    r = (total / np.float32(49))[:, :, None, None]
    assert is_rounded(check(steps_after([pool], {"x": x}), {"x": x}, r, target, device))


@pytest.mark.parametrize("target", TARGETS)
def test_quantization(target: str | None, device: str) -> None:
    """x lies halfway between two steps of the scale, and goes to the even one."""
    scale = np.float32(0.3)
    x = (np.arange(-200, 200, dtype=np.float32) / 2 * scale).reshape(4, 100)
    quantized = helper.make_node("QuantizeLinear", ["x", "scale"], ["y"])
    graph = helper.make_graph(
        [quantized],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.UINT8, x.shape)],
        [numpy_helper.from_array(scale, "scale")],
    )
    opset = helper.make_opsetid("", 18)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=9).SerializeToString()
    compiled = clopt.compile(model, target=target, device=device)
    assert is_rounded(compiled.source)
    expected = np.clip(np.rint(x / scale), 0, 255).astype(np.uint8)
    np.testing.assert_array_equal(compiled.run([x])[0], expected)


def test_smooth_functions_are_left_to_the_device() -> None:
    """They cost what they did, and need no option."""
    nodes = [
        helper.make_node("Softmax", ["x"], ["a"]),
        helper.make_node("Sigmoid", ["a"], ["b"]),
        helper.make_node("LayerNormalization", ["b", "s"], ["y"]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 32])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 32])
    s = numpy_helper.from_array(np.ones(32, np.float32), "s")
    graph = helper.make_graph(nodes, "g", [x], [y], [s])
    opset = helper.make_opsetid("", 18)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=9).SerializeToString()
    for target in ("pocl", "generic-gpu", "adreno-740"):
        assert not is_rounded(clopt.compile(model, target=target).source)
