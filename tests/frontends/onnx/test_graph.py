"""Names, shapes, constants, functions and control flow of whole graphs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.parser import Parser

from clopt.dialects.nn import NN
from support.onnx.models import agree, load, model


def test_names_of_inputs_outputs_and_nodes():
    proto = model("float[2,3] image", "hidden = Relu(image) out = Exp(hidden)")
    proto.graph.node[0].name = "first"
    text = load(proto).text(locations=True)
    assert '@main(%image: tensor<2x3xf32> {nn.name = "image"}' in text
    assert '-> (tensor<2x3xf32> {nn.name = "out"})' in text
    assert "%hidden = nn.unary relu %image" in text
    assert text.count('loc("first")') == 1
    assert text.count('loc("Exp_1")') == 1


def test_printed_module_parses_again():
    ctx = Context()
    for dialect in (Builtin, Func, NN):
        ctx.load_dialect(dialect)
    weights = {"w": np.ones((4, 3, 3, 3), np.float32)}
    imported = load(model("float[1,3,8,8] x", "c = Conv(x, w) y = Relu(c)", 13, weights))
    again = Parser(ctx, imported.text(locations=True)).parse_module()
    again.verify()
    assert imported.module.is_structurally_equivalent(again)


def test_large_initializers_go_to_the_weights():
    weights = {"w": np.ones((4, 3, 9, 9), np.float32), "b": np.zeros(4, np.float32)}
    imported = load(model("float[1,3,9,9] x", "y = Conv(x, w, b)", 13, weights))
    (key,) = imported.weights.keys()
    assert imported.weights.get(key).shape == (4, 3, 9, 9)
    assert imported.weights.hint(key) == "w"
    assert f'#nn.weight<"{key}", "w">' in imported.text()


def test_external_data_is_mapped(tmp_path: Path):
    w = np.random.default_rng(0).standard_normal((64, 64), np.float32)
    proto = model("float[2,64] x", "y = MatMul(x, w)", constants={"w": w})
    onnx.save(proto, tmp_path / "m.onnx", save_as_external_data=True, size_threshold=0)
    imported = load(tmp_path / "m.onnx")
    (key,) = imported.weights.keys()
    array = imported.weights.get(key)
    assert isinstance(array.base if array.base is not None else array, np.memmap)
    np.testing.assert_array_equal(array, w)


def test_sources_of_every_kind(tmp_path: Path):
    proto = model("float[2] x", "y = Relu(x)")
    onnx.save(proto, tmp_path / "m.onnx")
    sources = (proto, proto.SerializeToString(), tmp_path / "m.onnx", str(tmp_path / "m.onnx"))
    assert len({load(source).text() for source in sources}) == 1


def test_dimensions_are_bound_by_name():
    proto = model("float[N,3,H] x, float[N,?] z", "y = Relu(x) r = Relu(z)")
    imported = load(proto, dims={"N": 2, "H": 5, "z.1": 7})
    assert [str(a.type) for a in imported.main.args] == ["tensor<2x3x5xf32>", "tensor<2x7xf32>"]


def test_shape_arithmetic_of_exporters_leaves_no_trace():
    body = """
        s = Shape(x)
        n = Gather(s, zero)
        h = Gather(s, two)
        w = Gather(s, three)
        area = Mul(h, w)
        n1 = Unsqueeze(n, axis)
        area1 = Unsqueeze(area, axis)
        half = Div(area1, two1)
        target = Concat<axis=0>(n1, minus, half)
        y = Reshape(x, target)
    """
    constants = {
        "zero": 0,
        "two": 2,
        "three": 3,
        "axis": [0],
        "minus": [-1],
        "two1": [2],
    }
    imported = agree(model("float[2,3,4,6] x", body, 13, constants))
    assert imported.ops() == ["reshape"]


@pytest.mark.parametrize("last", [-1, 1])
def test_halves_of_a_size_that_is_counted_from_the_last(last: int):
    """The size of an axis decides where slices end: `torch.chunk`, as TorchScript exports it."""
    body = """
        s = Shape(x)
        n = Gather(s, axis)
        more = Add(n, one)
        half = Div(more, two)
        whole = Mul(half, two)
        a = Slice(x, zero, half, axis)
        b = Slice(x, half, whole, axis)
        y = Mul(a, b)
    """
    constants = {"axis": [last], "zero": [0], "one": [1], "two": [2]}
    imported = agree(model("float[3,8] x", body, 18, constants))
    assert imported.ops() == ["slice", "slice", "binary mul"]


def test_masks_are_computed_at_import():
    body = """
        s = Shape(x)
        n = Gather(s, one)
        r = Range(zero, n, one)
        column = Unsqueeze(r, axis)
        below = LessOrEqual(r, column)
        y = Where(below, x, low)
    """
    constants = {"zero": 0, "one": 1, "axis": [1], "low": -1e9}
    assert agree(model("float[4,4] x", body, 16, constants)).ops() == ["where"]


def test_nodes_in_any_order_and_unused_nodes():
    proto = model("float[2] x", "a = Relu(x) unused = NonZero(x) y = Exp(a)")
    nodes = list(proto.graph.node)
    del proto.graph.node[:]
    proto.graph.node.extend(reversed(nodes))
    del proto.graph.output[0]
    proto.graph.output[0].name = "y"
    assert load(proto).ops() == ["unary relu", "unary exp"]


def test_a_constant_output():
    imported = load(model("float[2,3] x", "y = Shape(x)"))
    assert imported.run(np.zeros((2, 3), np.float32))[0].tolist() == [2, 3]


def test_functions_of_the_model_are_inlined():
    proto = onnx.parser.parse_model("""
        <ir_version: 9, opset_import: ["": 17, "own": 1]>
        g (float[2,3] x) => (float[2,3] y) { y = own.Scaled<factor=3.0>(x) }
        <domain: "own", opset_import: ["": 13]>
        Scaled<factor: float = 1.0>(a) => (c) {
            k = Constant<value_float: float = @factor>()
            b = Mul(a, k)
            c = Softmax(b)
        }
    """)
    proto.graph.node[0].name = "call"
    imported = agree(proto)
    assert imported.ops() == ["binary mul", "softmax"]
    assert 'loc("call/Softmax_2")' in imported.text(locations=True)


@pytest.mark.parametrize(
    ("inputs", "node", "opset"),
    [
        ("float[2,8,4,6] q, float[2,8,5,6] k, float[2,8,5,6] v", "y = Attention(q, k, v)", 23),
        (
            "float[2,3,4,8] x, float[4,4] c, float[4,4] s, int64[2,4] p",
            "y = RotaryEmbedding(x, c, s, p)",
            23,
        ),
        ("float[3,5] x, int64[3] t", 'y = SoftmaxCrossEntropyLoss<reduction="mean">(x, t)', 13),
        ("float[2,3] x, double[1] z", "y = CastLike(x, z)", 19),
    ],
)
def test_operators_that_onnx_defines_by_functions(inputs: str, node: str, opset: int):
    agree(model(inputs, node, opset))


@pytest.mark.parametrize("rows", [2, 3])
def test_if_takes_the_branch_its_constant_condition_says(rows: int):
    proto = onnx.parser.parse_model(f"""
        <ir_version: 9, opset_import: ["": 17]>
        g (float[{rows},3] x) => (float[{rows},3] y) {{
            s = Shape<start=0, end=1>(x)
            two = Constant<value_ints=[2]>()
            c = Equal(s, two)
            y = If (c) <
                then_branch = a () => (float[{rows},3] t) {{ t = Relu(x) }},
                else_branch = b () => (float[{rows},3] e) {{ e = Exp(x) }}
            >
        }}
    """)
    assert agree(proto).ops() == ["unary relu" if rows == 2 else "unary exp"]


LOOP = """
    <ir_version: 9, opset_import: ["": 17]>
    g (float[2] x) => (float[2] last, float[3,2] all) {
        n = Constant<value_int=3>()
        c = Constant<value = bool {1}>()
        last, all = Loop (n, c, x) <
            body = b (int64 i, bool going, float[2] a) => (bool more, float[2] next, float[2] row) {
                more = Identity(going)
                f = Cast<to=1>(i)
                next = Add(a, f)
                row = Mul(next, x)
            }
        >
    }
