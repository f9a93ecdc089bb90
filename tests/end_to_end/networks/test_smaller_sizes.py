"""Programs that serve smaller sizes with fewer work-items, against their own full launches."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest

import clopt
from clopt import compiled_cache
from clopt.backends.launches import Launches, LaunchRecord
from clopt.errors import CloptError
from clopt.model_contents import TextContents
from support.cl.ranges import compile_ranged, poison, work_items
from support.onnx.models import by_onnxruntime, model

pytestmark = pytest.mark.filterwarnings("ignore::clopt.errors.CloptWarning")

LARGEST = 8
RNG = np.random.default_rng(0)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, np.float32) / np.float32(np.sqrt(shape[-1]))


CNN = model(
    "float[n,3,20,20] x",
    """
        c1 = Conv<kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]>(x, w1)
        b1 = BatchNormalization(c1, scale, bias, mean, variance)
        a1 = Relu(b1)
        d1 = Conv<kernel_shape=[3,3], pads=[1,1,1,1], group=16>(a1, w2)
        p1 = Conv(d1, w3)
        r1 = Add(p1, a1)
        joined = Concat<axis=1>(r1, p1)
        a2 = Relu(joined)
        m1 = MaxPool<kernel_shape=[2,2], strides=[2,2]>(a2)
        c2 = Conv<kernel_shape=[3,3], pads=[1,1,1,1]>(m1, w4)
        a3 = Relu(c2)
        pooled = GlobalAveragePool(a3)
        flat = Flatten(pooled)
        y = Gemm<transB=1>(flat, w5, b5)
    """,
    constants={
        "w1": floats(16, 3, 3, 3),
        "scale": floats(16),
        "bias": floats(16),
        "mean": floats(16),
        "variance": np.abs(floats(16)) + 1,
        "w2": floats(16, 1, 3, 3),
        "w3": floats(16, 16, 1, 1),
        "w4": floats(32, 32, 3, 3),
        "w5": floats(10, 32),
        "b5": floats(10),
    },
)

MLP = model(
    "float[n,40] x",
    """
        h1 = Gemm(x, w1, b1)
        a1 = Relu(h1)
        h2 = Gemm(a1, w2, b2)
        y = Softmax(h2)
    """,
    constants={
        "w1": floats(40, 64),
        "b1": floats(64),
        "w2": floats(64, 12),
        "b2": floats(12),
    },
)

TRANSFORMER = model(
    "float[n,6,16] x",
    """
        q0 = MatMul(x, wq)
        k0 = MatMul(x, wk)
        q1 = Reshape(q0, heads)
        k1 = Reshape(k0, heads)
        q = Transpose<perm=[0,2,1,3]>(q1)
        k = Transpose<perm=[0,2,3,1]>(k1)
        v = Transpose<perm=[0,2,1,3]>(k1)
        scores = MatMul(q, k)
        weights = Softmax<axis=-1>(scores)
        mixed0 = MatMul(weights, v)
        mixed1 = Transpose<perm=[0,2,1,3]>(mixed0)
        mixed = Reshape(mixed1, joined)
        added = Add(mixed, x)
        normed = LayerNormalization<axis=-1>(added, scale)
        h1 = MatMul(normed, w1)
        h2 = Relu(h1)
        h3 = MatMul(h2, w2)
        y = Add(h3, normed)
    """,
    constants={
        "wq": floats(16, 16),
        "wk": floats(16, 16),
        "w1": floats(16, 32),
        "w2": floats(32, 16),
        "scale": floats(16),
        "heads": [0, 6, 2, 8],
        "joined": [0, 6, 16],
    },
)

# Tokens attend to all tokens, and the first one is an output of its own.
SEQUENCE = model(
    "float[1,n,16] x",
    """
        q = MatMul(x, wq)
        k0 = MatMul(x, wk)
        k = Transpose<perm=[0,2,1]>(k0)
        scores = MatMul(q, k)
        weights = Softmax<axis=-1>(scores)
        v = MatMul(x, wv)
        mixed = MatMul(weights, v)
        added = Add(mixed, x)
        y = Relu(added)
        first = Gather<axis=1>(added, zero)
        z = Tanh(first)
    """,
    constants={**{name: floats(16, 16) for name in ("wq", "wk", "wv")}, "zero": 0},
)

# The layout of torch's attention and LSTM: between two transposes, the batch is an inner axis.
INNER = model(
    "float[n,5,16] x",
    """
        steps = Transpose<perm=[1,0,2]>(x)
        h = MatMul(steps, w)
        a = Relu(h)
        back = Transpose<perm=[1,0,2]>(a)
        y = Softmax<axis=-1>(back)
    """,
    constants={"w": floats(16, 16)},
)

# Queries, keys and values are parts of one product, on an axis outside of the batch.
JOINED = model(
    "float[n,6,16] x",
    """
        joined0 = MatMul(x, w)
        joined1 = Reshape(joined0, heads)
        joined = Transpose<perm=[2,0,3,1,4]>(joined1)
        q = Gather<axis=0>(joined, zero)
        k0 = Gather<axis=0>(joined, one)
        v = Gather<axis=0>(joined, two)
        k = Transpose<perm=[0,1,3,2]>(k0)
        scores = MatMul(q, k)
        weights = Softmax<axis=-1>(scores)
        y = MatMul(weights, v)
    """,
    constants={
        "w": floats(16, 48),
        "heads": [0, 6, 3, 2, 8],
        "zero": np.int64(0),
        "one": np.int64(1),
        "two": np.int64(2),
    },
)

# Tokens are computed, so that unneeded ones could be outside of the table.
TOKENS = model(
    "float[n,4] x",
    """
        scaled = Mul(x, three)
        limited = Clip(scaled, low, high)
        tokens = Cast<to=7>(limited)
        words = Gather(table, tokens)
        y = ReduceMean<keepdims=0>(words, axes)
    """,
    constants={
        "three": np.float32(3),
        "low": np.float32(0),
        "high": np.float32(9),
        "table": floats(10, 8),
        "axes": [1],
    },
)

# Rows depend on others: the first ones of the sum need the last ones of the input.
REVERSED = model(
    "float[n,24] x",
    """
        a = Relu(x)
        reversed = Slice(a, start, end, axis, step)
        y = Add(reversed, x)
    """,
    constants={"start": [-1], "end": [-1000], "axis": [0], "step": [-1]},
)

NETWORKS: dict[str, tuple[onnx.ModelProto, tuple[int, ...]]] = {
    "cnn": (CNN, (3, 20, 20)),
    "mlp": (MLP, (40,)),
    "transformer": (TRANSFORMER, (6, 16)),
    "inner": (INNER, (5, 16)),
    "joined": (JOINED, (6, 16)),
    "tokens": (TOKENS, (4,)),
    "reversed": (REVERSED, (24,)),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_needed_rows_are_those_of_the_whole_program(name: str, device: str):
    """Every size gives the same bits, whatever intermediate values held before."""
    proto, shape = NETWORKS[name]
    compiled = compile_ranged(proto, {"n": LARGEST}, device)
    feeds = {"x": floats(LARGEST, *shape)}
    (whole,) = compiled.run(feeds)
    (expected,) = by_onnxruntime(proto, feeds)
    np.testing.assert_allclose(whole, expected, rtol=1e-4, atol=1e-5)
    for size in range(1, LARGEST + 1):
        smaller = compiled.restricted(size)
        compiled.run({"x": floats(LARGEST, *shape)})
        poison(compiled)
        (rows,) = smaller.run(feeds)
        np.testing.assert_array_equal(rows[:size], whole[:size])


@pytest.mark.parametrize("name", ["cnn", "transformer", "inner", "joined"])
def test_smaller_sizes_launch_fewer_work_items(name: str, device: str):
    proto, _ = NETWORKS[name]
    compiled = compile_ranged(proto, {"n": LARGEST}, device)
    counts = [work_items(compiled.restricted(size)) for size in range(1, LARGEST + 1)]
    assert counts == sorted(counts)
    assert counts[-1] == work_items(compiled)
    assert counts[3] <= 0.6 * counts[-1]


def test_a_shorter_sequence_ignores_keys_and_values_after_it(device: str):
    """They are not computed, and what was there before may be anything."""
    longest = 64
    model = clopt.compile(SEQUENCE, device=device, dims={"n": (2, longest, longest)})
    assert isinstance(model, clopt.DynamicModel)
    model.run([floats(1, longest, 16)])
    (program,) = model._programs.all()
    for length in (63, 40, 33):
        x = floats(1, length, 16)
        model.run([x])
        poison(program)
        for found, wanted in zip(model.run([x]), by_onnxruntime(SEQUENCE, {"x": x}), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    assert model.programs == 1
    counts = [work_items(each) for each in (program.restricted(33), program)]
    assert counts[0] <= 0.8 * counts[1]


def test_a_product_computes_images_in_their_own_work_items(device: str):
    """Eight images times 197 tokens: tiles of eight images would divide the rows evenly."""
    proto = model("float[n,197,64] x", "y = MatMul(x, w)", constants={"w": floats(64, 96)})
    compiled = compile_ranged(proto, {"n": LARGEST}, device)
    assert work_items(compiled.restricted(2)) <= 0.3 * work_items(compiled)


def test_rows_do_not_depend_on_inputs_of_others(device: str):
    compiled = compile_ranged(CNN, {"n": LARGEST}, device)
    x = floats(LARGEST, 3, 20, 20)
    (expected,) = compiled.run([x])
    padded = np.where(np.arange(LARGEST)[:, None, None, None] < 3, x, np.float32(0))
    (rows,) = compiled.restricted(3).run([padded])
    np.testing.assert_array_equal(rows[:3], expected[:3])


def test_sizes_alternate_on_one_program(device: str):
    """The restricted programs share kernels, whose arguments follow the caller's buffers."""
    compiled = compile_ranged(MLP, {"n": LARGEST}, device)
    smaller = {size: compiled.restricted(size) for size in (2, 5)}
    assert compiled.restricted(2) is smaller[2]
    for size in (2, LARGEST, 5, 2):
        x = floats(LARGEST, 40)
        out = np.full((LARGEST, 12), np.nan, np.float32)
        program = smaller.get(size, compiled)
        program.run({"x": x}, {"y": out})
        (expected,) = compiled.run({"x": x})
        np.testing.assert_array_equal(out[:size], expected[:size])


