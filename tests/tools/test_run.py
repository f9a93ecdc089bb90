"""`clopt-run` and `clopt-compile` from outside."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper
from PIL import Image

from clopt.api import TensorInfo, list_devices
from clopt.tools import compile, run
from clopt.tools.inputs import ImageScaling, read_image
from clopt.tools.reference import difference

X = np.array([[1, -1, 2], [-9, 0, 5]], np.float32)
Y = np.maximum(X + np.arange(6, dtype=np.float32).reshape(2, 3), 0)


def refusal(capsys, main: Callable[[list[str]], None], *args: object) -> str:
    """What a tool says when it refuses: one line, exit code 1, no traceback."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as leaving:
        main([str(arg) for arg in args])
    assert leaving.value.code == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1, err
    return err


def test_outputs_of_given_inputs(model: Path, tmp_path: Path, device: str):
    given, result = tmp_path / "x.npy", tmp_path / "y.npz"
    np.save(given, X)
    run.main([str(model), "--input", f"x={given}", "--output", str(result), "--device", device])
    np.testing.assert_allclose(np.load(result)["y"], Y)


@pytest.mark.parametrize("target", ["adreno-740 texture=prefer", "texture=off"])
def test_target_and_facts_of_it(target: str, model: Path, tmp_path: Path, device: str):
    given, folder = tmp_path / "x.npy", tmp_path / "compiled"
    np.save(given, X)
    words = ["--target", *target.split(), "--device", device]
    run.main([*words, str(model), "--input", f"x={given}", "--output", str(tmp_path / "a.npz")])
    compile.main([*words, str(model), "-o", str(folder)])
    program = (folder / "program.mlir").read_text()
    assert f'texture = "{target[target.index("=") + 1 :]}"' in program
    run.main([str(folder), "--input", f"x={given}", "--output", str(tmp_path / "b.npz")])
    for result in "ab":
        np.testing.assert_allclose(np.load(tmp_path / f"{result}.npz")["y"], Y)


def test_summary_tells_how_images_lie_in_memory(model: Path, capsys, device: str):
    run.main([str(model), "--target", "adreno-740", "texture=prefer", "--device", device])
    assert re.search(", image2d (over|of) ", capsys.readouterr().out)


def test_explain_tells_layouts(model: Path, tmp_path: Path, capsys):
    args = [str(model), "--explain", "--target", "adreno-740"]
    run.main([*args, "texture=prefer"])
    assert "1 layout transforms are left, which move 56 bytes" in capsys.readouterr().err
    compile.main([*args, "texture=off", "-o", str(tmp_path / "compiled")])
    assert "adreno-740 uses no textures: texture=off" in capsys.readouterr().err


def test_npz_names_its_inputs_and_a_folder_takes_outputs(model: Path, tmp_path: Path):
    given, result = tmp_path / "all.npz", tmp_path / "results"
    np.savez(given, x=X)
    run.main([str(model), "--input", str(given), "--output", str(result)])
    np.testing.assert_allclose(np.load(result / "y.npy"), Y)


