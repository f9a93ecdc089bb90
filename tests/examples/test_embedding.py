"""A C++ application launches our programs from their descriptions, and computes the same bits."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import clopt
from clopt.backends.pyopencl_runtime import find_device
from support import processes

EXAMPLE = Path(__file__).parents[2] / "examples" / "embedding"
DIGITS = EXAMPLE.parent / "digits" / "digits.onnx"

pytestmark = pytest.mark.skipif(not shutil.which("g++"), reason="builds C++: install g++")


@pytest.fixture(scope="module")
def embedding(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("embedding") / "embedding"
    strict = "-std=c++17 -Wall -Wextra -Werror -pedantic -Wshadow -O0".split()
    sources = sorted(EXAMPLE.glob("*.cpp"))
    command = ["g++", *strict, *sources, "-lOpenCL", "-o", program]
    done = processes.run(command, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return program


def run(
    embedding: Path, folder: Path, device: str, *inputs: np.ndarray
) -> subprocess.CompletedProcess[str]:
    """Run the application on what lies in `folder`."""
    paths = [folder / f"input{i}.bin" for i in range(len(inputs))]
    for path, array in zip(paths, inputs, strict=True):
        path.write_bytes(array.tobytes())
    words = [folder / "program.json", folder / "weights.safetensors", find_device(device).platform]
    return processes.run([embedding, *words, *paths], cwd=folder, capture_output=True, text=True)


def test_it_computes_what_python_does(embedding: Path, device: str, tmp_path: Path) -> None:
    model = clopt.compile(DIGITS, dims={"batch": 1}, device=device)
    (tmp_path / "program.json").write_text(str(model.describe()))
    model.weights.save(tmp_path / "weights.safetensors")
    image = np.random.default_rng(0).random((1, 1, 8, 8), np.float32)
    done = run(embedding, tmp_path, device, image)
    assert not done.returncode, done.stderr
    assert done.stdout == "output0.bin: logits, float32, 40 bytes\n"
    (logits,) = model.run([image])
    assert np.ptp(logits) > 1
    np.testing.assert_array_equal(np.fromfile(tmp_path / "output0.bin", np.float32), logits[0])


def test_mistakes_are_one_sentence(embedding: Path, device: str, tmp_path: Path) -> None:
    model = clopt.compile(DIGITS, dims={"batch": 1}, device=device)
    described, weights = str(model.describe()), tmp_path / "weights.safetensors"
    model.weights.save(weights)
    image = np.zeros((1, 1, 8, 8), np.float32)
    graph = '"commands": [\n    {"op": "offload", "graph": 0, "command": 0, "arguments": []},'
    for text, sentence in (
        (described[:-3], "this is no JSON from byte"),
        (described.replace('"version": 1', '"version": 2'), "this is no description in version 1"),
        (described.replace('"commands": [', graph), "a library computes a part of this program"),
        (described, "input0.bin has 4 bytes, but image has 256"),
    ):
        (tmp_path / "program.json").write_text(text)
        given = image if text is not described else image[0, 0, 0, :1]
        done = run(embedding, tmp_path, device, given)
        assert done.returncode == 1
        assert done.stderr.startswith("embedding: ")
        assert sentence in done.stderr
        assert done.stderr.count("\n") == 1
    (tmp_path / "program.json").write_text(described)
    weights.write_bytes(weights.read_bytes()[:100])
    assert "the file of weights is damaged" in run(embedding, tmp_path, device, image).stderr
