"""Loops with a condition computed at run time, compared with onnxruntime in numpy."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from clopt.dialects import nn
from clopt.errors import CloptError
from clopt.messages.open_dimensions import OpenValuesError
from support.onnx.branches import feeds
from support.onnx.models import by_onnxruntime, load
from support.onnx.stopping import MODELS, THRESHOLDS, random_stopping, stopping


def agree(proto: onnx.ModelProto) -> None:
    """Fail unless the imported model computes what onnxruntime does, whenever its loops end.

    Scan outputs have room for all iterations, and their number is one more output.
    """
    imported = load(proto)
    names = nn.parameter_names(imported.main)[len(proto.graph.input) :]
    for seed, threshold in enumerate(THRESHOLDS):
        given = feeds(proto, seed, threshold)
        found = dict(zip(names, imported.run(*given.values()), strict=True))
        for port, wanted in zip(proto.graph.output, by_onnxruntime(proto, given), strict=True):
            got = found[port.name]
            if (count := found.get(f"{port.name}.size(0)")) is not None:
                got = got[: int(count)]
            assert got.shape == wanted.shape
            np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.by_default(cases=1)
def test_stopping_loops(name: str):
    agree(MODELS[name])


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.by_default(cases=1)
def test_random_stopping_loops(seed: int):
    agree(random_stopping(seed))


def test_the_size_of_a_network_does_not_depend_on_the_iterations():
    short, long = (load(stopping(trips)) for trips in (5, 1000))
    assert len(list(short.module.walk())) == len(list(long.module.walk()))


def trips(proto: onnx.ModelProto) -> list[int]:
    """The trip counts of the loops of a network."""
    return [op.trip_count for op in load(proto).main.walk() if isinstance(op, nn.LoopOp)]


@pytest.mark.parametrize("name", ["no trip count", "no bound"])
def test_a_counter_in_the_condition_bounds_the_iterations(name: str):
    assert trips(MODELS[name]) == [6]


@pytest.mark.parametrize(
    ("name", "bounds"),
    [
        ("computed trip count", [64]),
        ("computed trip count, condition", [15]),
        ("computed trip count, short", []),
    ],
)
def test_a_computed_trip_count_has_a_bound(name: str, bounds: list[int]):
    assert trips(MODELS[name]) == bounds


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("c = Clip(k, low, nine) n = ReduceMax<keepdims=0>(c)", 9),
        ("c = Where(o, nine, twenty) n = ReduceMin<keepdims=0>(c)", 20),
        (
            "c = Cast<to=6>(o) d = Cast<to=7>(c) e = Reshape(d, flat) n = ReduceSum<keepdims=0>(e)",
            64,
        ),
        ("c = Min(k, twenty) d = Max(c, nine) n = ReduceMax<keepdims=0>(d)", 20),
        ("c = Min(k, twenty) d = Gather(c, one) n = ReduceSum<keepdims=0>(d)", 320),
        ("n = ReduceMax<keepdims=0>(k)", None),
        ("c = Sub(low, k) d = Cast<to=6>(c) e = Cast<to=7>(d) n = ReduceMax<keepdims=0>(e)", None),
    ],
)
def test_bounds_of_trip_counts(text: str, bound: int | None):
    proto = onnx.parser.parse_model(f"""
        <ir_version: 9, opset_import: ["": 17]>
        g (float[4,16] x, float[4,16] w, float t) => (float[4,16] y) {{
            o = Greater(w, t)
            h = Mul(t, w)
            k = Cast<to=7>(h)
            low = Constant<value_int=-3>()
            nine = Constant<value_int=9>()
            twenty = Constant<value_int=20>()
            one = Constant<value_ints=[1]>()
            flat = Constant<value_ints=[64]>()
            {text}
            y = Loop (n, , x) <
                body = b (int64 i, bool going, float[4,16] a) => (bool more, float[4,16] next) {{
                    more = Identity(going)
                    next = Sin(a)
                }}
            >
        }}
    """)
    if bound is None:
        with pytest.raises(
            CloptError, match="without a bound of at most 65536; compute the minimum"
        ):
            load(proto)
    else:
        assert trips(proto) == [bound]
        agree(proto)


@pytest.mark.parametrize("step", [2, 3])
def test_a_known_condition_counts_many_iterations(step: int):
    proto = onnx.parser.parse_model(f"""
        <ir_version: 9, opset_import: ["": 17]>
        g (float[4] x, float t) => (float[4] y) {{
            c = Constant<value = bool {{1}}>()
            start = Constant<value_float=0.0>()
            y, e = Loop (, c, x, start) <
                body = b (int64 i, bool going, float[4] a, float k)
                    => (bool more, float[4] next, float j) {{
                    step = Constant<value_float={step}.0>()
                    end = Constant<value_float=2000.0>()
                    next = Sin(a)
                    j = Add(k, step)
                    more = Less(j, end)
                }}
            >
        }}
    """)
    assert trips(proto) == [-(-2000 // step)]
    agree(proto)


def loop(body: str, trips: str = "n", rest: str = "", scans: str = "", go: str = "") -> str:
    """Return a model of a loop of up to 9 iterations over a 16x16 image."""
    scanned = ", all" if scans else ""
    return f"""
        <ir_version: 9, opset_import: ["": 17]>
        g (float[16,16] x, int64 m, bool go) => (float[a,b] y) {{
            n = Constant<value_int=9>()
            one = Constant<value_float=1.0>()
            s = Identity(x)
            k = Min(m, n)
            r{scanned} = Loop ({trips}, {go}, s) <
                body = b (int64 i, bool going, float[16,16] v)
                    => (bool more, float[c,d] next{scans}) {{
                    {body}
                    u = ReduceMax<keepdims=0>(v)
                    more = Less(u, one)
                }}
            >
            {rest or "y = Identity(r)"}
        }}
    """


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            # The first iteration always runs.
            loop("next = Concat<axis=0>(v, v)"),
            "node 'Loop_4' (Loop): its condition is computed at run time, so the tensors that it "
            "carries must keep their types, with shapes known at import, but 32x16 float32 "
            "becomes 64x16 float32.",
        ),
        (
            loop("next = Neg(v)", trips=""),
            "node 'Loop_4' (Loop): its condition is computed at run time, so it needs a trip "
            "count (input 0), a constant of at most 65536, or a condition that also compares the "
            "number of the iteration with a constant.",
        ),
        (
            loop("next = Neg(v) p = Abs(v)", rest="y = Softmax(all)", scans=", float[16,16] p"),
            "(Softmax): the size of an input depends on run-time values",
        ),
        (
            loop("next = Neg(v) p = NonZero(v)", rest="y = Neg(r)", scans=", int64[2,e] p"),
            "returns a scan output with a size that only the device knows",
        ),
    ],
    ids=["shapes", "no trip count", "scan output", "sized scan output"],
)
def test_refusals(text: str, sentence: str):
    with pytest.raises(CloptError) as refused:
        load(onnx.parser.parse_model(text))
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        (loop("next = Neg(v)", trips="m"), ["m"]),
        (loop("next = Neg(v) p = Abs(v)", trips="k", scans=", float[16,16] p"), ["m"]),
        (loop("next = Concat<axis=0>(v, v)", go="go"), ["go"]),
        (loop("next = Neg(v) p = Abs(v)", go="go", scans=", float[16,16] p"), ["go"]),
    ],
    ids=["trip count", "bounded trip count", "shapes", "scan output"],
)
def test_inputs_that_select_what_is_supported(text: str, inputs: list[str]):
    """Small inputs may decide shapes: each of their values is a network of its own."""
    with pytest.raises(OpenValuesError) as missing:
        load(onnx.parser.parse_model(text))
    assert list(missing.value.inputs) == inputs
