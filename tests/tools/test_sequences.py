"""Command lines on models with sequences and optionals: a tensor for each element."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import clopt
from clopt.tools import compile, opt, run
from clopt.tuning.networks import TunedModel

A, B = (np.arange(3 * n, dtype=np.float32).reshape(n, 3) for n in (1, 2))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "lists.onnx"
    proto = onnx.parser.parse_model("""
        <ir_version: 9, opset_import: ["": 17]>
        g (seq(float[n,3]) s, optional(float[3]) o) => (seq(float[n,3]) t, bool has) {
            t = SequenceMap (s) <body = b (float[n,3] a) => (float[n,3] d) { d = Neg (a) }>
            has = OptionalHasElement (o)
        }
    """)
    onnx.save(proto, file)
    return file


def refusal(capsys: pytest.CaptureFixture[str], main, *words: object) -> str:
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    assert left.value.code == 1
    return capsys.readouterr().err.strip()


@pytest.mark.parametrize("main", [run.main, opt.main], ids=["clopt-run", "clopt"])
def test_a_command_line_gets_the_options_to_paste(main, path: Path, capsys):
    said = refusal(capsys, main, path)
    assert said.endswith(
        f"{path}: the lengths of 's' (sequence) and 'o' (optional) are not fixed; bind with "
        "--dim s=2 --dim o=1"
    )


def test_check_says_that_operators_are_supported(path: Path, capsys):
    run.main([str(path), "--check"])
    assert "the operators are supported; the lengths of 's' (se" in capsys.readouterr().out
    run.main([str(path), "--check", "--dim", "s=2,o=0,n=4"])
    assert capsys.readouterr().out.endswith("is supported: 1 kernel.\n")


def test_given_arrays_are_elements(path: Path, tmp_path: Path):
    given, result = tmp_path / "in.npz", tmp_path / "out.npz"
    np.savez(given, s_0=A, s_1=B)
    words = [path, "--dim", "s=2,o=0", "--input", given, "--target", "pocl", "-o", result]
    run.main([str(word) for word in words])
    with np.load(result) as found:
        assert sorted(found) == ["has", "t_0", "t_1"]
        np.testing.assert_array_equal(found["t_1"], -B)
        assert not found["has"]


def test_a_folder_of_one_length(path: Path, tmp_path: Path, device: str):
    compile.main([str(path), "--dim", "s=1,o=1,n=2", "-o", str(tmp_path / "folder")])
    loaded = clopt.load(tmp_path / "folder", device=device)
    assert [str(port) for port in loaded.inputs] == ["s_0: 2x3 float32", "o: 3 float32"]
    negated, has = loaded.run({"s_0": B, "o": A[0]})
    np.testing.assert_array_equal(negated, -B)
    assert has


def test_options_that_run_the_onnx_model_are_refused(path: Path, capsys):
    said = refusal(capsys, run.main, path, "--compare", "onnxruntime", "--target", "pocl")
    assert said.endswith(
        "--compare needs inputs and outputs that are tensors, and this model has sequences, "
        "optionals or maps; compare it in Python."
    )


def test_the_tuner_takes_stated_lengths(path: Path):
    tuned = TunedModel(path, target="pocl", dims={"s": 2, "o": 0, "n": 4})
    tuned.check()
    assert len(tuned.tasks()) == 1
    assert [port.name for port in tuned.compiled("off").outputs] == ["t_0", "t_1", "has"]
    with pytest.raises(clopt.CloptError, match=r"^the lengths of 's' \(sequence\) and 'o'"):
        TunedModel(path, target="pocl").check()
