"""`clopt-compile --memory-report` from outside."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from clopt.tools import compile
from clopt.tools.memory_report import files
from support.onnx.models import model as open_model


def test_reports_and_a_table(model: Path, tmp_path: Path, capsys) -> None:
    folder = tmp_path / "out"
    for name, start in (("a.svg", b"<svg"), ("a.png", b"\x89PNG"), ("a.html", b"<!DOCTYPE html>")):
        compile.main([str(model), "-o", str(folder), "--memory-report", str(folder / name)])
        assert (folder / name).read_bytes().startswith(start)
        told = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
        # Six floats each are the weights, the input and the output.
        assert "weights 24 B" in told
        assert any(line.startswith("all the device holds 72 B ") for line in told)


def test_a_range_reports_its_largest_size(tmp_path: Path, capsys) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(open_model("float[n,6] x", "y = Relu(x)"), path)
    options = ["-o", str(tmp_path / "out"), "--dim", "n=1..4", "--target", "pocl"]
    compile.main([str(path), *options, "--memory-report", str(tmp_path / "memory.svg")])
    told = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert {"inputs 96 B", "outputs 96 B"} <= set(told)


def test_another_suffix_is_refused_before_compiling(model: Path, tmp_path: Path, capsys) -> None:
    with pytest.raises(SystemExit):
        compile.main([str(model), "-o", str(tmp_path / "out"), "--memory-report", "memory.pdf"])
    said = capsys.readouterr().err
    sentence = "memory.pdf: the suffix of a memory report must be one of .svg, .png, .html."
    assert said == f"clopt-compile: {sentence}\n"
    assert not (tmp_path / "out").exists()


def test_png_without_pillow(model: Path, tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(files, "find_spec", lambda name: None)
    with pytest.raises(SystemExit):
        compile.main([str(model), "-o", str(tmp_path / "out"), "--memory-report", "memory.png"])
    assert "pip install 'clopt[report]'" in capsys.readouterr().err


def test_a_report_that_cannot_be_written(model: Path, tmp_path: Path, capsys) -> None:
    nowhere = tmp_path / "missing" / "memory.svg"
    with pytest.raises(SystemExit):
        compile.main([str(model), "-o", str(tmp_path / "out"), "--memory-report", str(nowhere)])
    assert "cannot write here: No such file or directory." in capsys.readouterr().err
