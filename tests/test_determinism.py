"""The same model and target give the same bytes, in any process and for any hash seed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODEL = ROOT / "examples" / "digits" / "digits.onnx"


CLML = "adreno-740 clml=auto clml_launch_microseconds=0 clml_bandwidth=1000"


def compile_in_process(
    folder: Path, hash_seed: str, target: str, batch: int = 2
) -> dict[str, bytes]:
    tool = Path(sys.executable).with_name("clopt-compile")
    command = [tool, MODEL, "-o", folder, "--target", target, "--dim", f"batch={batch}"]
    subprocess.run(command, check=True, env=os.environ | {"PYTHONHASHSEED": hash_seed})
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.parametrize("target", ["pocl", "nvidia", "adreno-740"])
def test_two_compilations_give_the_same_bytes(tmp_path: Path, target: str):
    first = compile_in_process(tmp_path / "first", "1", target)
    assert first["kernels.cl"]
    assert first == compile_in_process(tmp_path / "second", "2", target)


def test_two_choices_of_clml_give_the_same_bytes(tmp_path: Path):
    first = compile_in_process(tmp_path / "first", "1", CLML, batch=1)
    assert any(b"clml.graph" in content for content in first.values())
    assert first == compile_in_process(tmp_path / "second", "2", CLML, batch=1)
