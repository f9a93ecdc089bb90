"""Small files that ask for large tensors, many operations or wrong elements are refused at once."""

from __future__ import annotations

import math

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper

from clopt.api import compile
from clopt.errors import CloptError
from support.limits import bounded
from support.onnx.models import agree, load, model

X = "float[1,4] x"
IMAGE = "float[1,1,8,8] x"
ONES = np.ones((1, 4), np.float32)
IMAGE_ONES = np.ones((1, 1, 8, 8), np.float32)
WINDOW = np.ones((1, 1, 3, 3), np.float32)
SCALES = [1.0, 1.0, 1e9, 1e9]
HUGE = 2**20
WIDE = f"float[{HUGE},1] x, float[1,{HUGE}] z"
FEW = f"float[4,{HUGE}] x"


def doubled(inputs: str, first: str) -> ModelProto:
    """Concatenations of a value with itself, forty times."""
    body = " ".join(
        f"x{i + 1} = Concat<axis=1>({first if i == 0 else f'x{i}'}, {first if i == 0 else f'x{i}'})"
        for i in range(40)
    )
    return model(inputs, body, constants={"c": ONES} if first == "c" else {})


TOO_LARGE = {
    "tile": model(X, "y = Tile(x, r)", constants={"r": [1, 6 * 10**9]}),
    "tile of a constant": model("", "y = Tile(c, r)", constants={"r": [1, 6 * 10**9], "c": ONES}),
    "pad": model(X, "y = Pad(x, p)", constants={"p": [0, 0, 0, 2**40]}),
    "doubled": doubled(X, "x"),
    "doubled constant": doubled("", "c"),
    "padded convolution": model(
        IMAGE, f"y = Conv<pads={[2**31] * 4}>(x, w)", constants={"w": WINDOW}
    ),
    "padded convolution of a constant": model(
        "", f"y = Conv<pads={[2**31] * 4}>(c, w)", constants={"w": WINDOW, "c": IMAGE_ONES}
    ),
    "padding between strides": model(
        IMAGE, f"y = Conv<pads={[HUGE] * 4}, strides={[HUGE] * 2}>(x, w)", constants={"w": WINDOW}
    ),
    "transposed convolution": model(
        IMAGE, f"y = ConvTranspose<strides={[2**31] * 2}>(x, w)", constants={"w": WINDOW}
    ),
    "transposed convolution that is cropped": model(
        IMAGE,
        f"y = ConvTranspose<strides={[HUGE] * 2}, pads={[7 * HUGE // 2] * 4}>(x, w)",
        constants={"w": WINDOW},
    ),
    "padded pool": model(
        IMAGE, f"y = AveragePool<kernel_shape={[HUGE] * 2}, pads={[HUGE - 1] * 4}>(x)"
    ),
    "resize": model(IMAGE, "y = Resize(x, , s)", constants={"s": SCALES}),
    "resize of a constant": model(
        "", "y = Resize(c, , s)", constants={"s": SCALES, "c": IMAGE_ONES}
    ),
    "upsample": model(IMAGE, "y = Upsample(x, s)", 9, {"s": SCALES}),
    "expand": model(X, "y = Expand(x, s)", constants={"s": [2**32, 2**32, 1, 1]}),
    "broadcast": model(WIDE, "y = Add(x, z)"),
    "where": model(WIDE + ", bool[1,1] c", "y = Where(c, x, z)"),
    "outer product": model(WIDE, "y = MatMul(x, z)"),
    "einsum": model(f"float[{HUGE}] x, float[{HUGE}] z", 'y = Einsum<equation="i,j->ij">(x, z)'),
    "gather": model(f"{FEW}, int64[{HUGE}] i", "y = Gather(x, i)"),
    "gather of slices": model(f"{FEW}, int64[{HUGE},1] i", "y = GatherND(x, i)"),
    "input": model(f"float[{2**32},{2**32}] x", "y = Relu(x)"),
    "empty input": model(f"float[0,{2**62},{2**62}] x", "y = Relu(x)"),
    "empty reshape": model(
        "float[0,3] x", "y = Reshape<allowzero=1>(x, s)", constants={"s": [0, 2**62, 2**62]}
    ),
}
"""Each has a value of more than 4 GiB, or more than a machine can count."""


