"""What models with open sizes refuse, and what they say about themselves."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest

import clopt
from clopt.errors import CloptWarning
from support.onnx.models import model

pytestmark = pytest.mark.filterwarnings("ignore::clopt.errors.CloptWarning")


def floats(*shape: int) -> np.ndarray:
    return np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)


SCALED = model("float[n,3] x, float[n,m] y", "a = Relu(x) z = Concat<axis=1>(a, y)")
RESHAPED = model("float[2,6] x, int64[2] s", "y = Reshape(x, s)")


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


OPEN = (
    "The model has one program for each size of its inputs, rounded up where possible: the "
    "dimensions n (axis 0 of 'x' and 'y'), m (axis 1 of 'y') are not fixed; bind with dims={\"n\": "
    '1, "m": ...}, or take the program for some inputs by model.for_inputs(inputs).'
)
NEEDS_ONE_PROGRAM: dict[str, Callable[[clopt.CompiledModel], object]] = {
    "contents": lambda m: m.contents,
    "executable": lambda m: m.executable,
    "source": lambda m: m.source,
    "memory": lambda m: m.memory,
    "report": lambda m: m.report(),
    "describe": lambda m: m.describe(),
    "plan": lambda m: m.plan,
    "device_name": lambda m: m.device_name,
    "pickle": pickle.dumps,
    "copy": copy.copy,
}


@pytest.mark.parametrize("name", NEEDS_ONE_PROGRAM)
def test_what_needs_one_program_names_the_remedies(name: str):
    compiled = clopt.compile(SCALED, target="pocl")
    with pytest.raises(clopt.CloptError) as refused:
        NEEDS_ONE_PROGRAM[name](compiled)
    assert str(refused.value) == OPEN


def test_what_needs_one_value_names_the_inputs():
    compiled = clopt.compile(RESHAPED, target="pocl")
    with pytest.raises(clopt.CloptError) as refused:
        compiled.save_c("folder")
    assert str(refused.value) == (
        "The model has one program for each value of 's', which decides shapes or branches; use "
        "constants instead, or take the program for some inputs by model.for_inputs(inputs)."
    )


def test_a_dimension_with_two_sizes():
    compiled = clopt.compile(SCALED, target="pocl")
    with pytest.raises(clopt.CloptError) as refused:
        compiled.for_inputs({"x": floats(2, 3), "y": floats(3, 1)})
    assert str(refused.value) == (
        'The dimension n is 2 in "x" and 3 in "y"; pass arrays of the same size.'
    )


WRONG: dict[str, tuple[Any, str]] = {
    "rank": ([floats(3), floats(1, 1)], 'array for "x" has the shape 3, but the model takes nx3'),
    "size": ([floats(1, 4), floats(1, 1)], "has the shape 1x4, but the model takes nx3"),
    "type": ([np.zeros((1, 3)), floats(1, 1)], "has the type float64, but the model has float32"),
    "missing": ({"x": floats(1, 3)}, 'The input "y" is missing'),
    "unknown": ({"w": floats(1, 3)}, 'has no input called "w"'),
    "number": ([floats(1, 3)], "The model has 2 inputs"),
    "no list": (floats(2, 3), "must be a mapping of names to arrays or a list"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_inputs_are_refused_before_a_compilation(name: str):
    given, sentence = WRONG[name]
    compiled = clopt.compile(SCALED, target="pocl")
    with pytest.raises(clopt.CloptError, match=sentence):
        compiled.for_inputs(given)
    assert "0 programs" in repr(compiled)


def test_a_wrong_value_is_refused_by_its_node():
    compiled = clopt.compile(RESHAPED, target="pocl")
    with pytest.raises(clopt.CloptError, match=r"Reshape_0.* shape \[5, 5\] has 25 elements"):
        compiled.for_inputs([floats(2, 6), ints(5, 5)])
    assert compiled.for_inputs([floats(2, 6), ints(6, 2)]).outputs[0].shape == (6, 2)


def test_an_unsupported_operator_is_refused_at_once():
    with pytest.raises(clopt.CloptError, match="2 nodes cannot be compiled"):
        clopt.compile(model("float[n,3] x", "a = Frobnicate(x) y = Frobnicate(a)"), target="pocl")


def test_large_inputs_decide_no_shapes():
    """A program for each image or token list would be compiled at each inference."""
    body = "m = ReduceMax<keepdims=0>(x) s = Unsqueeze(m, zero) y = ConstantOfShape(s)"
    assert clopt.compile(model("int64[64] x", body, constants={"zero": [0]}), target="pocl").inputs
    with pytest.raises(clopt.CloptError, match="is computed at run time but must be constant"):
        clopt.compile(model("int64[65] x", body, constants={"zero": [0]}), target="pocl")


def test_the_first_program_comes_with_a_notice():
    compiled = clopt.compile(SCALED, target="pocl")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for n in (1, 2):
            compiled.for_inputs([floats(n, 3), floats(n, 1)])
    assert [(each.category, str(each.message)) for each in told] == [
        (
            CloptWarning,
            "clopt compiles the model for each new size of its inputs, rounded up where possible: "
            "the dimensions n (axis 0 of 'x' and 'y'), m (axis 1 of 'y') are not fixed; bind with "
            'dims={"n": 1, "m": ...}.',
        )
    ]
    assert told[0].filename == __file__


def test_declared_inputs_and_outputs():
    proto = onnx.parser.parse_model("""
        <ir_version: 9, opset_import: ["": 17]>
        g (float[n,3] x, int64[k] s, float[2,?] z) => (float[p,4] a, float[n,3] b, float c) {
            a = Reshape(x, s)
            b = Relu(x)
            c = ReduceSum<keepdims=0>(z)
        }
    """)
    reshaped, _, _ = proto.graph.output
    reshaped.type.tensor_type.ClearField("shape")
    compiled = clopt.compile(proto, target="pocl")
    assert [*map(str, compiled.inputs)] == [
        "x: nx3 float32",
        "s: k int64",
        "z: 2xz.1 float32",
    ]
    assert [*map(str, compiled.outputs)] == [
        "a: of any shape float32",
        "b: nx3 float32",
        "c: scalar float32",
    ]
    assert [port.shape for port in compiled.inputs] == [(-1, 3), (-1,), (2, -1)]
    assert compiled.inputs[2].symbols == ("", "z.1")
