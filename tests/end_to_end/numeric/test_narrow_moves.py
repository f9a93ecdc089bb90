"""Operators that move elements of types that tensors only store, against ONNX's reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import clopt
from support.onnx.narrow import DTYPES, bits, codes, model
from support.onnx.single_node import by_onnx

pytestmark = pytest.mark.in_turns

SHAPE = (6, 8)
CONSTANTS: dict[str, Any] = {
    "pads": [1, 0, 2, 1],
    "places": [[0, 3], [7, 1]],
    "rows": [[0], [4]],
    "columns": [3, -1, 0],
    "starts": [5, 7],
    "ends": [0, 1],
    "axes": [0, 1],
    "steps": [-2, -3],
}
MOVES: dict[str, tuple[list[str], dict[str, Any]]] = {
    "Pad": (["x", "pads", "number"], {}),
    "ScatterElements": (["x", "places", "square"], {"axis": 1}),
    "ScatterND": (["x", "rows", "pair"], {}),
    "Gather": (["x", "columns"], {"axis": 1}),
    "Concat": (["x", "pair", "x"], {"axis": 0}),
    "Slice": (["x", "starts", "ends", "axes", "steps"], {}),
    "EyeLike": (["x"], {"k": 1}),
}


@pytest.mark.by_default(cases=1)
@pytest.mark.parametrize(
    "name", ["BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E5M2FNUZ", "FLOAT4E2M1", "INT4"]
)
def test_moves(device: str, name: str) -> None:
    """The bits are those of the reference, also of NaNs, infinities and subnormal numbers."""
    every = np.random.default_rng(0).permutation(codes(name))
    weights = {key: np.array(value) for key, value in CONSTANTS.items()}
    weights |= {
        "number": every[:1].reshape(()),
        "square": np.resize(every[1:], (2, 2)),
        "pair": np.resize(every[5:], (2, SHAPE[1])),
    }
    nodes = [
        helper.make_node(kind, inputs, [kind], **attributes)
        for kind, (inputs, attributes) in MOVES.items()
    ]
    initializers = [numpy_helper.from_array(array, key) for key, array in weights.items()]
    made = model(nodes, [("x", name, SHAPE)], list(MOVES), initializers)
    x = np.resize(every[7:], SHAPE)
    results = clopt.compile(made, device=device).run([x])
    for result, wanted in zip(results, by_onnx(made, {"x": x}), strict=True):
        assert result.dtype == wanted.dtype
        assert np.array_equal(bits(result), bits(np.ascontiguousarray(wanted)))


@pytest.mark.by_default(cases=1)
@pytest.mark.parametrize("kind", ["Bernoulli", "EyeLike", "RandomNormalLike", "RandomUniformLike"])
def test_the_type_of_the_input_is_that_of_the_result(device: str, kind: str) -> None:
    """Unless the attribute `dtype` is set, which ONNX's schema does not tie to the input."""
    seed = {} if kind == "EyeLike" else {"seed": 1.0}
    made = model([helper.make_node(kind, ["x"], ["y"], **seed)], [("x", "BFLOAT16", SHAPE)], "y")
    x = np.full(SHAPE, 0.5, DTYPES["BFLOAT16"])
    (y,), (wanted,) = clopt.compile(made, device=device).run([x]), by_onnx(made, {"x": x})
    assert y.dtype == wanted.dtype == x.dtype
    # The reference rounds some numbers twice: to f32 or f64 first.
    np.testing.assert_allclose(y.astype("f4"), wanted.astype("f4"), rtol=2**-7)


@pytest.mark.by_default(cases=1)
@pytest.mark.parametrize(("given", "asked"), [("BFLOAT16", "FLOAT"), ("FLOAT", "BFLOAT16")])
def test_an_identity_of_another_type(device: str, given: str, asked: str) -> None:
    to = TensorProto.DataType.Value(asked)
    made = model([helper.make_node("EyeLike", ["x"], ["y"], dtype=to)], [("x", given, SHAPE)], "y")
    (y,) = clopt.compile(made, device=device).run(
        {"x": np.zeros(SHAPE, DTYPES.get(given, np.float32))}
    )
    assert y.dtype == helper.tensor_dtype_to_np_dtype(to)
    assert np.array_equal(y.astype("f4"), np.eye(*SHAPE))