@pytest.mark.parametrize("proto", TOO_LARGE.values(), ids=TOO_LARGE.keys())
def test_values_that_are_too_large(proto: ModelProto):
    with bounded(), pytest.raises(CloptError, match=r"is larger than the limit of 4 GiB"):
        compile(proto, target="pocl")


TOO_MUCH = {
    "one hot": model(
        "int64[2] x", "y = OneHot(x, d, v)", constants={"d": 2**40, "v": [0.0, 1.0]}
    ),
    "range": model("", "y = Range(a, b, c)", constants={"a": 0, "b": 2**62, "c": 1}),
    "filled shape": model("", "y = ConstantOfShape(s)", constants={"s": [2**32, 2**32]}),
    "empty filled shape": model(
        "", "y = ConstantOfShape(s)", constants={"s": [0, 2**62, 2**62]}
    ),
    "identity matrix": model(f"bool[{2**16},{2**16}] x", "y = EyeLike(x)"),
    "triangle": model(f"bool[{2**16},{2**16}] x", "y = Trilu(x)"),
    "antialiased resize": model(
        IMAGE, 'y = Resize<mode="linear", antialias=1>(x, , s)', constants={"s": SCALES}
    ),
    "unpooled": model(
        "float[1,1,4,4] x, int64[1,1,4,4] i",
        f"y = MaxUnpool<kernel_shape={[HUGE] * 2}, strides={[HUGE] * 2}>(x, i)",
    ),
    "many": model("", " ".join(f"y{i} = Range(a, b, c)" for i in range(100)), 18, {
        "a": 0, "b": 2**22, "c": 1,
    }),
}  # fmt: skip
"""Each computes more than a compiler should, some of it in many small parts."""


@pytest.mark.parametrize("proto", TOO_MUCH.values(), ids=TOO_MUCH.keys())
def test_constants_that_are_too_large(proto: ModelProto):
    with bounded(), pytest.raises(CloptError, match="exceed the limit of 1 GiB"):
        compile(proto, target="pocl")


NO_NUMBERS = {
    "infinite scale": model(
        IMAGE, "y = Resize(x, , s)", constants={"s": [1.0, 1.0, math.inf, 1.0]}
    ),
    "undefined scale": model(
        IMAGE, "y = Resize(x, , s)", constants={"s": [1.0, 1.0, math.nan, 1.0]}
    ),
    "infinite range": model(
        "", "y = Range(a, b, c)", constants={"a": 0.0, "b": math.inf, "c": 1.0}
    ),
    "undefined range": model(
        "", "y = Range(a, b, c)", constants={"a": 0.0, "b": math.nan, "c": 1.0}
    ),
}


@pytest.mark.parametrize("proto", NO_NUMBERS.values(), ids=NO_NUMBERS.keys())
def test_numbers_that_are_none(proto: ModelProto):
    with pytest.raises(CloptError, match="must be finite"):
        load(proto)


def test_shapes_that_are_no_whole_numbers():
    proto = model(X, "y = Expand(x, s)", constants={"s": [math.nan, 4.0]})
    with pytest.raises(CloptError, match=r"its shape \(input 1\) must be whole numbers"):
        load(proto)


def test_convolutions_of_constants_are_left_to_run_time():
    """Its 2 billion products would take the compiler longer than any device."""
    constants = {"w": np.ones((1, 1, 2**15), np.float32), "c": np.ones((1, 1, 2**16), np.float32)}
    with bounded():
        assert load(model("", "y = Conv(c, w)", constants=constants)).ops() == ["conv"]


def test_resizes_of_constants_are_left_to_run_time():
    """The matrix of its weights has 2.4 billion elements."""
    constants = {"s": [1.0, 1.0, 1.0, 1.5], "c": np.ones((1, 1, 1, 40000), np.float32)}
    proto = model("", 'y = Resize<mode="linear">(c, , s)', constants=constants)
    with bounded():
        assert load(proto).ops() == ["resize"]


