"""Models with open dimensions, or with operands that decide shapes, against onnxruntime."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import onnx
import pyopencl as cl
import pyopencl.array as cla
import pytest

import clopt
from clopt import program_cache
from clopt.backends.pyopencl_runtime import find_device
from support.onnx.models import by_onnxruntime, model

pytestmark = pytest.mark.filterwarnings("ignore::clopt.errors.CloptWarning")

RNG = np.random.default_rng(0)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, np.float32)


def check(compiled: clopt.CompiledModel, proto: onnx.ModelProto, feeds: Mapping[str, Any]) -> None:
    """Fail unless a model computes what onnxruntime does."""
    expected = by_onnxruntime(proto, feeds)
    for value, wanted in zip(compiled.run(feeds), expected, strict=True):
        assert (value.shape, value.dtype) == (wanted.shape, wanted.dtype)
        np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-5)


SCALED = model("float[n,3] x, float[n,m] y", "a = Relu(x) z = Concat<axis=1>(a, y)")

ATTENTION = model(
    "float[batch,sequence,8] x",
    """
        shape = Shape(x)
        batch = Gather(shape, zero)
        length = Gather(shape, one)
        split = Concat<axis=0>(batch, length, two, four)
        joined = Concat<axis=0>(batch, length, eight)
        q = MatMul(x, wq)
        k = MatMul(x, wk)
        queries0 = Reshape(q, split)
        keys0 = Reshape(k, split)
        queries = Transpose<perm=[0,2,1,3]>(queries0)
        keys = Transpose<perm=[0,2,3,1]>(keys0)
        values = Transpose<perm=[0,2,1,3]>(keys0)
        scores = MatMul(queries, keys)
        weights = Softmax<axis=-1>(scores)
        mixed0 = MatMul(weights, values)
        mixed = Transpose<perm=[0,2,1,3]>(mixed0)
        flat = Reshape(mixed, joined)
        added = Add(flat, x)
        y = LayerNormalization<axis=-1>(added, scale)
    """,
    constants={
        "zero": [0],
        "one": [1],
        "two": [2],
        "four": [4],
        "eight": [8],
        "scale": np.linspace(0.5, 1.5, 8, dtype=np.float32),
        "wq": np.eye(8, k=1, dtype=np.float32),
        "wk": np.eye(8, k=-2, dtype=np.float32),
    },
)


def test_one_model_runs_several_sizes_in_any_order(device: str):
    compiled = clopt.compile(SCALED, device=device)
    assert isinstance(compiled, clopt.DynamicModel)
    for n, m in ((2, 1), (5, 4), (2, 1), (1, 4), (5, 4)):
        check(compiled, SCALED, {"x": floats(n, 3), "y": floats(n, m)})
    x, y = floats(2, 3), floats(2, 1)
    (z,) = compiled.run([x, y])
    np.testing.assert_array_equal(z, np.concatenate([np.maximum(x, 0), y], axis=1))
    assert repr(compiled) == (
        "DynamicModel(x: nx3 float32, y: nxm float32 -> z: nxz.1 float32; 3 programs so far)"
    )


def test_batch_and_sequence_of_an_attention(devices: dict[str, str]):
    for device in devices.values():
        compiled = clopt.compile(ATTENTION, device=device)
        for batch, sequence in ((1, 3), (2, 7), (1, 3)):
            check(compiled, ATTENTION, {"x": floats(batch, sequence, 8)})


def test_size_zero(device: str):
    compiled = clopt.compile(SCALED, device=device)
    for n in (0, 2, 0):
        check(compiled, SCALED, {"x": floats(n, 3), "y": floats(n, 2)})


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


IF = onnx.parser.parse_model("""
    <ir_version: 9, opset_import: ["": 17]>
    g (float[2] x, bool c) => (float[k] y) {
        y = If (c) <
            then_branch = a () => (float[2] t) { t = Relu(x) },
            else_branch = b () => (float[4] e) { e = Concat<axis=0>(x, x) }
        >
    }
""")
LOOP = onnx.parser.parse_model("""
    <ir_version: 9, opset_import: ["": 17]>
    g (float[2] x, int64 n, bool go) => (float[2] y, float[n,2] all) {
        y, all = Loop (n, go, x) <
            body = b (int64 i, bool going, float[2] a) => (bool more, float[2] next, float[2] s) {
                more = Identity(going)
                next = Add(a, a)
                s = Identity(a)
            }
        >
    }
