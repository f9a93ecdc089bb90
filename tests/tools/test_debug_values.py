"""`clopt-run --debug-accuracy` and `--nan`: the node at fault is named."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from clopt.frontends.onnx.operators import handler_for
from clopt.frontends.onnx.values import ModelWithValues, NodeValue
from clopt.tools import run
from clopt.tools.debug_values import first_wrong

CHAIN = [NodeValue(f"v{i}", f"n{i}", "Relu", (f"v{i - 1}",)) for i in range(8)]
ASIDE = NodeValue("aside", "n_aside", "Relu", ("v0",))


def chain_model(path: Path, operators: Sequence[str], weight: np.ndarray | None = None) -> Path:
    """A chain of operators of one input, each node named by its operator, from x to y."""
    names = ["x", *(f"t{i}" for i in range(1, len(operators))), "y"]
    nodes = [
        helper.make_node(op, [a, "w"] if op == "Add" else [a], [b], name=op.lower())
        for op, a, b in zip(operators, names, names[1:])
    ]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in ("x", "y")]
    weights = [] if weight is None else [numpy_helper.from_array(weight, "w")]
    graph = helper.make_graph(nodes, "chain", ports[:1], ports[1:], weights)
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def failing(words: Sequence[str | Path], capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """What clopt-run prints and says for a command that ends with exit code 1."""
    with pytest.raises(SystemExit) as leaving:
        run.main([*map(str, words), "--device", "pocl"])
    assert leaving.value.code == 1
    printed = capsys.readouterr()
    return printed.out, printed.err


@pytest.fixture
def wrong_sigmoid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sigmoid is imported as Tanh, and no compiled model is kept."""
    monkeypatch.setattr("clopt.compiled_cache.Request.of", lambda *_: None)

    def mistaken(domain: str, op_type: str, opset: int) -> Any:
        return handler_for(domain, "Tanh" if op_type == "Sigmoid" else op_type, opset)

    monkeypatch.setattr("clopt.frontends.onnx.graph.handler_for", mistaken)


@pytest.mark.usefixtures("wrong_sigmoid")
def test_the_first_node_that_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    model = chain_model(tmp_path / "m.onnx", ["Neg", "Sigmoid", "Exp", "Relu"])
    out, err = failing([model, "--debug-accuracy"], capsys)
    assert "the first value that differs from onnxruntime is 't2' of node 'sigmoid'" in err
    assert "(Sigmoid), computed by @neg_0_to_relu_3: by " in err
    rows = [line.split() for line in out.splitlines()[2:]]
    assert [row[:3] for row in rows if row] == [["t1", "neg", "Neg"], ["t2", "sigmoid", "Sigmoid"]]


@pytest.mark.usefixtures("wrong_sigmoid")
def test_the_same_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    model = chain_model(tmp_path / "m.onnx", ["Sigmoid", "Exp"])
    x = tmp_path / "x.npy"
    np.save(x, np.array([0, 1, 2, -1], np.float32))
    out, _ = failing([model, "--debug-accuracy", "--json", "--input", f"x={x}"], capsys)
    told = json.loads(out)
    assert (told["right"], told["value"], told["node"]) == (False, "t1", "sigmoid")
    at = told["worst"]["index"][0]
    assert at == 3  # tanh and sigmoid are farthest apart where x is negative
    assert told["worst"]["ours"] == pytest.approx(np.tanh(-1), abs=1e-6)
    assert told["worst"]["reference"] == pytest.approx(1 / (1 + np.e), abs=1e-6)