def nested_loops(depth: int) -> onnx.GraphProto:
    """A body that runs a thousand times another one, `depth` of them in each other."""
    if depth:
        work = helper.make_node("Loop", ["n", "going", "v"], ["r"], body=nested_loops(depth - 1))
    else:
        work = helper.make_node("Relu", ["v"], ["r"])
    inputs = [("i", TensorProto.INT64), ("going", TensorProto.BOOL), ("v", TensorProto.FLOAT)]
    outputs = [("more", TensorProto.BOOL), ("r", TensorProto.FLOAT)]
    return helper.make_graph(
        [helper.make_node("Identity", ["going"], ["more"]), work],
        "body",
        [helper.make_tensor_value_info(name, type, None) for name, type in inputs],
        [helper.make_tensor_value_info(name, type, None) for name, type in outputs],
    )


def looping(depth: int, trips: int) -> ModelProto:
    """`nested_loops` as a model."""
    proto = model(X, "y = Relu(x)", 21, {"n": trips})
    proto.graph.node[0].CopyFrom(
        helper.make_node("Loop", ["n", "", "x"], ["y"], body=nested_loops(depth))
    )
    return proto


def doubling_functions(count: int) -> ModelProto:
    """Functions of which each calls the one before it twice."""
    proto = model(X, "y = own.f(x)", 21, domains={"own": 1})
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("own", 1)]
    for i in range(count):
        callee, domain = (f"f{i - 1}", "own") if i else ("Identity", "")
        nodes = [
            helper.make_node(callee, [a], [b], domain=domain) for a, b in (("a", "t"), ("t", "b"))
        ]
        name = "f" if i == count - 1 else f"f{i}"
        proto.functions.append(helper.make_function("own", name, ["a"], ["b"], nodes, opsets))
    return proto


@pytest.mark.parametrize(
    "proto", [looping(4, 1000), doubling_functions(30)], ids=["loops", "functions"]
)
def test_operations_without_end(proto: ModelProto, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("clopt.frontends.builder.MAX_STEPS", 2000)
    with bounded(), pytest.raises(CloptError, match="the model has more than 2000 operations"):
        load(proto)


def test_nested_loops_reuse_names():
    """A name of a body may be that of a result outside of it: onnxruntime refuses, we need not."""
    x = np.array([[-1, 2, -3, 4]], np.float32)
    (y,) = load(looping(1, 3)).run(x)
    np.testing.assert_array_equal(y, np.maximum(x, 0))


OUT_OF_RANGE = {
    "gather": model(X, "y = Gather<axis=1>(x, i)", constants={"i": [3, 4]}),
    "gather from the end": model(X, "y = Gather<axis=1>(x, i)", constants={"i": [-5]}),
    "gather_elements": model(X, "y = GatherElements<axis=1>(x, i)", constants={"i": [[4]]}),
    "gather_nd": model(X, "y = GatherND(x, i)", constants={"i": [[0, 3], [0, 4]]}),
    "scatter_elements": model(
        X, "y = ScatterElements<axis=1>(x, i, u)", constants={"i": [[4]], "u": [[1.0]]}
    ),
    "scatter_nd": model(X, "y = ScatterND(x, i, u)", constants={"i": [[0, -5]], "u": [1.0]}),
}


@pytest.mark.parametrize("proto", OUT_OF_RANGE.values(), ids=OUT_OF_RANGE.keys())
def test_constant_indices_out_of_range(proto: ModelProto):
    with pytest.raises(CloptError, match=r"the index (4|-5) is outside a dimension of 4 elements"):
        load(proto)


def test_constant_indices_at_the_ends():
    agree(model(X, "y = Gather<axis=1>(x, i)", constants={"i": [-4, 3]}))
    agree(model(X, "y = GatherND(x, i)", constants={"i": [[-1, -4], [0, 3]]}))


def test_weights_of_vgg_19():
    """The first of its fully connected layers, as onnx's light models write it, has 392 MiB."""
    body = "w = ConstantOfShape(s) y = Gemm<transB=1>(x, w, b)"
    constants = {"s": [4096, 25088], "b": np.zeros(4096, np.float32)}
    proto = model("float[1,25088] x", body, 9, constants)
    with bounded():
        assert load(proto).ops() == ["matmul", "binary add"]