""")
OPERANDS: dict[str, tuple[onnx.ModelProto, tuple[dict[str, Any], dict[str, Any]]]] = {
    "Reshape": (
        model("float[2,6] x, int64[2] s", "y = Reshape(x, s)"),
        ({"s": ints(3, -1)}, {"s": ints(12, 1)}),
    ),
    "Reshape, computed": (
        model(
            "float[2,6] x, int64[1] s", "d = Concat<axis=0>(s, s) e = Sub(d, s) y = Slice(x, e, d)"
        ),
        ({"s": ints(1)}, {"s": ints(2)}),
    ),
    "Slice": (
        model("float[2,6] x, int64[1] a, int64[1] b, int64[1] c", "y = Slice(x, a, b, c)"),
        ({"a": ints(0), "b": ints(1), "c": ints(0)}, {"a": ints(1), "b": ints(5), "c": ints(1)}),
    ),
    "Expand": (
        model("float[2,1] x, int64[k] s", "y = Expand(x, s)"),
        ({"s": ints(2, 3)}, {"s": ints(4, 2, 1)}),
    ),
    "Range": (
        model("float a, float b, float c", "y = Range(a, b, c)"),
        tuple({"a": np.float32(0), "b": np.float32(b), "c": np.float32(0.5)} for b in (2, 3)),
    ),
    "Tile": (
        model("float[2,2] x, int64[2] r", "y = Tile(x, r)"),
        ({"r": ints(1, 2)}, {"r": ints(3, 1)}),
    ),
    "Pad": (
        model("float[2,2] x, int64[4] p, float v", "y = Pad(x, p, v)"),
        tuple({"p": ints(*p), "v": np.float32(1.5)} for p in ((0, 1, 0, 2), (1, 0, 0, 0))),
    ),
    "TopK": (
        model("float[3,8] x, int64[1] k", "y, i = TopK(x, k)"),
        ({"k": ints(1)}, {"k": ints(5)}),
    ),
    "OneHot": (
        model("int64[3] x, int64 d, float[2] v", "y = OneHot(x, d, v)"),
        tuple({"x": ints(0, 2, 1), "d": np.int64(d), "v": floats(2)} for d in (3, 5)),
    ),
    "If": (IF, ({"c": np.array(True)}, {"c": np.array(False)})),
    "Loop": (
        LOOP,
        tuple({"n": np.int64(n), "go": np.array(True)} for n in (2, 4)),
    ),
    "Compress": (
        model("float[4,2] x, bool[4] c", "y = Compress<axis=0>(x, c)"),
        tuple({"c": np.array(c)} for c in ([True, False, True, True], [False, False, True, False])),
    ),
}


@pytest.mark.parametrize("name", OPERANDS)
def test_an_operand_that_decides_shapes(name: str, devices: dict[str, str]):
    proto, given = OPERANDS[name]
    for device in devices.values():
        compiled = clopt.compile(proto, device=device)
        assert isinstance(compiled, clopt.DynamicModel)
        for feeds in (*given, given[0]):
            rest = {
                port.name: floats(*port.shape) for port in compiled.inputs if port.name not in feeds
            }
            check(compiled, proto, {**rest, **{k: np.asarray(v) for k, v in feeds.items()}})


def test_sizes_and_values_at_once(device: str):
    """That a value decides shapes is known when the first size is compiled."""
    proto = model("float[n,6] x, int64[2] s", "a = Relu(x) y = Reshape(a, s)")
    compiled = clopt.compile(proto, device=device)
    for n, *shape in ((1, 2, 3), (4, 3, 8), (4, 24, 1), (1, 2, 3)):
        check(compiled, proto, {"x": floats(n, 6), "s": ints(*shape)})
    chosen = compiled.for_inputs({"x": floats(4, 6), "s": ints(3, 8)})
    assert [port.name for port in chosen.inputs] == ["x"]
    assert chosen.outputs[0].shape == (3, 8)
    np.testing.assert_array_equal(chosen.values["s"], ints(3, 8))


def test_a_value_is_copied_and_a_model_is_read_once():
    """What the caller changes later changes no program."""
    proto = model("float[2,6] x, int64[2] s", "y = Reshape(x, s)", constants={"t": [1]})
    same, shape, x = copy.deepcopy(proto), ints(3, 4), floats(2, 6)
    compiled = clopt.compile(proto, target="pocl")
    compiled.run([x, shape])
    proto.graph.node[0].op_type = "Frobnicate"
    shape[:] = (4, 3)
    assert compiled.run([x, shape])[0].shape == (4, 3)
    check(compiled, same, {"x": x, "s": ints(3, 4)})


def test_given_sizes_hold_for_each_program(device: str):
    compiled = clopt.compile(ATTENTION, device=device, dims={"batch": 2})
    assert str(compiled.inputs[0]) == "x: 2xsequencex8 float32"
    for sequence in (2, 3):
        check(compiled, ATTENTION, {"x": floats(2, sequence, 8)})
    with pytest.raises(clopt.CloptError, match="has the shape 1x2x8, but the model takes 2xseq"):
        compiled.run([floats(1, 2, 8)])
    fixed = clopt.compile(ATTENTION, device=device, dims={"batch": 2, "sequence": 2})
    assert type(fixed) is clopt.CompiledModel


def test_every_option_holds_for_each_program():
    compiled = clopt.compile(SCALED, target="pocl", precision="f16-storage", vector_width=2)
    chosen = compiled.for_inputs([floats(2, 3), floats(2, 1)])
    fixed = clopt.compile(SCALED, "pocl", {"n": 2, "m": 1}, precision="f16-storage", vector_width=2)
    assert chosen.source == fixed.source
    assert "executable" not in chosen.__dict__


def test_threads_run_different_sizes_at_once(device: str):
    compiled = clopt.compile(SCALED, device=device)

    def run(size: int) -> bool:
        x, y = np.full((size, 3), size, np.float32), np.zeros((size, 1), np.float32)
        z = compiled.run([x, y])[0]
        return z.shape == (size, 4) and bool((z[:, :3] == size).all())

    sizes = [1, 2, 3, 2, 1, 3] * 4
    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(run, sizes, timeout=120))
    assert repr(compiled).endswith("3 programs so far)")


def test_the_least_recently_used_programs_leave(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(program_cache, "MOST_PROGRAMS", 2)
    compiled = clopt.compile(SCALED, target="pocl")
    made = [compiled.for_inputs([floats(n, 3), floats(n, 1)]) for n in (1, 2, 1, 3, 1, 2)]
    assert made[0] is made[2] is made[4]
    assert made[1] is not made[5]


def test_programs_share_intermediate_memory(device: str):
    """A smaller program uses the arena of a larger one, also in turns and from threads."""
    compiled = clopt.compile(ATTENTION, device=device)
    inputs = [floats(batch, 5, 8) for batch in (6, 1, 2)]
    results = [compiled.run([x])[0] for x in inputs]
    (arena,) = {buffer.int_ptr for x in inputs for buffer in arenas_of(compiled.for_inputs([x]))}
    larger = floats(9, 5, 8)
    check(compiled, ATTENTION, {"x": larger})
    assert arena not in [each.int_ptr for each in arenas_of(compiled.for_inputs([larger]))]
    with ThreadPoolExecutor(3) as pool:
        found = pool.map(compiled.run, [[x] for x in inputs * 8], timeout=120)
        for (y,), wanted in zip(found, results * 8, strict=True):
            np.testing.assert_array_equal(y, wanted)


def arenas_of(compiled: clopt.CompiledModel) -> tuple[cl.Buffer, ...]:
    return compiled.executable.arena


def test_arrays_and_buffers_on_the_device(device: str):
    # Intel's runtime frees a context that only its queue holds.
    context = cl.Context([find_device(device).handle])
    queue = cl.CommandQueue(context)
    proto = model("float[n,6] x, int64[2] s", "a = Relu(x) y = Reshape(a, s)")
    compiled = clopt.compile(proto, device=clopt.Place(queue=queue))
    x, shape, y = floats(4, 6), ints(3, 8), np.empty((3, 8), np.float32)
    wanted = np.maximum(x, 0).reshape(3, 8)
    x_there, shape_there = cla.to_device(queue, x), cla.to_device(queue, shape)
    y_there = cla.empty(queue, (3, 8), np.float32)
    compiled.enqueue(queue, {"x": x_there, "s": shape_there, "y": y_there})
    np.testing.assert_array_equal(y_there.get(), wanted)
    compiled.run({"x": x_there, "s": shape_there.base_data}, {"y": y})
    np.testing.assert_array_equal(y, wanted)
    np.testing.assert_array_equal(compiled.run([x_there, shape])[0], wanted)
    with pytest.raises(clopt.CloptError, match=r'memory for "x" has no shape.*nx6; pass a'):
        compiled.run([x_there.base_data, shape])


def test_arrays_of_another_library(device: str):
    class Foreign:
        """An array with DLPack alone."""

        def __init__(self, array: np.ndarray) -> None:
            self.__dlpack__ = array.__dlpack__
            self.__dlpack_device__ = array.__dlpack_device__

    proto = model("float[n,6] x, int64[2] s", "a = Relu(x) y = Reshape(a, s)")
    x = floats(2, 6)
    compiled = clopt.compile(proto, device=device)
    (y,) = compiled.run([Foreign(x), Foreign(ints(4, 3))])  # type: ignore[list-item]
    np.testing.assert_array_equal(y, np.maximum(x, 0).reshape(4, 3))


def test_a_profile_is_of_the_program_for_its_inputs(device: str):
    compiled = clopt.compile(SCALED, device=device)
    assert compiled.profile([floats(2, 3), floats(2, 1)], 1).rows
    with pytest.raises(clopt.CloptError, match="open sizes needs inputs"):
        compiled.profile()
