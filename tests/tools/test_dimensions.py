"""Dimensions that a model leaves open: told all at once, bound by options or by given arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import clopt
from clopt.tools import compile, opt, run
from support.onnx.models import model

A, B = (np.arange(6 * n, dtype=np.float32).reshape(2, 3 * n) for n in (1, 2))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "joined.onnx"
    onnx.save(model("float[n,s] a, float[n,t] b, float[n,3] c", JOINED), file)
    return file


JOINED = "d = Concat<axis=1>(a, b, c) y = Relu(d)"
LISTED = "n (axis 0 of 'a' and 'b' and 'c'), s (axis 1 of 'a'), t (axis 1 of 'b')"


def refusal(capsys: pytest.CaptureFixture[str], main, *words: object) -> str:
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    assert left.value.code == 1
    return capsys.readouterr().err.strip()


@pytest.mark.parametrize("main", [run.main, opt.main], ids=["clopt-run", "clopt"])
def test_a_command_line_gets_the_options_to_paste(main, path: Path, capsys):
    said = refusal(capsys, main, path)
    assert said.endswith(
        f"{path}: the dimensions {LISTED} are not fixed; bind with --dim n=1 --dim s=... "
        "--dim t=..."
    )
    assert said.count("joined.onnx") == 1
    said = refusal(capsys, main, path, "--dim", "n=1,t=3")
    assert said.endswith("the dimension s (axis 1 of 'a') is not fixed; bind with --dim s=...")


def test_python_gets_the_argument_to_paste(path: Path):
    compiled = clopt.compile(path, target="pocl")
    with pytest.raises(clopt.CloptError) as refused:
        compiled.prepare()
    assert (
        f'the dimensions {LISTED} are not fixed; bind with dims={{"n": 1, "s": ..., "t": ...}}, or '
    ) in str(refused.value)


def test_given_arrays_bind_dimensions(path: Path, tmp_path: Path):
    given, result = tmp_path / "a.npz", tmp_path / "y.npy"
    np.savez(given, a=A, b=B)
    run.main([str(path), "--input", str(given), "--target", "pocl", "-o", str(result)])
    y = np.load(result)
    assert y.shape == (2, 12)
    np.testing.assert_array_equal(y[:, :9], np.concatenate([A, B], axis=1))


def test_arrays_that_contradict_each_other(path: Path, tmp_path: Path, capsys):
    np.save(tmp_path / "a.npy", A)
    np.save(tmp_path / "b.npy", B[:1])
    words = [path, "--input", f"a={tmp_path / 'a.npy'}", "--input", f"b={tmp_path / 'b.npy'}"]
    assert "--input: the dimension n is 2 in one array and 1 in b" in refusal(
        capsys, run.main, *words
    )
    said = refusal(capsys, run.main, *words[:3])
    assert said.endswith("the dimension t (axis 1 of 'b') is not fixed; bind with --dim t=...")


def test_given_arrays_decide_shapes(tmp_path: Path, capsys):
    file, result = tmp_path / "reshape.onnx", tmp_path / "y.npy"
    onnx.save(model("float[n,6] x, int64[2] s", "a = Relu(x) y = Reshape(a, s)"), file)
    np.savez(tmp_path / "given.npz", x=np.arange(12, dtype=np.float32).reshape(2, 6), s=[4, 3])
    words = [file, "--target", "pocl", "--compare", "onnxruntime", "-o", result]
    run.main([str(word) for word in (*words, "--input", tmp_path / "given.npz")])
    np.testing.assert_array_equal(np.load(result), np.arange(12).reshape(4, 3))
    np.save(tmp_path / "s.npy", np.array([3, -1]))
    options = ["--dim", "n=2", "--input", f"s={tmp_path / 's.npy'}"]
    run.main([str(word) for word in (*words, *options)])
    assert np.load(result).shape == (3, 4)
    capsys.readouterr()
    said = refusal(capsys, run.main, *words[:3], "--dim", "n=2")
    assert said.endswith(
        f"{file}: the value of 's' decides what the model computes; give it by --input s=FILE.npy."
    )


@pytest.mark.parametrize("main", [compile.main, opt.main], ids=["clopt-compile", "clopt"])
def test_tools_without_inputs_name_the_node(main, tmp_path: Path, capsys):
    file = tmp_path / "reshape.onnx"
    onnx.save(model("float[2,6] x, int64[2] s", "y = Reshape(x, s)"), file)
    words = ["--target", "pocl", "-o", tmp_path / "out"] if main is compile.main else []
    said = refusal(capsys, main, file, *words)
    assert "node 'Reshape_0' (Reshape): its shape (input 1) is computed at run time" in said


def test_a_size_of_zero_is_named_where_a_node_refuses_it():
    proto = model("float[n,4] x", "s = Constant<value_ints=[0, 3, -1]>() y = Reshape(x, s)")
    with pytest.raises(clopt.CloptError, match=r"^with 'n' bound to 0, tensors are empty: node"):
        clopt.compile(proto, target="pocl", dims={"n": 0})
