"""Element types that tensors only store, bit for bit against ml_dtypes, which rounds in C++."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from hypothesis import given
from onnx import TensorProto, helper, numpy_helper

import clopt
from clopt import compiled_cache
from clopt.tensor_info import TensorInfo
from clopt.tools import run
from clopt.tools.inputs import random_input
from support import processes
from support.onnx.narrow import ALWAYS_SATURATES, DTYPES, FLOATS, INTEGERS, bits, codes, model
from support.onnx.single_node import examples, generators

pytestmark = pytest.mark.in_turns


def cast(name: str, source: str, target: str, **attributes: int) -> onnx.NodeProto:
    to = TensorProto.DataType.Value(target)
    return helper.make_node("Cast", [source], [name], to=to, **attributes)


def numbers(name: str, rng: np.random.Generator) -> np.ndarray:
    """Floats at and around each tie of a type, special values, and random bits of all sizes."""
    with np.errstate(all="ignore"):
        exact = np.unique(codes(name)[:: 97 if name == "BFLOAT16" else 1].astype(np.float32))
        exact = exact[np.isfinite(exact)]
        beyond = exact[-1] * np.array([1.02, 1.0625, 1.07, 1.13, 1.26, 1.5, 4], np.float32)
        exact = np.concatenate([exact, beyond[np.isfinite(beyond)]]).astype(np.float64)
        ties = ((exact[1:] + exact[:-1]) / 2).astype(np.float32)
        near = [np.nextafter(ties, np.float32(sign * np.inf)) for sign in (1, -1)]
        special = np.array([0, -0.0, np.inf, -np.inf, 1e-45, -1e-45, 3.4e38, -3.4e38], np.float32)
        nans = np.array([0x7FC00000, 0xFFC00000, 0x7F800001], np.uint32).view(np.float32)
        drawn = rng.integers(0, 1 << 32, 500, np.uint32).view(np.float32)
        return np.concatenate([exact.astype(np.float32), ties, *near, special, nans, drawn])


def expected(x: np.ndarray, name: str, saturates: bool) -> np.ndarray:
    """The table of Cast in ONNX's operators: infinities and numbers out of range saturate."""
    dtype = np.dtype(FLOATS[name])
    if name == "BFLOAT16" or not (saturates or name == ALWAYS_SATURATES):
        return x.astype(dtype)
    largest = float(ml_dtypes.finfo(dtype).max)
    return np.clip(x, -largest, largest).astype(dtype)


def same_nans(got: np.ndarray, wanted: np.ndarray) -> None:
    """Compare bits; NaNs may differ in theirs."""
    wide, reference = got.astype(np.float32), wanted.astype(np.float32)
    assert np.array_equal(np.isnan(wide), np.isnan(reference))
    kept = ~np.isnan(reference)
    assert np.array_equal(bits(got)[kept], bits(wanted)[kept])


@pytest.mark.by_default(cases=1)
@pytest.mark.parametrize("name", FLOATS)
@examples(1)
@given(rng=generators)
def test_rounding_of_floats(device: str, name: str, rng: np.random.Generator) -> None:
    with np.errstate(all="ignore"):
        x = numbers(name, rng)
        x = x[~np.isnan(x)] if name == ALWAYS_SATURATES else x  # it has no NaN
        x = np.where(np.abs(x) < 1e-37, np.float32(0) * x, x) if name != "BFLOAT16" else x
        nodes = [cast("y", "x", name), cast("z", "x", name, saturate=0)]
        compiled = clopt.compile(model(nodes, [("x", "FLOAT", x.shape)], ["y", "z"]), device=device)
        saturated, unsaturated = compiled.run({"x": x})
        same_nans(saturated, expected(x, name, True))
        same_nans(unsaturated, expected(x, name, False))


@pytest.mark.by_default(cases=1)
@pytest.mark.parametrize("name", DTYPES)
def test_every_code_is_read_exactly(device: str, name: str) -> None:
    x = codes(name)
    nodes = [cast("y", "x", "FLOAT"), cast("z", "x", "INT8" if name in INTEGERS else "DOUBLE")]
    y, z = clopt.compile(model(nodes, [("x", name, x.shape)], ["y", "z"]), device=device).run([x])
    with np.errstate(all="ignore"):
        assert np.array_equal(y, x.astype(np.float32), equal_nan=True)
        assert np.array_equal(np.signbit(y), np.signbit(x.astype(np.float32))) or name.endswith("Z")
        assert np.array_equal(z, x.astype(z.dtype), equal_nan=name in FLOATS)