def test_a_profile_has_the_same_commands(device: str):
    compiled = compile_ranged(MLP, {"n": LARGEST}, device)
    whole, half = (each.profile(runs=2) for each in (compiled, compiled.restricted(4)))
    assert [each.name for each in half.rows] == [each.name for each in whole.rows]


def test_only_sizes_of_the_range_are_served(device: str):
    compiled = compile_ranged(MLP, {"n": LARGEST}, device)
    for size in (0, LARGEST + 1):
        with pytest.raises(CloptError, match=f"sizes from 1 to {LARGEST}, not {size}"):
            compiled.restricted(size)
    fixed = clopt.compile(MLP, dims={"n": LARGEST}, device=device, use_cache=False)
    with pytest.raises(CloptError, match="only its own sizes"):
        fixed.restricted(4)


def launches_of(compiled: clopt.CompiledModel) -> Launches:
    launches = compiled.contents.stored.launches
    assert launches is not None
    return launches


def test_launches_survive_json(device: str):
    launches = launches_of(compile_ranged(CNN, {"n": LARGEST}, device))
    assert Launches.from_json(json.loads(json.dumps(launches.as_json()))) == launches
    records = [each for each in launches.commands if isinstance(each, LaunchRecord)]
    assert any(each.sizes for each in records)
    for each in records:
        assert each.sizes is None or each.global_size == tuple(s.at(LARGEST) for s in each.sizes)


