"""Bad and unsupported models are refused in one sentence."""

from __future__ import annotations

import re

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from clopt.errors import CloptError
from clopt.messages.open_dimensions import OpenValuesError
from support.onnx.models import load, model

X = "float[2,3] x"
MEL = {"b": 8, "d": 16, "r": 8000, "l": 0.0}
TRAINING = {"ai.onnx.preview.training": 1}

SENTENCES = {
    "unknown operator": (
        model(X, "y = Frobnicate(x)"),
        "node 'Frobnicate_0' (Frobnicate): opset 18 has no operator Frobnicate",
    ),
    "newer operator": (
        model(X, "y = Gelu(x)", 13),
        "node 'Gelu_0' (Gelu): opset 13 has no operator Gelu",
    ),
    "unsupported operator": (
        model(X, "y = MaxRoiPool(x, x)"),
        "node 'MaxRoiPool_0' (MaxRoiPool): the operator MaxRoiPool is not supported",
    ),
    "old operator": (
        model(X, "y = Upsample(x, s)", 10, {"s": [1.0, 2.0]}),
        "opset 10 has no Upsample; convert it to Resize",
    ),
    "too old operator": (
        model(X, "y = Pad<paddings=[0,0,1,1]>(x)", 1),
        "Pad of opset 1 is too old; the oldest supported opset is 2",
    ),
    "unknown domain": (
        model(X, "y = own.Relu(x)"),
        "the model does not import the domain 'own'",
    ),
    "unknown operator of a domain": (
        model(X, "y = own.Relu(x)", domains={"own": 3}),
        "opset 3 of the domain 'own' has no operator Relu",
    ),
    "layout of one processor": (
        model(
            "float[1,8,4,4] x",
            "y = com.microsoft.nchwc.ReorderInput(x)",
            domains={"com.microsoft.nchwc": 1},
        ),
        "is not in the file; optimise the model at the level ORT_ENABLE_EXTENDED",
    ),
    "unread attribute": (
        model(X, "y = Relu<slope=1.0>(x)"),
        "Relu of opset 18 has no attribute 'slope'",
    ),
    "attribute of another type": (
        model(X, "y = Flatten<axis=1.5>(x)"),
        "the attribute 'axis' has the wrong type",
    ),
    "missing attribute": (
        model(X, "y = Concat(x, x)"),
        "the attribute 'axis' is missing",
    ),
    "missing input": (
        model(X, "y = Where(x, , x)"),
        "node 'Where_0' (Where): input 1 is missing",
    ),
    "too many inputs": (
        model(X, "y = Relu(x, x)"),
        "has 2 inputs; expected 1",
    ),
    "undefined name": (
        model(X, "y = Add(x, z)"),
        "an input is 'z', which no node of the graph computes",
    ),
    "name defined twice": (
        model(X, "y = Relu(x) y = Exp(x)"),
        "the name 'y' is defined twice",
    ),
    "unsupported output": (
        model(X, "y, a, b, c = BatchNormalization(x, s, s, s, s)", 13, {"s": [1.0, 2.0, 3.0]}),
        "computes batch statistics; export the model for inference",
    ),
    "symbolic dimension": (
        model("float[N,3] image", "y = Relu(image)"),
        "the dimension N (axis 0 of 'image') is not fixed; bind with dims={\"N\": 1}.",
    ),
    "dimension without a name": (
        model("float[2,?] image", "y = Relu(image)"),
        'bind with dims={"image.1": ...}.',
    ),
    "shape computed from data": (
        model("float[2,3] x, int64[2] s", "y = Reshape(x, s)"),
        "its shape (input 1) is computed at run time but must be constant",
    ),
    "elements chosen by data": (
        model("float[4] x, bool[4] c", "y = Compress(x, c)"),
        "the size of its result depends on run-time values",
    ),
    "too many boxes": (
        model(
            "float[1,2000,4] x, float[1,2,2000] c",
            "y = NonMaxSuppression(x, c, m)",
            constants={"m": 1025},
        ),
        "selects up to 1025 boxes of each class, but at most 1024 are supported; reduce "
        "max_output_boxes_per_class",
    ),
    "boxes without scores": (
        model("float[1,3,4] x, float[1,2,4] c", "y = NonMaxSuppression(x, c)"),
        "[1, 3, 4] boxes and [1, 2, 4] scores do not match",
    ),
    "mismatched shapes": (
        model("float[2,3] a, float[4,3] b", "y = Add(a, b)"),
        "node 'Add_0' (Add): shapes 2x3 and 4x3 do not broadcast",
    ),
    "mismatched types": (
        model("float[2] a, int32[2] b", "y = Add(a, b)"),
        "node 'Add_0' (Add): element types f32 and i32 differ",
    ),
    "bad reshape": (
        model(X, "y = Reshape(x, s)", constants={"s": [4, -1]}),
        "cannot reshape [2, 3] to [4, -1]",
    ),
    "axis out of range": (
        model(X, "y = Softmax<axis=2>(x)"),
        "axis 2 is outside a tensor of rank 2",
    ),
    "antialias": (
        model("float[1,1,4,4] x", "y = Resize<antialias=1>(x, , s)", constants={"s": [1.0] * 4}),
        "antialias",
    ),
    "random integers": (
        model(X, "y = RandomNormalLike<dtype=6>(x)"),
        "draws numbers of int32; draw float16, float32 or float64 and cast them",
    ),
    "old training": (
        model(X, "y = Dropout(x)", 6),
        "drops elements at random (is_test = 0)",
    ),
    "matrices that are not square": (
        model(X, "y = Det(x)"),
        "its input must hold square matrices of 1 to 64 rows",
    ),
    "mel bins beyond the spectrum": (
        model(X, "y = MelWeightMatrix(b, d, r, l, h)", 17, MEL | {"h": 16000.0}),
        "its edges, 0.0 to 16000.0 Hz, must rise and stay below 4000 Hz",
    ),
    "unequal states": (
        model(
            "float r, int64 t, float[2] x",
            "y = ai.onnx.preview.training.Adagrad(r, t, x, x)",
            domains=TRAINING,
        ),
        "has 2 tensors, gradients and states; each tensor has 3",
    ),
    "string": (
        model("string[2] x", "y = Identity(x)"),
        "the input 'x' has the element type string, which is not supported",
    ),
    "float8e8m0": (
        model("float8e8m0[2] x", "y = Identity(x)", 24),
        "the input 'x' has the element type float8e8m0",
    ),
    "float8e8m0 result": (
        model(X, "y = Cast<to=24>(x)", 24),
        "node 'Cast_0' (Cast): its result has the element type float8e8m0",
    ),
    "open sequence": (
        model("seq(float[2]) x, optional(float[2]) o", "y = Identity(x)"),
        "the lengths of 'x' (sequence) and 'o' (optional) are not fixed; bind with "
        'dims={"x": 2, "o": 1}.',
    ),
    "open sequence of any rank": (
        model("seq(float[]) x", "y = Identity(x)"),
        "the length of 'x' (sequence) is not fixed, and the elements of 'x' have no rank; export "
        "the model with shapes, or run it in Python.",
    ),
    "operator besides an open sequence": (
        model("seq(float[2]) x", "y = StringSplit(x)", 20),
        "node 'StringSplit_0' (StringSplit)",
    ),
    "sequence of strings": (
        model("seq(string[2]) x", "y = Identity(x)"),
        "the input 'x' has the element type string",
    ),
    "map": (
        model("map(int64, float[2]) x", "y = Identity(x)"),
        "the input 'x' has a map type; only tensors, sequences and optionals of tensors",
    ),
    "transposed convolution that does not reach its size": (
        model(
            "float[1,1,12] x, float[1,1,1] w",
            'y = ConvTranspose<auto_pad="SAME_UPPER", strides=[2]>(x, w)',
        ),
        "SAME_UPPER requires the size [24], but the kernel covers only [23]; give output_shape",
    ),
    "nothing computed": (
        model(X, ""),
        "computes nothing: its graph has no output",
    ),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_refused(name: str):
    proto, sentence = SENTENCES[name]
    with pytest.raises(CloptError, match=re.escape(sentence)) as caught:
        load(proto)
    assert str(caught.value).rstrip().endswith((".", ")"))
    assert "\n" not in str(caught.value)


def test_cycle_names_its_nodes():
    proto = model(X, "a = Add(x, c) b = Relu(a) c = Exp(b) y = Relu(c)")
    with pytest.raises(CloptError, match=r"a cycle through .*'Add_0'.*; a graph must be acyclic"):
        load(proto)


def test_function_that_calls_itself():
    proto = onnx.parser.parse_model("""
        <ir_version: 9, opset_import: ["": 17, "own": 1]>
        g (float[2] x) => (float[2] y) { y = own.F(x) }
        <domain: "own", opset_import: ["": 17, "own": 1]> F (a) => (b) { b = own.F(a) }
    """)
    with pytest.raises(CloptError, match="the function F calls itself"):
        load(proto)


def test_unknown_dimension_lists_those_there_are():
    proto = model("float[N,M] x", "y = Relu(x)")
    with pytest.raises(CloptError, match="no dimension 'K' to bind; it has: N, M"):
        load(proto, dims={"N": 1, "M": 1, "K": 1})


def test_missing_opset():
    proto = model(X, "y = Relu(x)")
    del proto.opset_import[:]
    with pytest.raises(CloptError, match="declares no ONNX opset"):
        load(proto)


def test_future_opset():
    with pytest.raises(
        CloptError, match=r"uses ONNX opset 999, but the installed onnx supports at most \d+"
    ):
        load(model(X, "y = Relu(x)", 999))


def test_endless_loop():
    proto = onnx.parser.parse_model("""
        <ir_version: 9, opset_import: ["": 17]>
        g (float[2] x) => (float[2] y) {
            c = Constant<value = bool {1}>()
            y = Loop (, c, x) <
                body = b (int64 i, bool going, float[2] a) => (bool more, float[2] next) {
                    more = Identity(going)
                    next = Add(a, a)
                }
            >
        }
    """)
    with pytest.raises(CloptError, match="runs more than 1024 iterations"):
        load(proto)


def test_names_that_are_not_utf8():
    data = model(X, "hidden = Relu(x) y = Exp(hidden)").SerializeToString()
    with pytest.raises(CloptError, match="a name in it is not UTF-8"):
        load(data.replace(b"hidden", b"\xff\xfeddd!"))


def test_recurrent_too_long():
    weights = {"w": np.zeros((1, 4, 2), np.float32), "r": np.zeros((1, 4, 1), np.float32)}
    proto = model("float[70000,1,2] x", "y = LSTM<hidden_size=1>(x, w, r)", 14, weights)
    with pytest.raises(CloptError, match="has 70000 time steps; at most 2048 can be unrolled"):
        load(proto)


def test_sparse_initializer():
    proto = model(X, "y = Relu(x)")
    values = helper.make_tensor("s", TensorProto.FLOAT, [1], [1.0])
    indices = helper.make_tensor("i", TensorProto.INT64, [1], [0])
    proto.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [3]))
    with pytest.raises(CloptError, match="sparse initialisers"):
        load(proto)


