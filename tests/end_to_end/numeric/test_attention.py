"""Attention as one kernel, on every runtime, against double precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

import clopt

Floats = NDArray[np.floating]

# Queries [..., Q, D], keys [..., K, D], values [..., K, N]: rests of vectors in each extent, keys
# that heads share, other values than keys, few keys, many.
SHAPES = [
    ((1, 3, 37, 64), (1, 3, 37, 64), (1, 3, 37, 64)),
    ((2, 2, 64, 80), (2, 2, 77, 80), (2, 2, 77, 80)),
    ((2, 3, 17, 5), (2, 1, 50, 5), (2, 1, 50, 20)),
    ((33, 32), (2, 32), (2, 7)),
    ((16, 8), (1500, 8), (1500, 40)),
]


def run(
    device: str,
    nodes: list[NodeProto],
    inputs: Mapping[str, Floats],
    constants: Sequence[TensorProto] = (),
    **facts: int,
) -> Floats:
    """The result `y` of the nodes, which one kernel computes."""
    made = [helper.make_tensor_value_info(n, TensorProto.FLOAT, x.shape) for n, x in inputs.items()]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "attention", made, [result], [*CONSTANTS, *constants])
    opset = helper.make_opsetid("", 17)
    model: ModelProto = helper.make_model(graph, opset_imports=[opset], ir_version=9)
    compiled = clopt.compile(model, device=device, **facts)
    assert compiled.source.count("__kernel") == 1, "all is one kernel"
    assert "float weights[" in compiled.source, "scores stay in the memory of a work-item"
    (found,) = compiled.run(inputs)
    return found


CONSTANTS = [
    numpy_helper.from_array(np.array(value, dtype), name)
    for name, value, dtype in (
        ("scale", 0.25, np.float32),
        ("least", -3e38, np.float32),
        ("causal", np.triu(np.full((64, 77), -np.inf), 1), np.float32),
        ("inside", np.tri(64, 77) != 0, np.bool_),
    )
]


def softmax(x: Floats) -> Floats:
    weights = np.exp(x - x.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def arrays(*shapes: tuple[int, ...]) -> list[Floats]:
    rng = np.random.default_rng(9)
    return [rng.normal(size=shape).astype(np.float32) for shape in shapes]


def check(found: Floats, expected: Floats) -> None:
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6)


def product(q: Floats, k: Floats) -> Floats:
    return q.astype(np.float64) @ k.astype(np.float64).swapaxes(-1, -2)


def turned(rank: int) -> NodeProto:
    """The transposition of the keys."""
    perm = (*range(rank - 2), rank - 1, rank - 2)
    return helper.make_node("Transpose", ["k"], ["kt"], perm=perm)


@pytest.mark.in_turns
@pytest.mark.usefixtures("quick_builds")
@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize("shapes", SHAPES)
def test_shapes(device: str, shapes: tuple[tuple[int, ...], ...], lanes: int) -> None:
    q, k, v = arrays(*shapes)
    nodes = [
        turned(k.ndim),
        helper.make_node("MatMul", ["q", "kt"], ["s"]),
        helper.make_node("Mul", ["s", "scale"], ["t"]),
        helper.make_node("Softmax", ["t"], ["w"], axis=-1),
        helper.make_node("MatMul", ["w", "v"], ["y"]),
    ]
    found = run(device, nodes, {"q": q, "k": k, "v": v}, vector_width=lanes)
    check(found, softmax(product(q, k) * 0.25) @ v)


@pytest.mark.by_default(cases=1)
@pytest.mark.parametrize("mask", ["causal", "choice", "bias", "padding"])
def test_masks(device: str, mask: str) -> None:
    """A mask of each form, in queries by keys, or for each key."""
    (q, k, v), (bias, padding) = arrays(*SHAPES[1]), arrays((2, 64, 77), (2, 1, 1, 77))
    added = {"causal": "causal", "bias": "bias", "padding": "padding"}
    nodes = [
        turned(4),
        helper.make_node("MatMul", ["q", "kt"], ["p"]),
        helper.make_node("Mul", ["scale", "p"], ["s"]),
        helper.make_node("Where", ["inside", "s", "least"], ["t"])
        if mask == "choice"
        else helper.make_node("Add", [added[mask], "s"], ["t"]),
        helper.make_node("Softmax", ["t"], ["w"], axis=-1),
        helper.make_node("MatMul", ["w", "v"], ["y"]),
    ]
    inputs = {"q": q, "k": k, "v": v}
    scores = product(q, k) * 0.25
    match mask:
        case "bias":
            inputs["bias"], scores = bias, scores + bias
        case "padding":
            inputs["padding"], scores = padding, scores + padding
        case _:
            scores = np.where(np.tri(64, 77) != 0, scores, -np.inf)
    check(run(device, nodes, inputs, vector_width=16), softmax(scores) @ v)


def test_parts_of_a_projection(device: str) -> None:
    """Queries, keys and values are parts of one tensor, and heads come together again."""
    (x,) = arrays((2, 19, 3, 4, 8))
    nodes = [
        helper.make_node("Transpose", ["x"], ["p"], perm=[2, 0, 3, 1, 4]),
        helper.make_node("Split", ["p"], ["q3", "k3", "v3"], axis=0),
        *(helper.make_node("Squeeze", [f"{n}3", "zero"], [n]) for n in "qkv"),
        turned(4),
        helper.make_node("MatMul", ["q", "kt"], ["s"]),
        helper.make_node("Softmax", ["s"], ["w"], axis=-1),
        helper.make_node("MatMul", ["w", "v"], ["o"]),
        helper.make_node("Transpose", ["o"], ["m"], perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", ["m", "shape"], ["y"]),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)]
    constants = [
        numpy_helper.from_array(np.array([0]), "zero"),
        numpy_helper.from_array(np.array([2, 19, 32]), "shape"),
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "heads", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=9)
    compiled = clopt.compile(model, device=device, vector_width=8)
    assert compiled.source.count("__kernel") == 2, "one moves the heads, one is attention"
    (found,) = compiled.run({"x": x})
    q, k, v = (part[:, :, 0].transpose(0, 2, 1, 3) for part in np.split(x, 3, axis=2))
    expected = (softmax(product(q, k)) @ v).transpose(0, 2, 1, 3).reshape(2, 19, 32)
    check(found, expected)


@pytest.mark.parametrize("keys", [[0, 2, 1, 3], [0, 2, 3, 1]])
def test_parts_of_rows(device: str, keys: list[int]) -> None:
    """Queries, keys and values are parts of each row, and the kernel finds their heads there."""
    (x,) = arrays((2, 19, 3 * 4 * 8))
    nodes = [
        helper.make_node("Split", ["x"], ["q1", "k1", "v1"], axis=-1),
        *(helper.make_node("Reshape", [f"{n}1", "heads"], [f"{n}2"]) for n in "qkv"),
        helper.make_node("Transpose", ["q2"], ["q"], perm=[0, 2, 1, 3]),
        helper.make_node("Transpose", ["k2"], ["k"], perm=keys),
        helper.make_node("Transpose", ["v2"], ["v"], perm=[0, 2, 1, 3]),
        *([] if keys[-1] == 1 else [turned(4)]),
        helper.make_node("MatMul", ["q", "k" if keys[-1] == 1 else "kt"], ["s"]),
        helper.make_node("Softmax", ["s"], ["w"], axis=-1),
        helper.make_node("MatMul", ["w", "v"], ["y"]),
    ]
    heads = [numpy_helper.from_array(np.array([2, 19, 4, 8]), "heads")]
    found = run(device, nodes, {"x": x}, heads, vector_width=8)
    parts = [part.reshape(2, 19, 4, 8) for part in np.split(x, 3, axis=-1)]
    q, k, v = (part.transpose(0, 2, 1, 3) for part in parts)
    check(found, softmax(product(q, k)) @ v)


def test_more_than_the_cache_stays_apart(device: str) -> None:
    q, k, v = arrays((16, 8), (600, 8), (600, 8))
    nodes = [
        turned(2),
        helper.make_node("MatMul", ["q", "kt"], ["s"]),
        helper.make_node("Softmax", ["s"], ["w"], axis=-1),
        helper.make_node("MatMul", ["w", "v"], ["y"]),
    ]
    with pytest.raises(AssertionError, match="one kernel"):
        run(device, nodes, {"q": q, "k": k, "v": v}, l2_cache_bytes=32768)