def test_same_seed_same_outputs(model: Path, tmp_path: Path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        run.main([str(model), "--seed", str(seed), "--output", str(tmp_path / name)])
    a, b, c = (np.load(tmp_path / name / "y.npy") for name in "abc")
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


def test_summary_times_and_comparison(model: Path, capsys, device: str):
    args = [str(model), "--compare", "onnxruntime", "--time", "2", "--device", device]
    run.main(args)
    out = capsys.readouterr().out
    assert "2x3 float32" in out
    assert "median" in out
    assert "against onnxruntime" in out


def test_print_shows_all_values(model: Path, tmp_path: Path, capsys):
    given = tmp_path / "x.npy"
    np.save(given, X)
    run.main([str(model), "--input", str(given), "--print"])
    assert str(Y) in capsys.readouterr().out


def test_list_devices(capsys):
    run.main(["--list-devices"])
    assert list_devices()[0].driver[:8] in capsys.readouterr().out


def test_compiled_folder_runs_without_the_model(model: Path, tmp_path: Path, device: str):
    given, folder, result = tmp_path / "x.npy", tmp_path / "compiled", tmp_path / "y.npz"
    np.save(given, X)
    compile.main([str(model), "-o", str(folder), "--device", device])
    model.unlink()
    run.main([str(folder), "--input", str(given), "--output", str(result), "--device", device])
    np.testing.assert_allclose(np.load(result)["y"], Y)


def test_difference_above_the_tolerance_fails(model: Path, capsys):
    args = [model, "--compare", "onnxruntime", "--tolerance", "-1"]
    assert "y differs from onnxruntime by more than the tolerance" in refusal(
        capsys, run.main, *args
    )


WRONG_INPUTS = {
    "shape": (X[:1], "input x takes 2x3 float32, not 1x3 float32"),
    "dtype": (X.astype(np.float64), "input x takes 2x3 float32, not 2x3 float64"),
}


@pytest.mark.parametrize("what", WRONG_INPUTS)
def test_input_of_wrong(what: str, model: Path, tmp_path: Path, capsys):
    array, sentence = WRONG_INPUTS[what]
    np.save(tmp_path / "x.npy", array)
    assert sentence in refusal(capsys, run.main, model, "--input", tmp_path / "x.npy")


WRONG_OPTIONS = {
    "--input z=x.npy": "the model has no such input, only x",
    "--input absent.npy": "absent.npy: cannot read this file",
    "--input broken.npy": "this is not a numpy file",
    "--input broken.npz": "this is not a numpy file",
    "--input broken.png": "is no single image",
    "--device no-such-device": 'No OpenCL device answers to "no-such-device"',
    "--dim batch": "--dim batch: write name=value",
    "--dim batch=-2": "--dim batch=-2: write name=value",
    "--target no-such-target": 'There is no target "no-such-target"',
    "--target pocl texture=yes": 'texture is "off" or "auto" or "prefer", not "yes"',
    "--target texture=yes": 'texture is "off" or "auto" or "prefer", not "yes"',
    "--target adreno-740 vector_width=x": "vector_width is a whole number, not 'x'",
    "--output /dev/null/outputs": "/dev/null/outputs: cannot write here",
    "--mean a,b,c": "write numbers separated by commas",
    "--std 1,2": "one for each of 3 or 4 channels",
}


@pytest.mark.parametrize("options", WRONG_OPTIONS)
def test_wrong_options(options: str, model: Path, tmp_path: Path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for suffix in ("npy", "npz", "png"):
        Path(f"broken.{suffix}").write_bytes(b"PK nonsense")
    assert WRONG_OPTIONS[options] in refusal(capsys, run.main, model, *options.split(" "))


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def cyclic(path: Path) -> None:
    proto = onnx.load(path)
    proto.graph.node[0].input[1] = "y"
    onnx.save(proto, path)


def unknown_operator(path: Path) -> None:
    proto = onnx.load(path)
    proto.graph.node[1].CopyFrom(helper.make_node("Nonsense", ["sum"], ["y"], name="relu"))
    onnx.save(proto, path)


def mixed_types(path: Path) -> None:
    proto = onnx.load(path)
    proto.graph.node[0].CopyFrom(helper.make_node("Not", ["x"], ["sum"], name="add"))
    onnx.save(proto, path)


def absent(path: Path) -> None:
    path.unlink()


def text(path: Path) -> None:
    path.write_text("this is no model")


@pytest.mark.parametrize("damage", [truncated, cyclic, unknown_operator, mixed_types, absent, text])
def test_bad_model(damage: Callable[[Path], None], model: Path, tmp_path: Path, capsys):
    damage(model)
    before = sorted(tmp_path.iterdir())
    assert "add" in refusal(capsys, run.main, model)
    folder = tmp_path / "compiled"
    assert "add" in refusal(capsys, compile.main, model, "-o", folder)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "options", ["--dim batch=1", "--target texture=off", "--compare onnxruntime", "--explain"]
)
def test_compiled_folder_refuses(options: str, model: Path, tmp_path: Path, capsys):
    folder = tmp_path / "compiled"
    compile.main([str(model), "-o", str(folder)])
    assert "compiled" in refusal(capsys, run.main, folder, *options.split(" "))


def test_folder_that_is_no_compiled_model(model: Path, tmp_path: Path, capsys):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "precious.txt").touch()
    refusal(capsys, run.main, tmp_path / "mine")
    refusal(capsys, compile.main, model, "-o", tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["precious.txt"]


@pytest.mark.parametrize("shape", [(1, 3, 4, 5), (1, 6, 5, 3)])
def test_image_becomes_an_input(shape: tuple[int, ...], tmp_path: Path):
    file = tmp_path / "red.png"
    Image.new("RGB", (5, 4), (255, 0, 0)).save(file)
    scaling = ImageScaling(mean=(0.5, 0.5, 0.5), std=(0.25, 0.5, 1.0))
    array = read_image(file, TensorInfo("x", shape, np.dtype(np.float32)), scaling)
    assert array.shape == shape
    channels = np.moveaxis(array, shape.index(3), -1)
    assert np.array_equal(channels[0, 2, 2], np.array([2.0, -1.0, -0.5], np.float32))


def test_image_for_bytes_is_not_scaled(tmp_path: Path):
    file = tmp_path / "grey.png"
    Image.new("L", (2, 2), 77).save(file)
    array = read_image(file, TensorInfo("x", (1, 1, 8, 8), np.dtype(np.uint8)), ImageScaling())
    assert np.array_equal(array, np.full((1, 1, 8, 8), 77, np.uint8))


@pytest.mark.parametrize(
    ("ours", "reference", "expected"),
    [
        ([1.0, 2.0], [1.0, 4.0], 0.5),
        ([np.nan, 1.0], [np.nan, 1.0], 0.0),
        ([np.nan, 1.0], [0.0, 1.0], np.inf),
        ([np.inf, 1.0], [np.inf, 1.0], 0.0),
        ([np.inf, 1.0], [-np.inf, 1.0], np.inf),
        ([1.0], [1.0, 2.0], np.inf),
        ([], [], 0.0),
    ],
)
def test_relative_difference(ours: list[float], reference: list[float], expected: float):
    assert difference(np.array(ours), np.array(reference)).relative == expected
