"""`clopt-reduce`: what is left, and that it is still interesting."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import onnx
import pytest

from clopt.tools.reduce.__main__ import main
from clopt.tools.reduce.search import Judge, least

MODEL = """<ir_version: 9, opset_import: ["" : 18]>
net (float[1,6,8,8] image, float[6] other) => (float[1,4,8,8] y, float[6] z)
<float[4,6,1,1] weight = {1,2,3,4,5,6,1,2,3,4,5,6,1,2,3,4,5,6,1,2,3,4,5,6}> {
    a = Relu(image)
    b = Tanh(a)
    c = Conv<group = 1, kernel_shape = [1, 1]>(b, weight)
    d = Relu(c)
    e = HardSwish(d)
    y = Exp(e)
    z = Neg(other)
}
"""

WITHOUT = "import sys; sys.exit(b'{}' not in open(sys.argv[1], 'rb').read())"
"""Exits with 1 if a file does not have a text, here the type of a node."""


def _reduce(source: Path, result: Path, script: str, *options: str) -> None:
    command = [sys.executable, "-c", script, "{}"]
    main([str(source), "-o", str(result), *options, "--", *command])


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(MODEL), path)
    return path


def test_one_node_is_left(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = tmp_path / "small.onnx"
    _reduce(model, result, WITHOUT.format("HardSwish"))
    small = onnx.load(result)
    onnx.checker.check_model(small, full_check=True)
    assert [node.op_type for node in small.graph.node] == ["HardSwish"]
    assert not small.graph.initializer
    (input,) = small.graph.input
    assert [dim.dim_value for dim in input.type.tensor_type.shape.dim] == [1, 1, 1, 1]
    assert "1 node, 1 elements" in capsys.readouterr().out


def test_json(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = tmp_path / "small.onnx"
    _reduce(model, result, WITHOUT.format("HardSwish"), "--json")
    told = json.loads(capsys.readouterr().out)
    assert told.pop("before").startswith("7 nodes, ")
    assert told.pop("after").startswith("1 node, ")
    assert told.pop("runs") > 7
    assert told == {"version": 1, "output": str(result)}


def test_weights_shrink_with_inputs(model: Path, tmp_path: Path) -> None:
    result = tmp_path / "small.onnx"
    script = WITHOUT.replace("not in", "in").format("Conv")
    _reduce(model, result, script, "--while-fails")
    small = onnx.load(result)
    onnx.checker.check_model(small, full_check=True)
    (node,) = small.graph.node
    assert node.op_type == "Conv"
    assert not node.attribute
    shapes = [[d.dim_value for d in v.type.tensor_type.shape.dim] for v in small.graph.input]
    shapes += [list(tensor.dims) for tensor in small.graph.initializer]
    assert shapes == [[1] * 4] * 2


def test_module(tmp_path: Path) -> None:
    source, result = tmp_path / "m.mlir", tmp_path / "small.mlir"
    source.write_text(
        """
        func.func @unused() { func.return }
        func.func @main(%x: f32) -> f32 {
          %a = "any.one"(%x) : (f32) -> f32
          %b = "any.loop"(%a) ({
            %i = "any.inner"() : () -> f32
            "any.wanted"(%i) : (f32) -> ()
          }) : (f32) -> f32
          %c = "any.last"(%b) : (f32) -> f32
          func.return %c : f32
        }
        """
    )
    _reduce(source, result, WITHOUT.format("any.wanted"))
    names = [word for word in result.read_text().split() if "any." in word or "func.func" in word]
    assert names == ["func.func", '"any.loop"(%x)', '"any.wanted"(%x)']


def test_nothing_to_reduce(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = tmp_path / "small.onnx"
    with pytest.raises(SystemExit) as leaving:
        _reduce(model, result, "raise SystemExit(1)")
    assert leaving.value.code == 1
    assert "does not exit with code 0" in capsys.readouterr().err
    assert not result.exists()


def test_slow_commands_find_nothing() -> None:
    judge = Judge([sys.executable, "-c", "import time; time.sleep(600)"], ".onnx", timeout=0.2)
    assert not judge(b"")


def test_least() -> None:
    calls: list[list[int]] = []

    def is_enough(items: list[int]) -> bool:
        calls.append(items)
        return {3, 47, 90} <= set(items)

    assert least(range(100), is_enough) == [3, 47, 90]
    assert len(calls) < 80
    assert least([1, 2], lambda items: True) == []


def test_an_interrupted_search_keeps_the_best_so_far(
    model: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each success is told at once and written at once."""
    result = tmp_path / "small.onnx"

    def ask(judge: Judge, content: bytes) -> bool:
        judge.trials += 1
        if judge.trials == 4:
            raise KeyboardInterrupt
        return b"HardSwish" in content

    monkeypatch.setattr(Judge, "_ask", ask)
    with pytest.raises(SystemExit) as left:
        _reduce(model, result, "")
    assert left.value.code == 130
    nodes = len(onnx.load(result).graph.node)
    assert nodes < 7
    *successes, last = capsys.readouterr().err.splitlines()
    assert successes[0].startswith("after 1 runs of the command: 7 nodes, ")
    assert successes[-1].partition(": ")[2].startswith(f"{nodes} node")
    assert last.startswith(f"clopt-reduce: interrupted; {result} has the best so far: {nodes} node")