def test_all_nodes_that_cannot_be_imported():
    """Of what reads a value that is unknown then, only the operators are judged."""
    proto = model(
        "float[2,3] x, int64[1] n",
        """
        a = MaxRoiPool(x, x)
        b = Reshape(x, n)
        c = Relu(b)
        d = Concat<axis=7>(c, c)
        e = Frobnicate(d)
        f = own.Relu(x)
        g = Transpose<perm=[0,0]>(x)
        h = Relu(x)
        """,
    )
    with pytest.raises(CloptError) as refused:
        load(proto)
    head, *lines = str(refused.value).split("\n  ")
    assert head == "5 nodes cannot be compiled:"
    assert [line.split(":")[0] for line in lines] == [
        "node 'MaxRoiPool_0' (MaxRoiPool)",
        "node 'Reshape_1' (Reshape)",
        "node 'Frobnicate_4' (Frobnicate)",
        "node 'Relu_5' (Relu)",
        "node 'Transpose_6' (Transpose)",
    ]


def test_all_inputs_whose_values_are_missing():
    proto = model(
        "float[2,3] x, int64[2] s, int64 k, float[3] f",
        "e = Unsqueeze(k, zero) a = Reshape(x, s) b, i = TopK(x, e) c = Relu(f)",
        constants={"zero": [0]},
    )
    with pytest.raises(OpenValuesError) as missing:
        load(proto)
    assert missing.value.inputs == ("s", "k")
    assert str(missing.value).startswith("2 nodes cannot be compiled:")


