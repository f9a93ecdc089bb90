"""Whatever tensors and nodes are called, models run, and what people read shows the names."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from fuzz.hostile.values import ODD_NAMES
from onnx import ModelProto, TensorProto, helper, numpy_helper

import clopt
from clopt.context import CloptContext
from clopt.messages.source import Source, SourceModule
from clopt.tools import compile, run

NAMES = (*ODD_NAMES, "[bold]loud[/bold]", "[/]", ":smile:", "&lt;")
X = np.arange(-8, 8, dtype=np.float32).reshape(1, 4, 2, 2)


def odd_model() -> ModelProto:
    """For each name an input, a node and a weight called so, and an output of nearly this name."""
    nodes = [helper.make_node("Add", [n, f"{n}w"], [f"{n}y"], name=n) for n in NAMES]
    float32 = TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "odd",
        [helper.make_tensor_value_info(name, float32, X.shape) for name in NAMES],
        [helper.make_tensor_value_info(f"{name}y", float32, X.shape) for name in NAMES],
        [
            numpy_helper.from_array(np.full((4, 1, 1), i, np.float32), f"{name}w")
            for i, name in enumerate(NAMES)
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def check_readable(text: str, longest: int = 1000) -> None:
    """Fail for characters that nobody sees, and for lines that nobody reads."""
    for line in text.split("\n"):
        assert line.replace("\t", "").isprintable(), ascii(line)
        assert len(line) <= longest, line[:100]


@pytest.mark.parametrize("target", ["pocl", "adreno-740 texture=prefer"])
def test_models(target: str, device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    compiled = clopt.compile(odd_model(), target, device=device, explain=True)
    check_readable(capsys.readouterr().err)
    assert [port.name for port in compiled.inputs] == [*NAMES]
    assert [port.name for port in compiled.outputs] == [f"{name}y" for name in NAMES]
    check_readable(compiled.source)
    # What is left without comments is code of ours.
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", compiled.source, flags=re.DOTALL)
    assert not re.search(r"[^\x20-\x7e\n]|script|passwd|#define X|\\$", code)
    text = str(compiled.module)
    check_readable(text, longest=len(text))  # the names are data there, and whole
    read = SourceModule.parse(CloptContext(), Source("again", text))
    assert str(read.module) == text
    compiled.save(tmp_path / "saved")
    for model in (compiled, clopt.load(tmp_path / "saved", device)):
        outputs = model.run(dict.fromkeys(NAMES, X))
        for i, output in enumerate(outputs):
            np.testing.assert_array_equal(output, X + i)


def test_tools(tmp_path: Path, device: str, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "odd.onnx"
    path.write_bytes(odd_model().SerializeToString())
    run.main([str(path), "--device", device, "-o", str(tmp_path / "out")])
    run.main([str(path), "--device", device, "--compare", "onnxruntime"])
    run.main([str(path), "--device", device, "--print"])
    report = tmp_path / "report.html"
    compile.main([str(path), "-o", str(tmp_path / "folder"), "--memory-report", str(report)])
    read = capsys.readouterr()
    check_readable(read.out + read.err)
    for shown in (r"nul\x00byte", r"\u202edesrever\u202c", "[bold]loud[/bold]", ":smile:"):
        assert shown in read.out
    html = report.read_text()
    check_readable(html)
    assert "<script>alert" not in html
    assert len(list((tmp_path / "out").iterdir())) == len(NAMES)
