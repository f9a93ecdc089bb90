"""`clopt-run --time`, `--check` and `--json`."""

from __future__ import annotations

import itertools
import json
import re
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

import clopt
from clopt.tools import compile, reference, run
from support.onnx.models import model as open_model


@pytest.mark.parametrize(("words", "runs"), [((), 3), (("--warmup", "0"), 0), (("--warmup=5",), 5)])
def test_warm_up_runs_are_not_timed(
    words: tuple[str, ...], runs: int, model: Path, capsys, monkeypatch: pytest.MonkeyPatch
):
    """The first run gives the outputs, and two are timed."""
    calls: list[object] = []
    infer = clopt.CompiledModel.run
    monkeypatch.setattr(
        clopt.CompiledModel, "run", lambda self, given: calls.append(given) or infer(self, given)
    )
    run.main([str(model), "--time", "2", *words])
    assert len(calls) == 1 + runs + 2
    assert re.search(r"^ *2 .*/s$", capsys.readouterr().out.strip(), re.M)


@pytest.mark.parametrize("words", [("--warmup", "3"), ("--time", "2", "--warmup", "-1")])
def test_warm_up_without_timing(words: tuple[str, ...], model: Path, capsys):
    with pytest.raises(SystemExit) as leaving:
        run.main([str(model), *words])
    assert leaving.value.code == 2
    assert "--warmup must be at least 0, and needs --time or --duration" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "runs"), [((), 4), (("--time", "2"), 4), (("--time", "9"), 9)])
def test_runs_go_on_for_the_duration(
    words: tuple[str, ...], runs: int, model: Path, capsys, monkeypatch: pytest.MonkeyPatch
):
    """By a clock that a run sets forward by 0.5 s; --time is the least number of runs."""
    clock = itertools.count(step=0.5)
    monkeypatch.setattr("clopt.tools.timing.time.perf_counter", lambda: next(clock))
    run.main([str(model), "--duration", "2s", "--json", *words])
    timing = json.loads(capsys.readouterr().out)["timing"]
    same = dict.fromkeys(("median", "min", "p90", "p99"), 500)
    assert timing == {"runs": runs, "throughput": 2, "milliseconds": same}


def test_the_duration_is_read_before_the_model(model: Path, capsys, monkeypatch):
    monkeypatch.setattr(run.ModelSource, "of", lambda _: pytest.fail("reads the model"))
    with pytest.raises(SystemExit):
        run.main([str(model), "--duration", "soon"])
    assert "--duration soon: write a number of seconds above 0" in capsys.readouterr().err


def test_times_and_profile_are_one_document(model: Path, capsys):
    run.main([str(model), "--time", "2", "--profile", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["timing"]["runs"] == 2
    assert told["timing"]["milliseconds"]["min"] > 0
    assert told["kernels"]


@pytest.mark.parametrize("wrong", [0.0, 1.0, np.nan])
def test_a_comparison_as_json(wrong: float, model: Path, capsys, monkeypatch: pytest.MonkeyPatch):
    infer = reference.run_onnxruntime
    monkeypatch.setattr(
        reference, "run_onnxruntime", lambda *given: [each + wrong for each in infer(*given)]
    )
    words = [str(model), "--compare", "onnxruntime", "--tolerance", "0.125", "--json"]
    with nullcontext() if wrong == 0 else pytest.raises(SystemExit):
        run.main(words)
    told = json.loads(capsys.readouterr().out)["comparison"]
    (output,) = told.pop("outputs")
    assert told == {"with": "onnxruntime", "right": wrong == 0}
    assert (output["output"], output["allowed"]) == ("y", 0.125)
    assert output["largest_error"] == (None if np.isnan(wrong) else pytest.approx(wrong, abs=1e-5))


def test_check_lists_every_node_that_is_not_supported(
    model: Path, tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch
):
    """Without a device."""
    monkeypatch.setattr("clopt.options.choose_place", lambda *_: pytest.fail("asked for a device"))
    run.main(["--check", str(model)])
    assert capsys.readouterr().out == f"{model} is supported: 1 kernel.\n"
    run.main(["--check", "--json", str(model)])
    told = {"model": str(model), "supported": True, "kernels": 1}
    assert json.loads(capsys.readouterr().out) == told
    proto = onnx.load(model)
    for name in "ab":
        proto.graph.node.append(
            helper.make_node("StringNormalizer", ["x"], [name], name=f"match_{name}")
        )
        proto.graph.output.append(onnx.ValueInfoProto(name=name))
    onnx.save(proto, path := tmp_path / "match.onnx")
    with pytest.raises(SystemExit) as leaving:
        run.main(["--check", str(path)])
    assert leaving.value.code == 1
    assert capsys.readouterr().err.splitlines() == [
        f"clopt-run: {path}: 2 nodes cannot be compiled:",
        "  node 'match_a' (StringNormalizer): the operator StringNormalizer is not supported.",
        "  node 'match_b' (StringNormalizer): the operator StringNormalizer is not supported.",
    ]
    with pytest.raises(SystemExit) as leaving:
        run.main(["--check", "--json", str(path)])
    assert leaving.value.code == 1
    told = json.loads(capsys.readouterr().out)
    assert not told["supported"]
    assert (
        "node 'match_b' (StringNormalizer): the operator StringNormalizer is not supported."
        in told["reason"]
    )


def test_check_of_a_model_with_open_dimensions(tmp_path: Path, capsys):
    for operator, is_supported in (("Softmax", True), ("StringNormalizer", False)):
        onnx.save(open_model("float[n,m] x", f"y = {operator}(x)"), path := tmp_path / "open.onnx")
        if not is_supported:
            with pytest.raises(SystemExit):
                run.main(["--check", str(path)])
            assert "the operator StringNormalizer is not supported" in capsys.readouterr().err
            continue
        run.main(["--check", str(path)])
        assert capsys.readouterr().out == (
            f"{path}: the operators are supported; the dimensions n (axis 0 of 'x'), m (axis 1 of "
            "'x') are not fixed; bind with --dim n=1 --dim m=... to check the shapes, too.\n"
        )
        run.main(["--check", "--json", str(path)])
        told = {"model": str(path), "supported": True, "open": ["n", "m"]}
        assert json.loads(capsys.readouterr().out) == told


def test_a_compilation_as_json(model: Path, tmp_path: Path, capsys):
    memory = tmp_path / "memory.html"
    words = ["--target", "generic", "--json", "--memory-report", str(memory)]
    compile.main([str(model), "-o", str(tmp_path / "out"), *words])
    told = json.loads(capsys.readouterr().out)
    x = {"name": "x", "shape": [2, 3], "type": "float32", "image": None}
    assert (told["version"], told["model"]) == (1, str(model))
    assert told["inputs"] == [x]
    assert told["outputs"] == [x | {"name": "y"}]
    assert {"what": "inputs", "bytes": 24} in told["memory"]
    assert told["folder"] == str(tmp_path / "out")


def test_json_needs_a_result_to_print(model: Path, capsys):
    for words, said in {
        ("--json",): "--json goes with --time, --duration, --profile, --compare, --list-devices",
        ("--json", "--profile", "--print"): "--json and --print both write to stdout",
    }.items():
        with pytest.raises(SystemExit) as leaving:
            run.main([str(model), *words])
        assert leaving.value.code == 2
        assert said in capsys.readouterr().err