@pytest.mark.by_default(cases=2)
@pytest.mark.parametrize("name", INTEGERS)
def test_integers_keep_their_low_bits(device: str, name: str) -> None:
    x = np.arange(-128, 128, dtype=np.int8)
    nodes = [cast("y", "x", name), cast("f", "x", "FLOAT"), cast("z", "f", name)]
    compiled = clopt.compile(model(nodes, [("x", "INT8", x.shape)], ["y", "z"]), device=device)
    wanted = x.astype(DTYPES[name])
    for result in compiled.run([x]):
        assert result.dtype == wanted.dtype
        assert np.array_equal(result.astype(np.int32), wanted.astype(np.int32))


@pytest.mark.by_default(cases=2)
@pytest.mark.parametrize("name", DTYPES)
def test_elements_move_unchanged(device: str, name: str) -> None:
    """Data movement, with a weight that is stored outside the IR, keeps every bit."""
    x = np.resize(codes(name), (8, 6, 30))
    weight = np.resize(codes(name)[::-1], (8, 6, 30))
    nodes = [
        helper.make_node("Concat", ["x", "w"], ["joined"], axis=1),
        helper.make_node("Transpose", ["joined"], ["turned"], perm=[2, 0, 1]),
        helper.make_node("Gather", ["turned", "rows"], ["picked"], axis=0),
        helper.make_node("Reshape", ["picked", "shape"], ["y"]),
    ]
    rows = np.array([29, 3, 3, 0])
    weights = [
        numpy_helper.from_array(weight, "w"),
        numpy_helper.from_array(rows, "rows"),
        numpy_helper.from_array(np.array([8, -1]), "shape"),
    ]
    made = model(nodes, [("x", name, x.shape)], ["y"], weights)
    (y,) = clopt.compile(made, device=device).run([x])
    wanted = np.concatenate([x, weight], 1).transpose(2, 0, 1)[rows].reshape(8, -1)
    assert y.dtype == wanted.dtype
    assert np.array_equal(bits(y), bits(np.ascontiguousarray(wanted)))


@pytest.mark.by_default(cases=2)
@pytest.mark.parametrize("kind", ["Add", "Mul", "Div", "Max"])
def test_bfloat16_rounds_once(device: str, kind: str) -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=(3, 50)).astype(ml_dtypes.bfloat16) for _ in range(2))
    made = model(
        [helper.make_node(kind, ["a", "b"], ["y"]), helper.make_node("Less", ["a", "b"], ["less"])],
        [("a", "BFLOAT16", a.shape), ("b", "BFLOAT16", b.shape)],
        ["y", "less"],
    )
    y, less = clopt.compile(made, device=device).run([a, b])
    wide = {"Add": np.add, "Mul": np.multiply, "Div": np.divide, "Max": np.maximum}[kind](
        a.astype(np.float32), b.astype(np.float32)
    )
    assert np.array_equal(bits(y), bits(wide.astype(ml_dtypes.bfloat16)))
    assert np.array_equal(less, a < b)


@pytest.mark.by_default(cases=2)
@pytest.mark.parametrize("name", ["FLOAT8E4M3FN", "FLOAT8E5M2", "FLOAT4E2M1", *INTEGERS])
def test_quantisation(device: str, name: str) -> None:
    """Per axis, and back; ONNX's reference evaluator is the oracle."""
    from onnx.reference import ReferenceEvaluator

    x = np.random.default_rng(0).normal(0, 6, (3, 40)).astype(np.float32)
    scale = np.array([0.5, 1.5, 2], np.float32)
    zero = np.array([1, 0, 1] if name in INTEGERS else [0, 0, 0]).astype(DTYPES[name])
    constants = [numpy_helper.from_array(scale, "s"), numpy_helper.from_array(zero, "z")]
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], axis=0),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"], axis=0),
    ]
    made = model(nodes, [("x", "FLOAT", x.shape)], ["q", "y"], constants)
    q, y = clopt.compile(made, device=device).run([x])
    wanted: list[Any] = ReferenceEvaluator(made).run(None, {"x": x})
    assert q.dtype == wanted[0].dtype
    assert np.array_equal(q.astype(np.float32), wanted[0].astype(np.float32))
    assert np.array_equal(y, wanted[1])


