"""`clopt-tune model.onnx`: a search, its database, and a compiler that finds it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import clopt
from clopt.decisions.database import TuningDatabase
from clopt.tools.tune.__main__ import main

LINALG = Path(__file__).parents[1] / "frontends/linalg/networks/classifier.mlir"
CONV = Path(__file__).parents[2] / "docs" / "conv.onnx"


def test_a_search_fills_the_database_beside_the_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    model = tmp_path / "conv.onnx"
    shutil.copy(CONV, model)
    arguments = [str(model), "--dim", "batch=1", "--device", "pocl", "--trials", "6"]
    main([*arguments, "--workers", "1"])
    printed = capsys.readouterr().out
    database = tmp_path / "conv.tuning.jsonl"
    assert str(database) in printed
    assert re.search(r"The search has not finished \d of 2 kernels; \d saw only", printed)
    records = TuningDatabase.read(database).records
    assert len(records) >= 6
    plans = [record for record in records if record.kind == "plan"]
    assert {record.nodes for record in plans} == {"conv", "conv, relu"}
    assert sum(record.default for record in records) >= 2
    assert all("Portable" in record.device for record in records)
    # Any plan is right, and a named database says nothing where it is from this very device.
    tuned = clopt.compile(model, dims={"batch": 1}, device="pocl", tuning=database)
    assert tuned.remarks == ()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["absent.onnx"], "absent.onnx"),
        ([str(CONV), "--dim", "batch=1", "--device", "pocl", "--time", "soon"], "--time soon"),
        (["absent.mlir"], "Cannot read absent.mlir"),
        ([str(LINALG), "--device", "pocl", "--dim", "n=2"], "dims binds symbolic dimensions of"),
        ([str(CONV), "--time", "0"], "--time 0: write a number of seconds above 0"),
        ([str(CONV), "--device", "pocl"], "batch"),
        (
            [str(CONV), "--board", "ssh b r"],
            "A --board does not report its target; name it with --ta",
        ),
        (
            [str(CONV), "--board", "b", "--device", "pocl"],
            "--device applies to this machine; on a --",
        ),
        ([str(CONV), "--board", "b", "--scheduler", "s"], "Name either a --board or a --scheduler"),
        ([str(CONV), "--scheduler", "s", "--workers", "4"], "--workers applies only to this mach"),
        ([str(CONV), "--workers", "0"], "--workers 0: must be 1 or more."),
    ],
)
def test_mistakes_get_one_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 1
    said = capsys.readouterr().err
    assert sentence in said
    assert "Traceback" not in said
