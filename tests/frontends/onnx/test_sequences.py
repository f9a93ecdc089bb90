"""Sequences and optionals inside a model, which are resolved to lists at import."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from clopt.dialects import nn
from clopt.errors import CloptError
from support.onnx.models import agree, load, model

X = "float[4,3] x, float[4,3] z"
CASES = {
    "insert at positions": """
        e = SequenceEmpty()
        a = SequenceInsert(e, x)
        b = SequenceInsert(a, z, zero)
        c = SequenceInsert(b, x, last)
        y = ConcatFromSequence<axis=-2>(c)
    """,
    "erase": """
        a = SequenceConstruct(x, z, x)
        b = SequenceErase(a, zero)
        c = SequenceErase(b)
        y = SequenceAt(c, last)
        n = SequenceLength(c)
    """,
    "new axis": """
        a = SequenceConstruct(x, z)
        y = ConcatFromSequence<axis=-1, new_axis=1>(a)
    """,
    "parts of one element": """
        a = SplitToSequence<axis=1, keepdims=0>(x)
        y = ConcatFromSequence<axis=0, new_axis=1>(a)
        n = SequenceLength(a)
    """,
    "parts of one size": """
        a = SplitToSequence<axis=0>(x, three)
        y = SequenceAt(a, zero)
        v = SequenceAt(a, last)
    """,
    "parts of given sizes": """
        a = SplitToSequence<axis=0>(x, sizes)
        y = SequenceAt(a, zero)
        v = SequenceAt(a, last)
    """,
    "same sequence": "a = SequenceConstruct(x, z) b = Identity(a) y = SequenceAt(b, last)",
}
CONSTANTS = {"zero": 0, "last": -1, "three": 3, "sizes": [1, 3]}


@pytest.mark.parametrize("name", CASES)
def test_sequence(name: str):
    text = CASES[name]
    read = {key: value for key, value in CONSTANTS.items() if f", {key}" in text}
    agree(model(X, text, constants=read))


LOOP = """
    <ir_version: 9, opset_import: ["": 17]>
    g (float[4,3] x) => (float[n,3] y) <int64 trips = {3}, bool go = {1}, int64 axis = {0}> {
        e = SequenceEmpty ()
        s = Loop (trips, go, e) <body = b (int64 i, bool c, seq(float[n,3]) before)
            => (bool again, seq(float[n,3]) after) {
            again = Identity (c)
            f = Cast<to = 1> (i)
            moved = Add (x, f)
            after = SequenceInsert (before, moved)
        }>
        y = ConcatFromSequence<axis = 0> (s)
    }
"""
BRANCH = """
    <ir_version: 9, opset_import: ["": 17]>
    g (float[4,3] x) => (float[4,3] y) <bool go = {1}, int64 first = {0}> {
        s = If (go) <
            then_branch = t () => (seq(float[4,3]) a) { m = Neg (x)  a = SequenceConstruct (m, x) },
            else_branch = f () => (seq(float[4,3]) b) { b = SequenceConstruct (x) }
        >
        y = SequenceAt (s, first)
    }
"""
MAP = """
    <ir_version: 9, opset_import: ["": 17]>
    g (float[4,3] x, float[3] z) => (float[4,3] y) {
        s = SplitToSequence<axis = 0> (x)
        t = SequenceMap (s, z) <body = b (float[1,3] a, float[3] c) => (float[1,3] d) {
            e = Mul (a, c)
            d = Exp (e)
        }>
        y = ConcatFromSequence<axis = 0> (t)
    }
"""
OPTIONAL = """
    <ir_version: 9, opset_import: ["": 18]>
    g (float[4,3] x) => (float[4,3] y, bool has, bool lacks) {
        o = Optional (x)
        none = Optional<type: type_proto = float[4,3]> ()
        y = OptionalGetElement (o)
        has = OptionalHasElement (o)
        lacks = OptionalHasElement (none)
    }