def test_json_has_no_infinities(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """Relu is imported as Log, which is NaN for negative values."""
    monkeypatch.setattr("clopt.compiled_cache.Request.of", lambda *_: None)
    monkeypatch.setattr(
        "clopt.frontends.onnx.graph.handler_for",
        lambda domain, op, opset: handler_for(domain, "Log" if op == "Relu" else op, opset),
    )
    model = chain_model(tmp_path / "m.onnx", ["Relu"])
    x = tmp_path / "x.npy"
    np.save(x, np.array([1, -2, 1, 1], np.float32))
    out, err = failing([model, "--debug-accuracy", "--json", "--input", f"x={x}"], capsys)
    told = json.loads(out)
    assert told["relative_error"] is None
    assert told["worst"] == {"index": [1], "ours": None, "reference": 0}
    assert "At [1] it is nan and should be 0." in err


def test_a_network_that_is_right(model: Path, capsys: pytest.CaptureFixture[str]):
    run.main([str(model), "--debug-accuracy", "--device", "pocl"])
    assert capsys.readouterr().out == f"2 values of {model} agree with onnxruntime.\n"


@pytest.mark.parametrize("culprit", range(8))
def test_a_fault_of_the_fused_network_is_found_by_bisection(culprit: int):
    """With every value as an output all are right; alone, those from the culprit on are wrong."""
    values = [*CHAIN[:4], ASIDE, *CHAIN[4:]]
    asked: list[Sequence[str]] = []

    def observe(names: Sequence[str]) -> Any:
        asked.append(names)
        fused = len(names) < len(values)
        wrong = {f"v{i}" for i in range(culprit, 8)} if fused else set[str]()
        return SimpleNamespace(arrays={name: np.array(name in wrong) for name in (*names, "v7")})

    found = first_wrong(values, ["v7"], observe, lambda _, array: bool(array))
    assert found is not None
    value, shown = found
    assert value == CHAIN[culprit]
    assert shown.arrays[value.name]
    assert ["aside"] not in asked
    assert len(asked) <= 2 + 3


def test_nothing_is_wrong():
    def observe(names: Sequence[str]) -> Any:
        return SimpleNamespace(arrays={name: np.zeros(1) for name in (*names, "v7")})

    assert first_wrong(CHAIN, ["v7"], observe, lambda _, array: bool(array)) is None


def test_the_first_node_whose_result_is_not_finite(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    x = tmp_path / "x.npy"
    np.save(x, np.array([1, 2, -3, 0], np.float32))
    model = chain_model(tmp_path / "m.onnx", ["Neg", "Log", "Sqrt", "Relu"])
    out, err = failing([model, "--nan", "--json", "--input", f"x={x}"], capsys)
    wrong = {"value": "t2", "node": "log", "operator": "Log"}
    assert json.loads(out) == {"model": str(model), "right": False, **wrong}
    assert "the first value that is not finite is 't2' of node 'log' (Log)" in err
    assert "2 NaN and 1 infinite of 4, the first at [0]; its input 't1' is -2 to 3." in err


def test_an_infinite_constant_is_no_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """A mask of -inf makes values that are not finite; no node of this chain does."""
    weight = np.array([0, -np.inf, 0, 0], np.float32)
    model = chain_model(tmp_path / "m.onnx", ["Add", "Exp"], weight)
    run.main([str(model), "--nan", "--device", "pocl"])
    assert "come from constants" in capsys.readouterr().out


def test_an_input_that_is_not_finite(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    x = tmp_path / "x.npy"
    np.save(x, np.array([1, np.nan, 0, 0], np.float32))
    model = chain_model(tmp_path / "m.onnx", ["Relu"])
    _, err = failing([model, "--nan", "--input", f"x={x}"], capsys)
    assert "the input x has values that are not finite" in err


@pytest.mark.parametrize("flag", ["--debug-accuracy", "--nan"])
def test_a_compiled_model_has_no_nodes(flag: str, tmp_path: Path, capsys):
    (tmp_path / "m.mlir").write_text("builtin.module {}")
    _, err = failing([tmp_path / "m.mlir", flag], capsys)
    assert f"{flag} needs the ONNX model, and this is a module" in err


def test_values_keep_their_weights(tmp_path: Path):
    """A model with external weights, copied elsewhere: outputs change, and weights do not."""
    rng = np.random.default_rng(0)
    weight = rng.standard_normal(1000).astype(np.float32)
    model = onnx.load(chain_model(tmp_path / "m.onnx", ["Add", "Exp", "Neg"], weight))
    source, folder = tmp_path / "source", tmp_path / "copy"
    source.mkdir()
    folder.mkdir()
    onnx.save(model, source / "m.onnx", save_as_external_data=True, location="data")
    copy = ModelWithValues(source / "m.onnx", folder)
    assert [value.name for value in copy.values] == ["t1", "t2", "y"]
    assert copy.write(["t2", "y"]) == ["y", "t2"]
    read = onnx.load(copy.path)
    assert [value.name for value in read.graph.output] == ["y", "t2"]
    np.testing.assert_array_equal(numpy_helper.to_array(read.graph.initializer[0]), weight)
    assert copy.write([]) == ["y"]
    assert [value.name for value in onnx.load(copy.path).graph.output] == ["y"]
