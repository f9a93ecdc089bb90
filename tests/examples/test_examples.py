"""The examples of README.md and of the first pages work as these show them."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import pyopencl
import pytest

import clopt
from clopt.backends.pyopencl_runtime import find_device
from clopt.tools import compile as compile_tool
from clopt.tools import opt, run
from support import processes

ROOT = Path(__file__).parents[2]


def blocks_of(page: str, language: str) -> list[str]:
    """Return the fenced blocks of a page in one language."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


SEGMENTATION = """
<ir_version: 8, opset_import: ["" : 17]>
net (float[1,3,224,224] camera) => (float[1,1,224,224] mask) {
  mask = ReduceMax <axes = [1], keepdims = 1> (camera)
}
"""
PRODUCT = """
net (float[1,4] x) => (float[1,2] y) <float[4,2] w = {1, 2, 3, 4, 5, 6, 7, 8}> { y = MatMul(x, w) }
"""


def page_block(word: str) -> str:
    """The first block of docs/python.md with a word."""
    return next(code for code in blocks_of("docs/python.md", "python") if word in code)


@pytest.mark.by_default(cases=1)
def test_digits_are_read(device: str):
    command = [sys.executable, ROOT / "examples" / "digits" / "run.py", "--device", device]
    done = processes.run(command, capture_output=True, text=True, check=True)
    accuracy = re.search(r"accuracy: +([\d.]+)%", done.stdout)
    assert accuracy
    assert float(accuracy[1]) >= 98


@pytest.mark.skipif(not shutil.which("cmake"), reason="builds a C program: install cmake")
def test_an_application_and_a_network_share_a_queue(device: str, tmp_path: Path):
    package, build = tmp_path / "digits", tmp_path / "build"
    model, folder = ROOT / "examples" / "digits" / "digits.onnx", ROOT / "examples" / "shared_queue"
    options = ["--dim", "batch=1", "--device", device, "--emit=c", f"-o{package}"]
    compile_tool.main([str(model), *options])
    for command in (["-S", folder, "-B", build, f"-DDIGITS={package}"], ["--build", build]):
        processes.run(["cmake", *command], capture_output=True, check=True)
    words = [folder / "drawings.txt", package / "weights.bin", find_device(device).platform]
    done = processes.run(
        [build / "shared_queue", *words], capture_output=True, text=True, check=True
    )
    right = re.search(r"(\d+) of 20 are right", done.stdout)
    assert right
    assert int(right[1]) >= 18


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_python_of_a_page(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"image": np.zeros((1, 1, 8, 8), np.float32)}
    code, *_ = blocks_of(page, "python")
    exec(compile(code, page, "exec"), names)
    assert names["logits"].shape == (1, 10)


def test_processes_of_the_page(capsys: pytest.CaptureFixture[str]):
    digits = ROOT / "examples" / "digits" / "digits.onnx"
    model = clopt.compile(digits, device=0, dims={"batch": 1})
    images = list(np.random.default_rng(0).random((2, 1, 1, 8, 8), np.float32))
    code = page_block("ProcessPoolExecutor")
    names: dict[str, Any] = {"__name__": "__main__", "model": model, "images": images}
    exec(compile(code, "python.md", "exec"), names)
    expected = [model.run([image])[0].argmax() for image in images]
    assert [int(line) for line in capsys.readouterr().out.split()] == expected


ENCODER = """
model (float[1,3,224,224] image) => (float[1,1,224,224] code) {
  axis = Constant <value = int64[1] {1}> ()
  code = ReduceMax <keepdims = 1> (image, axis)
}
"""
DECODER = "model (float[1,1,224,224] code) => (float[1,1,224,224] mask) { mask = Exp(code) }"


def test_arrays_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for name, network in {"encoder": ENCODER, "decoder": DECODER}.items():
        text = f'<ir_version: 8, opset_import: ["" : 18]>{network}'
        onnx.save(onnx.parser.parse_model(text), f"{name}.onnx")
    code = page_block("import pyopencl.array as cla")
    names: dict[str, Any] = {}
    exec(compile(code, "python.md", "exec"), names)
    np.testing.assert_allclose(names["mask"], 1)
    np.testing.assert_array_equal(names["code"].get(names["queue"]), 0)


def test_images_of_the_page(
    device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    onnx.save(onnx.parser.parse_model(SEGMENTATION), "segment.onnx")
    # Held, since a queue of Intel's runtime does not hold its context.
    context = pyopencl.Context([find_device(device).handle])
    queue = pyopencl.CommandQueue(context)
    pixels = np.random.default_rng(0).integers(0, 256, (224, 224, 4), np.uint8)
    form = pyopencl.ImageFormat(pyopencl.channel_order.RGBA, pyopencl.channel_type.UNORM_INT8)
    flags: Any = pyopencl.mem_flags.READ_ONLY | pyopencl.mem_flags.COPY_HOST_PTR
    create = cast("Any", pyopencl).create_image
    image = create(context, flags, form, pixels.shape[1::-1], hostbuf=pixels)
    code = page_block("segment.onnx")
    names: dict[str, Any] = {"clopt": clopt, "queue": queue, "image": image}
    exec(compile(code, "python.md", "exec"), names)
    (extents,) = re.findall(r"width and height: (.*)", code)
    assert capsys.readouterr().out.strip() == extents
    expected = pixels[..., :3].max(axis=2) / 255
    np.testing.assert_allclose(names["mask"][0, 0], expected, rtol=1e-6)


def test_quantising_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    text = f'<ir_version: 8, opset_import: ["" : 17]>{PRODUCT}'
    onnx.save(onnx.parser.parse_model(text), "model.onnx")
    np.savez("samples.npz", x=np.random.default_rng(0).standard_normal((8, 4), np.float32))
    (code,) = blocks_of("docs/quantisation.md", "python")
    exec(compile(code, "quantisation.md", "exec"), {"clopt": clopt})
    values = json.loads(capsys.readouterr().out)
    assert [value["name"] for value in values] == ["x", "y"]


@pytest.mark.by_default(cases=1)
def test_tools_of_the_pages(capsys: pytest.CaptureFixture[str]):
    model = str(ROOT / "examples" / "digits" / "digits.onnx")
    opt.main([model, "--dim", "batch=1", "-p", "simplify,fuse"])
    assert "nn.fused" in capsys.readouterr().out
    opt.main([model, "--dim", "batch=1", "--target", "pocl", "-p", "opencl", "-t", "opencl-c"])
    assert "__kernel void" in capsys.readouterr().out
    run.main([model, "--dim", "batch=1", "--compare", "onnxruntime", "--time", "3"])
    assert "relative error" in capsys.readouterr().out


@pytest.mark.by_default(cases=1)
def test_clml_of_the_page(device: str, capsys: pytest.CaptureFixture[str]):
    command = _joined(blocks_of("docs/clml.md", "sh")[0]).removeprefix("clopt-run ")
    words = [str(ROOT / word) if word.endswith(".onnx") else word for word in command.split()]
    run.main([*words, "--device", device])
    printed = capsys.readouterr().out
    assert re.search(r"\d+ operations by CLML", printed)
    assert "relative error" in printed


def _joined(text: str) -> str:
    """Shell commands on one line each."""
    return re.sub(r"\\\n\s*", "", text)