"""
GRAPHS = {"loop": LOOP, "branch": BRANCH, "map": MAP, "optional": OPTIONAL}


@pytest.mark.parametrize("name", GRAPHS)
def test_sequence_in_control_flow(name: str):
    agree(onnx.parser.parse_model(GRAPHS[name]))


def test_absence_of_an_optional():
    proto = model("float[1] x", "h = OptionalHasElement() y = Relu(x)", 18)
    present, _ = load(proto).run(np.ones(1, np.float32))
    assert present.shape == ()
    assert not present


REFUSED = {
    "position": (
        "s = SequenceConstruct(x, z) y = SequenceAt(s, k)",
        "the position 5 is outside a sequence of 2",
    ),
    "elements of two types": (
        "n = Cast<to=7>(x) s = SequenceConstruct(x, n) y = SequenceLength(s)",
        "the elements of its sequence have different types",
    ),
    "operator of tensors": (
        "s = SequenceConstruct(x, z) y = Relu(s)",
        "reads a sequence or an optional, which this operator does not take",
    ),
    "tensor for a sequence": (
        "y = SequenceLength(x)",
        "its input 0 must be a sequence",
    ),
    "nothing to concatenate": (
        "s = SequenceEmpty() y = ConcatFromSequence<axis=0>(s)",
        "its sequence is empty",
    ),
    "output": (
        "y = SequenceConstruct(x, z)",
        "the output 'y' is a sequence; declare it with this type",
    ),
    "no element": (
        "s = SequenceEmpty() e = Optional(s) n = SequenceErase(e) y = SequenceLength(n)",
        "the position -1 is outside a sequence of 0",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str):
    text, sentence = REFUSED[name]
    constants = {"k": 5} if ", k)" in text else {}
    with pytest.raises(CloptError, match=sentence):
        load(model(X, text, 18, constants))


def test_parts_that_do_not_add_up():
    proto = model(X, "s = SplitToSequence<axis=1>(x, k) y = SequenceLength(s)", 18, {"k": [1, 1]})
    with pytest.raises(CloptError, match=r"its parts \[1, 1\] do not add up to the 3 elements"):
        load(proto)


PORTS = """
    <ir_version: 9, opset_import: ["": 18]>
    g (seq(float[n,2]) s, optional(float[m]) o) => (seq(float[n,2]) t, optional(float[m]) p) {
        t = SequenceErase (s)
        p = Identity (o)
    }
"""


@pytest.mark.parametrize(
    ("dims", "names"),
    [
        ({"s": 2, "o": 1, "n": 3, "m": 4}, ["s_0", "s_1", "o", "t_0", "p"]),
        ({"s": 1, "o": 0, "s_0.0": 3}, ["s_0", "t.length"]),
        ({"s": 3, "o": 0, "n": 3}, ["s_0", "s_1", "s_2", "t_0", "t_1"]),
    ],
)
def test_elements_are_inputs_and_outputs(dims: dict[str, int], names: list[str]):
    main = load(onnx.parser.parse_model(PORTS), dims=dims).main
    assert [*nn.parameter_names(main)] == names


@pytest.mark.parametrize(
    ("ports", "body", "sentence"),
    [
        ("(seq(float[2]) s, float[2] s_0) => (float[2] y)", "y = Neg (s_0)", "two inputs 's_0'"),
        (
            "(seq(float[2]) s) => (seq(float[2]) t, float[2] t_0)",
            "t = Identity (s)  t_0 = SequenceAt (s, k)",
            "an input or output is called 't_0', and so is an element of a sequence; rename",
        ),
        ("(seq(float[2]) s) => (float[2] y)", "y = Identity (s)", "'y' is a sequence; declare it"),
        (
            "(seq(float[2]) s) => (seq(float[2]) y)",
            "y = SequenceAt (s, k)",
            "'y' is a tensor; declare it with this type",
        ),
        (
            "(seq(float[2]) s) => (float[2] y)",
            "y = Optional<type: type_proto = float[2]> ()",
            "'y' is an optional without an element; declare it as an optional",
        ),
        (
            "(seq(float[2]) s) => (optional(seq(float[2])) y)",
            "e = SequenceErase (s)  y = Optional (e)",
            "'y' is an empty sequence in an optional; return the sequence alone",
        ),
    ],
)
def test_ports_that_are_refused(ports: str, body: str, sentence: str):
    text = f'<ir_version: 9, opset_import: ["": 18]> g {ports} <int64 k = {{0}}> {{ {body} }}'
    with pytest.raises(CloptError, match=sentence):
        load(onnx.parser.parse_model(text), dims={"s": 1})
