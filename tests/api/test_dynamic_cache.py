"""Programs for several sizes from one file, in memory and in the cache of compiled models."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import clopt
from clopt.backends.pyopencl_runtime import constants
from clopt.frontends.onnx import scope
from clopt.passes.nn import restriction
from support.onnx.models import model

pytestmark = pytest.mark.filterwarnings("ignore::clopt.errors.CloptWarning")


def floats(*shape: int) -> np.ndarray:
    return np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)


def test_a_second_start_compiles_nothing(compilations: list[object], tmp_path: Path, device: str):
    path = tmp_path / "model.onnx"
    proto = model("float[n,6] x, int64[2] s", "a = Relu(x) y = Reshape(a, s)")
    onnx.save(proto, path)
    seen: list[tuple[int, str]] = []
    for _ in range(2):
        compiled = clopt.compile(path, device=device)
        for n, *shape in ((1, 2, 3), (2, 3, 4), (2, 4, 3)):
            x = floats(n, 6)
            (y,) = compiled.run({"x": x, "s": np.array(shape)})
            np.testing.assert_array_equal(y, np.maximum(x, 0).reshape(shape))
        seen.append((len(compilations), repr(compiled)))
    # Three programs; the compiler also found that sizes and then that values are missing.
    assert seen[0] == seen[1] == (5, repr(compiled))


def test_a_second_start_proves_nothing(
    compilations: list[object],
    tmp_path: Path,
    device: str,
    monkeypatch: pytest.MonkeyPatch,
):
    path, found = tmp_path / "model.onnx", []
    onnx.save(model("float[n,m] x", "y = Softmax<axis=1>(x)"), path)
    for _ in range(2):
        compiled = clopt.compile(path, device=device)
        found.append([compiled.run([floats(n, m)])[0].sum() for n, m in ((3, 5), (4, 5), (3, 6))])
        assert compiled.programs == 1
        monkeypatch.setattr(restriction, "check_restriction", None)
    assert found[0] == found[1]
    assert len(compilations) == 2  # the first found that sizes are missing


def test_a_proof_for_another_size_reads_no_weights_again(
    tmp_path: Path, device: str, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "model.onnx"
    write(path, 2)
    compiled = clopt.compile(path, device=device)
    compiled.run([np.ones((7, 300), np.float32)])
    monkeypatch.setattr(scope, "read_tensor", None)
    x = floats(6, 300)
    (y,) = compiled.run([x])
    np.testing.assert_allclose(y, 2 * x + np.linspace(-1, 0, 300), atol=1e-6)
    assert isinstance(compiled, clopt.DynamicModel)
    assert compiled.programs == 1


def write(path: Path, factor: float) -> None:
    """A product with a constant, and a sum with a row of weights."""
    weights = {"f": np.float32(factor), "w": np.linspace(-1, 0, 300, dtype=np.float32)}
    graph = helper.make_graph(
        [helper.make_node("Mul", ["x", "f"], ["z"]), helper.make_node("Add", ["z", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 300])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 300])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), path)


X = np.zeros((2, 300), np.float32)
X[:, 299] = 1


def test_a_file_that_changes_is_read_once(compilations: list[object], tmp_path: Path, device: str):
    """The programs of one model are all from the same file, and the cache mixes no files up."""
    path = tmp_path / "model.onnx"
    write(path, 2)
    first = clopt.compile(path, device=device)
    assert first.run([X[:1]])[0].max() == 2
    write(path, 3)
    assert first.run([X])[0].max() == 2
    assert clopt.compile(path, device=device).run([X])[0].max() == 3
    second = clopt.compile(path, device=device)
    assert second.run([X])[0].max() == 3
    write(path, 4)
    assert second.run([X])[0].max() == 3
    with pytest.raises(clopt.CloptError, match="has changed since it was compiled; compile it ag"):
        second.run([X[:1]])


def test_programs_share_the_weights(compilations: list[object], tmp_path: Path, device: str):
    path = tmp_path / "model.onnx"
    write(path, 2)
    for _ in range(2):
        for use_cache in (True, False):
            gc.collect()
            before = len(constants._buffers)
            compiled = clopt.compile(path, device=device, use_cache=use_cache)
            made = [compiled.for_inputs([X[:1]])]
            count = len(constants._buffers)
            assert count > before
            made.append(compiled.for_inputs([X]))
            assert len(constants._buffers) == count
            arrays = [[each.weights.get(key) for key in each.weights.keys()] for each in made]
            assert all(a is b for a, b in zip(*arrays, strict=True))
            assert [each.run([X[:n]])[0].max() for n, each in enumerate(made, 1)] == [2, 2]
            del compiled, made