def test_static_launches_have_no_new_entries(device: str):
    fixed = clopt.compile(MLP, dims={"n": LARGEST}, device=device, use_cache=False)
    table = launches_of(fixed).as_json()
    assert "largest" not in table
    assert not any("sizes" in command for command in table["commands"])


def test_models_from_the_cache_and_from_folders_serve_smaller_sizes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, device: str
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv(compiled_cache.CHOICE, "auto")
    monkeypatch.setattr(compiled_cache, "is_revision_settled", lambda: True)
    path = tmp_path / "model.onnx"
    path.write_bytes(CNN.SerializeToString())
    compile_ranged(path, {"n": LARGEST}, device, use_cache=True)
    cached = compile_ranged(path, {"n": LARGEST}, device, use_cache=True)
    assert isinstance(cached.contents, TextContents)
    cached.save(tmp_path / "saved")
    loaded = clopt.load(tmp_path / "saved", device)
    feeds: Mapping[str, np.ndarray] = {"x": floats(LARGEST, 3, 20, 20)}
    (expected,) = cached.run(feeds)
    for compiled in (cached, loaded):
        smaller = compiled.restricted(4)
        assert work_items(smaller) <= 0.6 * work_items(compiled)
        poison(compiled)
        (rows,) = smaller.run(feeds)
        np.testing.assert_array_equal(rows[:4], expected[:4])
