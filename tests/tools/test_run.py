"""`clopt-run` and `clopt-compile` from outside."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import clopt
from clopt.api import list_devices
from clopt.tools import compile, opt, run
from support.onnx.models import by_onnxruntime
from support.onnx.models import model as made

X = np.array([[1, -1, 2], [-9, 0, 5]], np.float32)
Y = np.maximum(X + np.arange(6, dtype=np.float32).reshape(2, 3), 0)


def refusal(capsys, main: Callable[[list[str]], None], *args: object) -> str:
    """The sentence with which a tool refuses: one line, exit code 1, no traceback."""
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
    assert "1 layout transforms remain, which move 56 bytes" in capsys.readouterr().err
    compile.main([*args, "texture=off", "-o", str(tmp_path / "compiled")])
    assert "adreno-740 uses no textures: texture=off" in capsys.readouterr().err


def test_choices_of_a_file(model: Path, tmp_path: Path):
    file, given, result = (tmp_path / name for name in ("add.choices", "x.npy", "out.npz"))
    opt.main([str(model), "--target", "pocl", "-p", "opencl", "-t", "choices", "-o", str(file)])
    assert "width = 4" in file.read_text()
    file.write_text(file.read_text().replace("width = 4", "width = 2"))
    np.save(given, X)
    options = [str(model), "--target", "pocl", "--choices", str(file)]
    run.main([*options, "--device", "pocl", "--input", f"x={given}", "-o", str(result)])
    np.testing.assert_allclose(np.load(result)["y"], Y)
    compile.main([*options, "-o", str(tmp_path / "compiled")])
    assert "float2" in clopt.load(tmp_path / "compiled").source


def test_npz_names_its_inputs_and_a_folder_takes_outputs(model: Path, tmp_path: Path):
    given, result = tmp_path / "all.npz", tmp_path / "results"
    np.savez(given, x=X)
    run.main([str(model), "--input", str(given), "--output", str(result)])
    np.testing.assert_allclose(np.load(result / "y.npy"), Y)


def two_outputs(path: Path, names: tuple[str, str]) -> Path:
    """A model with the outputs x + 1 and x - 1."""
    one = numpy_helper.from_array(np.ones((2, 3), np.float32), "one")
    x, *outputs = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in ("x", *names)
    )
    nodes = [helper.make_node(op, ["x", "one"], [y]) for op, y in zip(("Add", "Sub"), names)]
    graph = helper.make_graph(nodes, "two", [x], outputs, [one])
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def test_outputs_with_a_strange_suffix(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    said = refusal(capsys, run.main, model, "-o", tmp_path / "out.txt")
    assert "out.txt: name an .npz file, an .npy file or a folder" in said
    (tmp_path / "out.txt").mkdir()
    run.main([str(model), "-o", str(tmp_path / "out.txt")])
    assert [path.name for path in (tmp_path / "out.txt").iterdir()] == ["y.npy"]


def test_npy_takes_one_output(model: Path, tmp_path: Path):
    given, result = tmp_path / "x.npy", tmp_path / "y.npy"
    np.save(given, X)
    run.main([str(model), "--input", str(given), "--output", str(result)])
    np.testing.assert_allclose(np.load(result), Y)


def test_npy_refuses_two_outputs(tmp_path: Path, capsys):
    path = two_outputs(tmp_path / "two.onnx", ("a", "b"))
    said = refusal(capsys, run.main, path, "-o", tmp_path / "y.npy")
    assert "the model has 2 outputs and an .npy file holds one; name an .npz file" in said
    assert not (tmp_path / "y.npy").exists()


def test_outputs_of_one_file_name(tmp_path: Path, capsys):
    path = two_outputs(tmp_path / "two.onnx", ("a/b", "a_b"))
    np.save(tmp_path / "x.npy", X)
    words = [path, "--input", tmp_path / "x.npy", "-o"]
    said = refusal(capsys, run.main, *words, tmp_path / "all")
    assert "two outputs would be a_b.npy; name an .npz file" in said
    run.main([str(word) for word in (*words, tmp_path / "all.npz")])
    outputs = np.load(tmp_path / "all.npz")
    np.testing.assert_allclose(outputs["a/b"], X + 1)
    np.testing.assert_allclose(outputs["a_b"], X - 1)


def test_model_on_stdin(model: Path, tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch):
    np.save(tmp_path / "x.npy", X)
    opt.main([str(model), "-p", "simplify"])
    for content in (model.read_bytes(), capsys.readouterr().out.encode()):
        words = ["--input", str(tmp_path / "x.npy"), "-o", str(tmp_path / "y.npy")]
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(content)))
        run.main(["-", *words])
        np.testing.assert_allclose(np.load(tmp_path / "y.npy"), Y)
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(content)))
        compile.main(["-", "-o", str(tmp_path / "compiled")])
        run.main([str(tmp_path / "compiled"), *words])
        np.testing.assert_allclose(np.load(tmp_path / "y.npy"), Y)


@pytest.mark.parametrize("main", [run.main, compile.main])
def test_empty_stdin(
    main: Callable[[list[str]], None], tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(b"\n")))
    said = refusal(capsys, main, "-", "-o", tmp_path / "out")
    assert "stdin is empty; send an ONNX model or MLIR text to it" in said


def test_model_on_stdin_is_compared(model: Path, capsys, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(model.read_bytes())))
    run.main(["-", "--compare", "onnxruntime"])
    assert "against onnxruntime" in capsys.readouterr().out


def test_module_with_weights_in_a_file(tmp_path: Path, capsys):
    weight = np.linspace(-1, 1, 3 * 700, dtype=np.float32).reshape(3, 700)
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["wide"]),
        helper.make_node("ReduceMax", ["wide"], ["y"], axes=[1], keepdims=0),
    ]
    x, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", [2, 3]), ("y", [2]))
    )
    graph = helper.make_graph(nodes, "wide", [x], [y], [numpy_helper.from_array(weight, "w")])
    opsets = [helper.make_opsetid("", 17)]
    path, module, weights = (tmp_path / name for name in ("m.onnx", "m.mlir", "w.safetensors"))
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    opt.main([str(path), "-p", "simplify", "--save-weights", str(weights), "-o", str(module)])
    np.save(tmp_path / "x.npy", X)
    words = ["--input", tmp_path / "x.npy", "-o", tmp_path / "y.npy"]
    run.main([str(word) for word in (module, "--weights", weights, *words)])
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), (X @ weight).max(axis=1), rtol=1e-5)
    assert "is not in the store of 0 weights" in refusal(capsys, run.main, module)
    assert "--weights applies to .mlir files" in refusal(
        capsys, run.main, path, "--weights", weights
    )
    assert "--compare needs the ONNX model, and this is a module" in refusal(
        capsys, run.main, module, "--compare", "onnxruntime"
    )


@pytest.mark.parametrize("main", [opt.main, run.main, compile.main])
def test_version(main: Callable[[list[str]], None], capsys):
    with pytest.raises(SystemExit) as leaving:
        main(["--version"])
    assert leaving.value.code == 0
    assert capsys.readouterr().out.split()[1:] == [clopt.__version__]


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
    heading, _, row = (line.split() for line in out.splitlines()[-8:-5])
    assert heading == ["runs", "median", "min", "p90", "p99", "throughput"]
    runs, median, _, least, _, p90, _, p99, _, throughput = row
    assert runs == "2"
    assert float(least) <= float(median) <= float(p90) <= float(p99)
    assert float(throughput.removesuffix("/s")) > 0
    assert "against onnxruntime" in out


def test_print_shows_all_values(model: Path, tmp_path: Path, capsys):
    given = tmp_path / "x.npy"
    np.save(given, X)
    run.main([str(model), "--input", str(given), "--print"])
    assert str(Y) in capsys.readouterr().out


def test_list_devices(capsys):
    run.main(["--list-devices"])
    assert list_devices()[0].driver[:8] in capsys.readouterr().out
    run.main(["--list-devices", "--json"])
    listed = json.loads(capsys.readouterr().out)
    assert [device["driver"] for device in listed] == [each.driver for each in list_devices()]
    assert listed[0].keys() == {"index", "name", "kind", "platform", "driver"}


def test_compiled_folder_runs_without_the_model(model: Path, tmp_path: Path, device: str):
    given, folder, result = tmp_path / "x.npy", tmp_path / "compiled", tmp_path / "y.npz"
    np.save(given, X)
    compile.main([str(model), "-o", str(folder), "--device", device])
    model.unlink()
    run.main([str(folder), "--input", str(given), "--output", str(result), "--device", device])
    np.testing.assert_allclose(np.load(result)["y"], Y)


def test_difference_above_the_tolerance_fails(model: Path, capsys, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        "clopt.tools.reference.run_onnxruntime", lambda *_: [np.ones((2, 3), np.float32)]
    )
    args = [model, "--compare", "onnxruntime", "--tolerance", "0.25"]
    said = refusal(capsys, run.main, *args)
    differs = r"differs from onnxruntime: y by \S+, more than 0.25 of the largest value"
    assert re.search(differs, said)


def test_comparison_notes_nans(model: Path, tmp_path: Path, capsys):
    np.save(tmp_path / "x.npy", np.full((2, 3), np.nan, np.float32))
    run.main([str(model), "--input", str(tmp_path / "x.npy"), "--compare", "onnxruntime"])
    assert "remark: 6 of the values of y are NaN; NaNs count as equal." in capsys.readouterr().err


WRONG_INPUTS = {
    "shape": (X[:1], "input x must be 2x3 float32, not 1x3 float32"),
    "dtype": (X.astype(np.float64), "input x must be 2x3 float32, not 2x3 float64"),
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
    "--input broken.png": "is not a single image",
    "--device no-such-device": 'No OpenCL device matches "no-such-device"',
    "--dim batch": "--dim batch: write name=value",
    "--dim batch=-2": "--dim batch=-2: write name=value",
    "--dim w=1,h": "--dim w=1,h: write name=value",
    "--memory-limit 1XB": "--memory-limit 1XB: write a number of bytes, or as in 64MiB or 1GB",
    "--choices nosuch": "Cannot read nosuch: No such file or directory.\n",
    "--target no-such-target": 'There is no target "no-such-target"',
    "--target pocl texture=yes": 'texture must be "off" or "auto" or "prefer", not "yes"',
    "--target texture=yes": 'texture must be "off" or "auto" or "prefer", not "yes"',
    "--target adreno-740 vector_width=x": "vector_width must be a whole number, not 'x'",
    "--output /dev/null/outputs": "/dev/null/outputs: cannot write here",
    "--accelerator clml": "--accelerator clml: write name=library",
    "--accelerator vta=x": 'accelerators names "vta"; it may name clml',
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
    "options",
    ["--dim batch=1", "--target texture=off", "--compare onnxruntime", "--explain", "--choices x"],
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


@pytest.mark.by_default(cases=0)
def test_a_folder_for_a_range_of_sizes(tmp_path: Path, device: str, capsys):
    body = "z = Softmax<axis=0>(x) y = MatMul(z, w)"
    proto = made("float[n,3] x", body, constants={"w": X.T.copy()})
    path, folder, result = tmp_path / "m.onnx", tmp_path / "saved", tmp_path / "y.npy"
    path.write_bytes(proto.SerializeToString())
    words = ["--device", device, "-q"]
    compile.main([str(path), "--dim", "n=2..6..6", "-o", str(folder), *words])
    given = tmp_path / "x.npy"
    for size in (4, 6, 2):
        x = np.linspace(-1, 1, 3 * size, dtype=np.float32).reshape(size, 3)
        np.save(given, x)
        run.main([str(folder), "--input", str(given), "-o", str(result), *words])
        (wanted,) = by_onnxruntime(proto, {"x": x})
        np.testing.assert_allclose(np.load(result), wanted, rtol=1e-5, atol=1e-6)
    run.main([str(folder), "--dim", "n=5", "-o", str(result), "--profile", *words])
    assert np.load(result).shape == (5, 2)
    run.main([str(folder), "-o", str(result), *words])
    assert np.load(result).shape == (6, 2)
    wrong = [str(folder), "--dim", "m=1", *words]
    assert "no open dimension of the model; it has n" in refusal(capsys, run.main, *wrong)
    wrong = [str(path), "--dim", "n=1..4", "--report", "m.html", "-o", str(folder), *words]
    assert "--report is about one program" in refusal(capsys, compile.main, *wrong)
