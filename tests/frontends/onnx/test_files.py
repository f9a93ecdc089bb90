"""Files that are missing, damaged or no models, and weights in other files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from clopt.errors import CloptError
from support.onnx.models import load, model


def test_missing_file(tmp_path: Path):
    with pytest.raises(CloptError, match=r"Cannot read .*: No such file"):
        load(tmp_path / "none.onnx")


@pytest.mark.parametrize("data", [b"", b"not an onnx file at all", b"\x08\x09"])
def test_foreign_bytes(data: bytes):
    with pytest.raises(CloptError, match="is not an ONNX model"):
        load(data)


def test_truncated_file_never_imports():
    weights = {"w": np.ones((8, 8), np.float32)}
    data = model("float[2,8] x", "h = MatMul(x, w) y = Relu(h)", constants=weights)
    whole = data.SerializeToString()
    refused = 0
    for size in range(len(whole)):
        try:
            load(whole[:size])
        except CloptError:
            refused += 1
    assert refused >= len(whole) - 1


def test_initializer_too_short():
    proto = model("float[2,3] x", "y = Add(x, c)", constants={"c": [1.0, 2.0, 3.0]})
    proto.graph.initializer[0].raw_data = b"\0" * 8
    with pytest.raises(CloptError, match="'c' is damaged: it holds 8 bytes"):
        load(proto)


def external(tmp_path: Path, location: str, **entries: int) -> Path:
    """A model whose weight lies in another file."""
    proto = model("float[2,4] x", "y = Add(x, c)", constants={"c": [1.0] * 4})
    tensor = proto.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=str(value))
    onnx.save(proto, tmp_path / "m.onnx")
    return tmp_path / "m.onnx"


def test_external_data_missing(tmp_path: Path):
    with pytest.raises(CloptError, match=r"Cannot read .*data.bin, the data of the tensor 'c'"):
        load(external(tmp_path, "data.bin"))


def test_external_data_too_short(tmp_path: Path):
    (tmp_path / "data.bin").write_bytes(b"\0" * 12)
    with pytest.raises(CloptError, match="is too short for the tensor 'c'"):
        load(external(tmp_path, "data.bin"))


@pytest.mark.parametrize("location", ["../data.bin", "/etc/passwd"])
def test_external_data_stays_in_the_folder(tmp_path: Path, location: str):
    with pytest.raises(CloptError, match="outside the model's folder"):
        load(external(tmp_path, location))


def test_external_data_of_bytes(tmp_path: Path):
    with pytest.raises(CloptError, match="pass the path of the model instead of its bytes"):
        load(external(tmp_path, "data.bin").read_bytes())
