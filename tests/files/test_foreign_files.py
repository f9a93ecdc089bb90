"""Files that the user did not name may be pipes, devices, links or huge: clopt says so at once."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

import clopt
from clopt import CloptError
from clopt.backends.saved_model import load_model, save_model
from clopt.decisions.database import TuningDatabase
from clopt.dialects import cl
from clopt.files.arrays import read_arrays
from clopt.files.reading import check_regular, read_file
from clopt.files.writing import write_atomically
from clopt.weights import Weights
from support.cl.programs import ADD, WEIGHT, parse
from support.onnx import models

STRANGE = {"pipe": os.mkfifo, "device": lambda path: path.symlink_to("/dev/zero")}


@pytest.fixture(params=STRANGE)
def make_strange(request: pytest.FixtureRequest) -> Callable[[Path], None]:
    """Put a pipe or a link to an endless device at a path."""

    def make(path: Path) -> None:
        path.unlink(missing_ok=True)
        STRANGE[request.param](path)

    return make


def test_only_regular_files_are_read(tmp_path: Path, make_strange: Callable[[Path], None]) -> None:
    make_strange(tmp_path / "file")
    for check in (read_file, check_regular):
        with pytest.raises(OSError, match="it is a pipe or a device, not a file"):
            check(tmp_path / "file")
        with pytest.raises(IsADirectoryError):
            check(tmp_path)
    (tmp_path / "long").write_bytes(b"12345")
    assert read_file(tmp_path / "long", limit=5) == b"12345"
    with pytest.raises(OSError, match="it has 5 bytes, the limit is 4"):
        read_file(tmp_path / "long", limit=4)


@pytest.mark.parametrize(
    "name", ["program.mlir", "kernels.cl", "model.json", "weights.safetensors"]
)
def test_saved_models(name: str, tmp_path: Path, make_strange: Callable[[Path], None]) -> None:
    weights = Weights()
    module = parse(ADD.format(key=weights.add(WEIGHT)))
    model = clopt.compile(module, target="pocl", weights=weights)
    save_model(tmp_path / "saved", [(model.module, model.source)], weights)
    make_strange(tmp_path / "saved" / name)
    with pytest.raises(CloptError, match=rf"{name}: it is a pipe or a device, not a file"):
        load_model(tmp_path / "saved")


def test_external_data(tmp_path: Path) -> None:
    proto = models.model("float[2,4] x", "y = Add(x, c)", constants={"c": [1.0] * 4})
    onnx.save(
        proto, tmp_path / "m.onnx", save_as_external_data=True, location="data", size_threshold=0
    )
    (tmp_path / "data").unlink()
    os.mkfifo(tmp_path / "data")
    with pytest.raises(CloptError, match="data, the data of the tensor 'c': it is a pipe or a dev"):
        clopt.compile(tmp_path / "m.onnx", target="pocl")


def test_databases_beside_a_model(tmp_path: Path, make_strange: Callable[[Path], None]) -> None:
    path = tmp_path / "m.tuning.jsonl"
    make_strange(path)
    found = TuningDatabase.found([], [str(path)], cl.Target())
    (remark,) = found.remarks
    assert remark == (
        f"{path}: cannot read this tuning database: it is a pipe or a device, not a file; this "
        "tuning database is ignored."
    )


def npz(path: Path, change: Callable[[bytearray], None]) -> None:
    """A compressed archive of one array, with bytes changed."""
    np.savez_compressed(path, x=np.arange(1000))
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)


def set_words(data: bytearray, offset: int, value: int) -> None:
    """Set a field of both headers of the first entry: local, and in the directory."""
    central = data.index(b"PK\1\2")
    for place in (offset, central + offset + 2):
        data[place : place + 2] = struct.pack("<H", value)


def huge(path: Path) -> None:
    np.save(path, np.zeros(1))
    path.write_bytes(path.read_bytes().replace(b"(1,), }", b"(1099511627776,), }"))


ARCHIVES: dict[str, tuple[Callable[[Path], None], str]] = {
    "damaged": (
        lambda path: npz(path, lambda data: data.__setitem__(slice(60, 70), b"\xff" * 10)),
        "not a numpy file",
    ),
    "encrypted": (
        lambda path: npz(path, lambda data: set_words(data, 6, 1)),
        "cannot read this archive: .* is encrypted",
    ),
    "method": (
        lambda path: npz(path, lambda data: set_words(data, 8, 99)),
        "cannot read this archive: That compression method",
    ),
    "huge": (huge, "arrays do not fit into memory"),
}


@pytest.mark.parametrize("case", ARCHIVES)
def test_arrays(case: str, tmp_path: Path) -> None:
    make, sentence = ARCHIVES[case]
    path = tmp_path / ("x.npy" if case == "huge" else "x.npz")
    make(path)
    with pytest.raises(CloptError, match=sentence):
        read_arrays(path)


def test_links_are_replaced_not_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("mine")
    (tmp_path / "link").symlink_to("target")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "target").read_text() == "mine"
    assert read_file(tmp_path / "link") == b"new"
    (tmp_path / "target").chmod(0o640)
    write_atomically(tmp_path / "target", b"new")
    assert (tmp_path / "target").stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "target"]


def test_devices_are_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="it is a pipe or a device"):
        write_atomically(tmp_path / "pipe", b"new")
    assert (tmp_path / "pipe").is_fifo()
