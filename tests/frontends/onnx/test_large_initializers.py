"""Tests that large initialisers are read apart from a model without a difference."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import clopt
from clopt.frontends.onnx.large_initializers import read_apart

LARGE = np.arange(40_000, dtype=np.float32).reshape(200, 200)
SMALL = np.arange(200, dtype=np.float32)


def _model(*initializers: TensorProto) -> onnx.ModelProto:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 200))
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 200))
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Add", "pb", "y")]
    graph = helper.make_graph(nodes, "g", [x], [y], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def _usual() -> onnx.ModelProto:
    return _model(numpy_helper.from_array(SMALL, "b"), numpy_helper.from_array(LARGE, "w"))


def _write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_only_large_contents_are_apart(tmp_path: Path) -> None:
    model = _usual()
    read = read_apart(_write(tmp_path / "m.onnx", model.SerializeToString()))
    assert read is not None
    assert list(read.contents) == ["w"]
    assert read.contents["w"].tobytes() == LARGE.tobytes()
    read.model.graph.initializer[1].raw_data = LARGE.tobytes()
    assert read.model == model


def test_results_are_those_of_a_parsed_model(tmp_path: Path) -> None:
    model = _usual()
    path = _write(tmp_path / "m.onnx", model.SerializeToString())
    x = np.linspace(-1, 1, 200, dtype=np.float32).reshape(1, 200)
    for source in (path, model):
        compiled = clopt.compile(source, target="pocl", device="pocl", use_cache=False)
        np.testing.assert_allclose(compiled.run([x])[0], x @ LARGE + SMALL, rtol=1e-4)


def test_split_graphs_are_merged(tmp_path: Path) -> None:
    """Concatenated messages merge, so a model may hold its graph in several fields."""
    first, second = _model(numpy_helper.from_array(LARGE, "w")), onnx.ModelProto()
    second.graph.initializer.extend(
        [numpy_helper.from_array(SMALL, "b"), numpy_helper.from_array(LARGE + 1, "v")]
    )
    content = first.SerializeToString() + second.SerializeToString()
    read = read_apart(_write(tmp_path / "m.onnx", content))
    assert read is not None
    assert {name: data.tobytes() for name, data in read.contents.items()} == {
        "w": LARGE.tobytes(),
        "v": (LARGE + 1).tobytes(),
    }


@pytest.mark.parametrize("length", [1, 100, 80_000, -1])
def test_cut_file_is_refused(tmp_path: Path, length: int) -> None:
    path = _write(tmp_path / "m.onnx", _usual().SerializeToString()[:length])
    assert read_apart(path) is None
    with pytest.raises(clopt.CloptError, match=r"m\.onnx is not an ONNX model or is damaged"):
        clopt.compile(path, target="pocl")


def test_contents_of_a_wrong_size_are_refused(tmp_path: Path) -> None:
    model = _usual()
    model.graph.initializer[1].raw_data = LARGE.tobytes()[:-4]
    path = _write(tmp_path / "m.onnx", model.SerializeToString())
    with pytest.raises(clopt.CloptError, match="'w' is damaged: it holds 159996 bytes"):
        clopt.compile(path, target="pocl")


def test_initialisers_of_one_name_are_left_to_protobuf(tmp_path: Path) -> None:
    twice = _model(numpy_helper.from_array(LARGE, "w"), numpy_helper.from_array(SMALL, "w"))
    assert read_apart(_write(tmp_path / "m.onnx", twice.SerializeToString())) is None


def test_groups_and_folders_are_left_to_protobuf(tmp_path: Path) -> None:
    group = bytes([100 << 3 & 127 | 3 | 128, 100 >> 4])
    content = group + _usual().SerializeToString()
    assert read_apart(_write(tmp_path / "m.onnx", content)) is None
    assert read_apart(tmp_path) is None
