"""What the README shows works as shown."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from clopt.tools import opt, run

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_digits_are_read(device: str):
    command = [sys.executable, ROOT / "examples" / "digits" / "run.py", "--device", device]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    accuracy = re.search(r"accuracy: +([\d.]+)%", done.stdout)
    assert accuracy
    assert float(accuracy[1]) >= 98


def test_python_of_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", README, re.S)
    exec(compile(code, "README.md", "exec"), {})
    assert (tmp_path / "digits" / "kernels.cl").exists()


def test_tools_of_the_readme(capsys: pytest.CaptureFixture[str]):
    model = str(ROOT / "examples" / "digits" / "digits.onnx")
    opt.main([model, "--dim", "batch=1", "-p", "simplify,fuse"])
    assert "nn.fused" in capsys.readouterr().out
    opt.main([model, "--dim", "batch=1", "--target", "pocl", "-p", "opencl", "-t", "opencl-c"])
    assert "__kernel void" in capsys.readouterr().out
    run.main([model, "--dim", "batch=1", "--compare", "onnxruntime", "--time", "3"])
    assert "relative error" in capsys.readouterr().out
