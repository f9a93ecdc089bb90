"""A compiler with a dialect of its own runs the networks that clopt compiled on its own queue."""

from __future__ import annotations

import os
import re
import runpy
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pyopencl
import pytest

from clopt.backends.pyopencl_runtime import find_device
from support import packages, processes

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "embedding" / "lens"
DIGITS = ROOT / "examples" / "digits" / "digits.onnx"
Array = np.ndarray[Any, Any]

TENSORS = """
func.func private @digits(%image: tensor<1x1x8x8xf32>) -> tensor<1x10xf32>
func.func @twice(%film: tensor<8x12xui8>, %column: index) -> (tensor<1x10xf32>, tensor<8x8xf32>) {
  %a = lens.levels %film {gain = 0.25 : f32, offset = 1.0 : f32}
    : (tensor<8x12xui8>) -> tensor<8x12xf32>
  %b = lens.levels %a {gain = 0.5 : f32, offset = -0.5 : f32}
    : (tensor<8x12xf32>) -> tensor<8x12xf32>
  %c = lens.crop %b, %column : (tensor<8x12xf32>, index) -> tensor<8x8xf32>
  %i = nn.reshape %c {shape = array<i64: 1, 1, 8, 8>} : (tensor<8x8xf32>) -> tensor<1x1x8x8xf32>
  %w = nn.constant dense<0.125> : tensor<1x1x3x3xf32>
  %s = nn.conv %i, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x8x8xf32>, tensor<1x1x3x3xf32>)
    -> tensor<1x1x8x8xf32>
  %y = func.call @digits(%s) : (tensor<1x1x8x8xf32>) -> tensor<1x10xf32>
  func.return %y, %c : tensor<1x10xf32>, tensor<8x8xf32>
}
"""


@pytest.fixture(scope="module")
def lens() -> Iterator[Any]:
    """The compiler, imported from the example's folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXAMPLE)
        import lens.compiler
    yield lens
    for name in [name for name in sys.modules if name.partition(".")[0] == "lens"]:
        del sys.modules[name]


@pytest.fixture
def queue(device: str) -> Iterator[pyopencl.CommandQueue]:
    """A queue that clopt has not made."""
    # Held, since a queue of Intel's runtime does not hold its context.
    context = pyopencl.Context([find_device(device).handle])
    queue = pyopencl.CommandQueue(context)
    yield queue
    queue.finish()


def reader() -> Callable[[Array], Array]:
    """Return what onnxruntime makes of images of 8 x 8."""
    session = onnxruntime.InferenceSession(DIGITS.read_bytes())
    return lambda image: session.run(None, {"image": image[None, None]})[0][0]


def found(film: Array, step: int) -> tuple[int, int, float]:
    """Find the digit as `find_digit.mlir` does, in numpy and by onnxruntime."""
    read = reader()
    picture = film.astype(np.float32) / 255
    if picture.mean() > 0.5:
        picture = 1 - picture
    best = (0, 0, 0.0)
    for column in range(0, 33, step):
        window = picture[:, column : column + 16]
        if window.mean() < 0.1:
            continue
        scores = read(window.reshape(8, 2, 8, 2).mean((1, 3)))
        chances = np.exp(scores - scores.max())
        chances /= chances.sum()
        if chances.max() > best[2]:
            best = (column, int(chances.argmax()), float(chances.max()))
    return best


@pytest.mark.by_default(cases=1)
def test_the_digit_is_found(
    lens: Any, queue: pyopencl.CommandQueue, device: str, quick_builds: None
) -> None:
    program = lens.compiler.compile(EXAMPLE / "find_digit.mlir", {"digits": DIGITS}, queue)
    assert len(program.models) == 3
    assert len({each.int_ptr for m in program.models.values() for each in m.executable.arena}) == 1
    rng = np.random.default_rng(0)
    with np.load(DIGITS.parent / "held_out.npz") as data:
        images = data["images"][:3].astype(np.float32) / 16
    chances: list[float] = []
    for image, place, is_positive in zip(images, (5, 20, 32), (False, True, False), strict=True):
        film = rng.random((16, 48), np.float32) / 16
        film[:, place : place + 16] += image.repeat(2, 0).repeat(2, 1) * 0.9
        strip = np.round(255 * (1 - film if is_positive else film)).astype(np.uint8)
        column, digit, chance = program.call("find_digit", strip, 7)
        expected = found(strip, 7)
        assert (column, digit) == expected[:2]
        np.testing.assert_allclose(chance, expected[2], rtol=1e-5)
        chances.append(chance)
    assert min(chances) < 0.999, "digits that are cut, so that the numbers say something"


def test_tensors_pass_between_programs_and_kernels(
    lens: Any, queue: pyopencl.CommandQueue, tmp_path: Path, quick_builds: None
) -> None:
    (tmp_path / "twice.mlir").write_text(TENSORS)
    program = lens.compiler.compile(tmp_path / "twice.mlir", {"digits": DIGITS}, queue)
    assert str(program.module).count("lens.levels") == 1
    film = np.random.default_rng(1).integers(0, 256, (8, 12), np.uint8)
    scores, picture = program.call("twice", film, 3)
    expected = (film.astype(np.float32) / 8)[:, 3:11]
    np.testing.assert_allclose(picture, expected, rtol=1e-6)
    padded = np.pad(expected, 1)
    blurred = sum(padded[i : i + 8, j : j + 8] for i in range(3) for j in range(3)) / 8
    np.testing.assert_allclose(scores[0], reader()(blurred), rtol=1e-4, atol=1e-3)


@pytest.mark.by_default(cases=1)
@pytest.mark.in_turns
def test_the_script(
    device: str,
    quick_builds: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with monkeypatch.context() as patch:
        patch.syspath_prepend(EXAMPLE)
        patch.setattr(sys, "argv", ["run.py", find_device(device).platform])
        runpy.run_path(str(EXAMPLE / "run.py"), run_name="__main__")
    read = re.findall(r"(\d) at column (\d+), 100%", capsys.readouterr().out)
    assert [digit for digit, _ in read] == ["7", "6", "3"]
    np.testing.assert_allclose([int(column) for _, column in read], (5, 20, 32), atol=1)


def test_the_page_shows_what_runs() -> None:
    (shown,) = re.findall(r"```py\n(.*?)```", (ROOT / "docs/embedding.md").read_text(), re.S)
    assert textwrap.indent(shown, 8 * " ") in (EXAMPLE / "lens" / "queue.py").read_text()


def test_the_documented_commands(tmp_path: Path) -> None:
    """A stock xdsl-opt has the dialect of the package, and clopt's passes."""
    packages.register(EXAMPLE / "pyproject.toml", tmp_path)
    path = os.pathsep.join(map(str, (tmp_path, EXAMPLE, ROOT.parent)))
    command = [Path(sys.executable).with_name("xdsl-opt"), "find_digit.mlir"]
    passes = "lens-fold-levels,nn-outline-islands,nn-fuse,nn-to-cl"
    done = processes.run(
        [*command, "-p", passes],
        cwd=EXAMPLE,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert not done.returncode, done.stderr
    assert passes in (EXAMPLE / "README.md").read_text(encoding="utf-8")
    body = done.stdout[done.stdout.index("func.func @find_digit(") :]
    assert body.count("lens.levels") == 2
    assert body.count("cl.run @find_digit_nn") == 2
    assert "func.call @digits" in body