@pytest.mark.by_default
def test_packed_weights_in_a_file(device: str, tmp_path: Path) -> None:
    """Two integers of 4 bits share a byte, the first in the low bits, also in external data."""
    w = np.array([-8, 7, 3, -1, 2], np.int8)
    packed = np.array([0x78, 0xF3, 0x02], np.uint8)
    (tmp_path / "w.bin").write_bytes(packed.tobytes())
    tensor = TensorProto(name="w", data_type=TensorProto.INT4, dims=[5])
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="w.bin")
    nodes = [cast("wide", "w", "FLOAT"), helper.make_node("Add", ["x", "wide"], ["y"])]
    onnx.save(model(nodes, [("x", "FLOAT", [5])], ["y"], [tensor]), tmp_path / "m.onnx")
    (y,) = clopt.compile(tmp_path / "m.onnx", device=device).run([np.zeros(5, np.float32)])
    assert np.array_equal(y, w.astype(np.float32))


@pytest.mark.by_default(cases=2)
@pytest.mark.parametrize("name", DTYPES)
def test_random_inputs(name: str) -> None:
    """`clopt-run` without inputs draws more than one number."""
    dtype = np.dtype(DTYPES[name])
    drawn = random_input(TensorInfo("x", (100,), dtype), np.random.default_rng(0))
    assert drawn.dtype == dtype
    assert 2 < len(np.unique(drawn.astype(np.float32)))


@pytest.mark.by_default
def test_the_second_start_of_a_model(
    device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new process, which has not imported ml_dtypes, reads the types from the cache by name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("CLOPT_MODEL_CACHE", "auto")
    # The checkout may be edited while the tests run.
    monkeypatch.setattr(compiled_cache, "is_revision_settled", lambda: True)
    nodes = [cast("y", "x", "BFLOAT16")]
    onnx.save(model(nodes, [("x", "FLOAT8E5M2", [4])], ["y"]), "m.onnx")
    arguments = ["m.onnx", "--device", device]
    run.main(arguments)
    kept = sorted((tmp_path / "cache").rglob("*.bin"))
    command = [sys.executable, "-m", "clopt.tools.run", *arguments]
    ended = processes.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "bfloat16" in ended.stdout
    assert sorted((tmp_path / "cache").rglob("*.bin")) == kept != []


@pytest.mark.by_default
def test_an_array_of_another_type(device: str) -> None:
    compiled = clopt.compile(
        model([cast("y", "x", "FLOAT")], [("x", "BFLOAT16", [4])], ["y"]), device=device
    )
    with pytest.raises(clopt.CloptError, match=r"by \.astype\(ml_dtypes\.bfloat16\)"):
        compiled.run([np.zeros(4, np.float32)])


@pytest.mark.by_default
def test_c_packages_refuse_small_types(device: str, tmp_path: Path) -> None:
    onnx.save(model([cast("y", "x", "FLOAT")], [("x", "INT4", [4])], ["y"]), tmp_path / "m.onnx")
    compiled = clopt.compile(tmp_path / "m.onnx", device=device)
    with pytest.raises(clopt.CloptError, match='cannot have int4 elements in "x"; cast'):
        compiled.save_c(tmp_path / "package")


@pytest.mark.by_default
@pytest.mark.parametrize(
    ("source", "target"), [("FLOAT", "UINT32"), ("INT64", "DOUBLE"), ("UINT8", "INT8")]
)
def test_bits_stay(device: str, source: str, target: str) -> None:
    """BitCast keeps all bits, also of NaNs and subnormal numbers."""
    dtypes = [
        helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(name))
        for name in (source, target)
    ]
    x = np.random.default_rng(0).integers(0, 256, 800, np.uint8).view(dtypes[0]).reshape(2, -1)
    to = TensorProto.DataType.Value(target)
    made = model([helper.make_node("BitCast", ["x"], ["y"], to=to)], [("x", source, x.shape)], "y")
    made.opset_import[0].version = 26
    (y,) = clopt.compile(made, device=device).run([x])
    assert y.dtype == dtypes[1]
    assert y.tobytes() == x.tobytes()