def test_values_become_constants():
    proto = model("float[2,3] x, int64[2] s", "y = Reshape(x, s) z = Add(s, s)")
    x, s = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([3, 2])
    imported = load(proto, values={"s": s})
    assert len(imported.main.body.block.args) == 1
    y, z = imported.run(x)
    np.testing.assert_array_equal(y, x.reshape(3, 2))
    np.testing.assert_array_equal(z, s + s)
    with pytest.raises(CloptError, match="the value for the input 's' is 2 int32, not 2 int64"):
        load(proto, values={"s": s.astype(np.int32)})
    with pytest.raises(CloptError, match="has no input 't' to make a constant"):
        load(proto, values={"t": s})


def test_operators_are_checked_before_dimensions():
    with pytest.raises(CloptError, match="opset 18 has no operator Frobnicate"):
        load(model("float[N,3] x", "y = Frobnicate(x)"))


def test_nodes_that_cannot_be_imported_are_too_many_to_list():
    proto = model(X, " ".join(f"y{i} = MaxRoiPool(x, x)" for i in range(150)))
    with pytest.raises(CloptError) as refused:
        load(proto)
    lines = str(refused.value).split("\n  ")
    assert (lines[0], len(lines), lines[-1]) == (
        "150 nodes cannot be compiled:",
        102,
        "and 50 more",
    )


def test_refused_operators_come_before_open_dimensions():
    body = "a = ai.onnx.ml.CategoryMapper(x) y = StringNormalizer(x)"
    proto = model("float[n,4] x", body, 17, domains={"ai.onnx.ml": 3})
    with pytest.raises(CloptError) as refused:
        load(proto)
    first, second, third = str(refused.value).splitlines()
    assert first == "2 nodes cannot be compiled:"
    assert "(CategoryMapper): strings are not supported" in second
    assert "(StringNormalizer): the operator StringNormalizer is not supported." in third
