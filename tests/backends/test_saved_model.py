"""Compiled models in folders: they come back equal, are complete or absent, damage is noticed."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import clopt
from clopt.backends.pyopencl_runtime import find_device
from clopt.backends.saved_model import save_model
from clopt.weights import Weights
from support import processes
from support.cl.programs import ADD, WEIGHT, parse

X = np.array([1, -1, 0.5, 8], np.float32)


@pytest.fixture
def model(device: str) -> clopt.CompiledModel:
    """A compiled module with a kernel in it and a weight nobody uses."""
    weights = Weights()
    module = parse(ADD.format(key=weights.add(WEIGHT)))
    weights.add(np.zeros(100))
    return clopt.compile(module, device=device, weights=weights)


def test_a_model_comes_back(model: clopt.CompiledModel, device: str, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "saved"
    model.save(folder)
    loaded = clopt.load(folder, device=device)
    assert loaded.inputs == model.inputs
    assert loaded.outputs == model.outputs
    assert loaded.device_name == model.device_name
    np.testing.assert_array_equal(loaded.run([X])[0], X + WEIGHT)
    assert sorted(file.name for file in folder.iterdir()) == [
        "kernels.cl",
        "model.json",
        "program.mlir",
        "weights.safetensors",
    ]
    assert "tir.func" not in (folder / "program.mlir").read_text()
    assert len(list(Weights.load(folder / "weights.safetensors").keys())) == 1
    description = json.loads((folder / "model.json").read_text())
    assert description["inputs"] == [{"name": "x", "shape": [4], "type": "f32"}]
    assert [entry.name for entry in folder.parent.iterdir()] == ["saved"]


def test_loaded_models_can_be_saved(model: clopt.CompiledModel, tmp_path: Path) -> None:
    model.save(tmp_path / "first")
    clopt.load(tmp_path / "first").save(tmp_path / "second")
    for file in (tmp_path / "first").iterdir():
        assert (tmp_path / "second" / file.name).read_bytes() == file.read_bytes()


def test_an_older_model_is_replaced(model: clopt.CompiledModel, tmp_path: Path) -> None:
    folder, weights = tmp_path / "saved", tmp_path / "saved" / "weights.safetensors"
    model.save(folder)
    before = weights.stat().st_ino
    model.save(folder)
    assert weights.stat().st_ino != before
    assert clopt.load(folder).inputs == model.inputs
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(clopt.CloptError, match=r"has notes\.txt, which clopt did not write"):
        model.save(folder)
    assert (folder / "notes.txt").read_text() == "mine"


def test_other_folders_are_left_alone(model: clopt.CompiledModel, tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("dear")
    with pytest.raises(clopt.CloptError, match="exists and is no compiled model"):
        model.save(tmp_path)
    with pytest.raises(clopt.CloptError, match="Cannot write the folder"):
        model.save(tmp_path / "letter" / "below")
    assert [entry.name for entry in tmp_path.iterdir()] == ["letter"]


def test_a_failure_leaves_nothing(model: clopt.CompiledModel, tmp_path: Path) -> None:
    with pytest.raises(clopt.CloptError, match="is not in the store"):
        save_model(tmp_path / "saved", [(model.module, "")], Weights())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "name", ["kernels.cl", "model.json", "program.mlir", "weights.safetensors"]
)
def test_damage_is_noticed(model: clopt.CompiledModel, tmp_path: Path, name: str) -> None:
    model.save(tmp_path / "saved")
    file = tmp_path / "saved" / name
    content = file.read_bytes()
    for damaged in (content[: len(content) // 2], b"", b"\xff" + content):
        file.write_bytes(damaged)
        with pytest.raises(clopt.CloptError, match=rf"{name}|the weights file"):
            clopt.load(tmp_path / "saved")
    file.unlink()
    with pytest.raises(clopt.CloptError, match=name):
        clopt.load(tmp_path / "saved")


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(clopt.CloptError, match=r"it lacks model\.json"):
        clopt.load(tmp_path / "absent")


def test_loading_needs_no_onnx(model: clopt.CompiledModel, device: str, tmp_path: Path) -> None:
    model.save(tmp_path / "saved")
    code = (
        f"import clopt, sys; clopt.load({str(tmp_path / 'saved')!r}, {device!r}); "
        "assert not {'onnx', 'clopt.passes', 'clopt.frontends'} & set(sys.modules)"
    )
    processes.run([sys.executable, "-c", code], check=True)


def test_a_target_alone_touches_no_device(tmp_path: Path) -> None:
    weights = Weights()
    module = parse(ADD.format(key=weights.add(WEIGHT)))
    model = clopt.compile(module, target="adreno-7xx", weights=weights)
    model.save(tmp_path / "saved")
    assert "executable" not in vars(model)
    assert json.loads((tmp_path / "saved" / "model.json").read_text())["target"] == "adreno-7xx"
    shutil.rmtree(tmp_path / "saved")
    assert model.device_name.startswith(find_device().name)


def test_a_kernel_of_one_work_item_is_saved(tmp_path: Path) -> None:
    text = """
    func.func @main(%x: tensor<1x10xf32> {nn.name = "x"}) -> (tensor<1x10xf32> {nn.name = "y"}) {
      %y = nn.softmax %x {axis = 1 : i64} : (tensor<1x10xf32>) -> tensor<1x10xf32>
      func.return %y : tensor<1x10xf32>
    }"""
    model = clopt.compile(parse(text), target="generic-gpu")
    model.save(tmp_path / "saved")
    assert "global [1] local [1]" in (tmp_path / "saved" / "program.mlir").read_text()