"""


def test_short_loop_is_unrolled():
    imported = agree(onnx.parser.parse_model(LOOP))
    assert imported.ops().count("binary mul") == 3
    assert imported.ops()[-1] == "concat"


def test_short_scan_is_unrolled():
    agree(
        onnx.parser.parse_model("""
        <ir_version: 9, opset_import: ["": 17]>
        g (float[2] x, float[3,2] rows) => (float[2] last, float[3,2] all) {
            last, all = Scan <
                num_scan_inputs = 1, scan_output_directions = [1],
                body = b (float[2] a, float[2] r) => (float[2] next, float[2] o) {
                    next = Add(a, r)
                    o = Identity(next)
                }
            > (x, rows)
        }
    """)
    )


@pytest.mark.parametrize("length", [2, 7])
def test_the_scan_of_opset_8_has_a_batch(length: int):
    agree(
        onnx.parser.parse_model(f"""
        <ir_version: 9, opset_import: ["": 8]>
        g (float[3,2] x, float[3,{length},2] a, float[3,{length}] b)
            => (float[3,2] last, float[3,{length},2] all)
        {{
            last, all = Scan <
                num_scan_inputs = 2, directions = [1, 0],
                body = body (float[2] s, float[2] r, float c) => (float[2] next, float[2] o) {{
                    scaled = Mul (r, c)
                    next = Sub (scaled, s)
                    o = Neg (next)
                }}
            > (, x, a, b)
        }}
    """)
    )


def test_element_types_of_initializers():
    for dtype in ("float16", "float64", "bool", "int8", "uint16", "uint64"):
        array = np.array([0, 1, 1, 0]).astype(dtype)
        proto = model("float[2] x", "y = Identity(c)", constants={"c": array})
        proto.graph.initializer[0].CopyFrom(numpy_helper.from_array(array, "c"))
        (value,) = load(proto).run(np.zeros(2, np.float32))
        assert value.dtype == array.dtype
        np.testing.assert_array_equal(value, array)


def test_tensors_without_elements_are_constants():
    body = "a, b = Split<axis=0>(x, s) y = Concat<axis=0>(b, a)"
    assert load(model("float[3] x", body, 13, {"s": [0, 3]})).ops() == []


def test_inputs_and_outputs_without_elements():
    imported = load(
        model(
            "float[2,3] x, float[0] z",
            "y = Slice(x, b, b) r = Concat<axis=0>(z, z)",
            constants={"b": [1]},
        )
    )
    y, r = imported.run(np.ones((2, 3), np.float32), np.ones(0, np.float32))
    assert (y.shape, r.shape) == ((0, 3), (0,))
