"""Databases that `compile` finds by itself: beside the model, in the cache, in the package."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import clopt
from clopt.decisions import database
from clopt.decisions.database import DeviceDriver, TuningDatabase
from clopt.decisions.record import Record, facts_that_count
from clopt.dialects import cl, tir
from clopt.dialects.cl import target_of
from clopt.errors import CloptWarning
from clopt.tools import opt, run
from clopt.tuning.places import database_beside, database_in_cache, device_name
from support.tuning.records import HERE, record

NETWORK = """
func.func @main(%a: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %b = nn.binary add %a, %a : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  func.return %b : tensor<2x8xf32>
}
"""
CHOOSING = "fuse,lower,tir-choose-plan"
PLAN = re.compile(r"^plan ([0-9a-f]{16}) (#tir\.plan<.*>)$", re.M)


@pytest.fixture(autouse=True)
def found_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLOPT_TUNING")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "net.mlir"
    path.write_text(NETWORK)
    return path


def tuned(
    model: Path, device: DeviceDriver = HERE, words: str = "pocl", **fields: Any
) -> list[Record]:
    """The records of a device on which vectors of two are faster than the default, of eight."""
    plans = model.with_suffix(".choices")
    opt.main([str(model), "--target", words, "-p", CHOOSING, "-t", "choices", "-o", str(plans)])
    match = PLAN.search(plans.read_text())
    assert match
    kernel, default = match.groups()
    assert "width = 8" in default
    faster = default.replace("width = 8", "width = 2")
    return [
        record(default, 9.0, device=device, site=kernel, **fields),
        record(faster, 3.0, device=device, site=kernel, **fields),
    ]


def put(path: Path | None, records: list[Record]) -> Path:
    assert path is not None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{each.line}\n" for each in records))
    return path


def is_tuned(model: Path, target: str = "pocl", **options: Any) -> bool:
    return "float2" in clopt.compile(model, target, **options).source


def beside(model: Path, records: list[Record]) -> None:
    put(database_beside(model), records)


def in_cache(model: Path, records: list[Record]) -> None:
    put(database_in_cache(), records)


@pytest.mark.parametrize("place", [beside, in_cache])
def test_databases_are_found(
    model: Path, place: Callable[[Path, list[Record]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not is_tuned(model)
    place(model, tuned(model))
    assert is_tuned(model)
    assert not is_tuned(model, tuning="off")
    monkeypatch.setenv("CLOPT_TUNING", "off")
    assert not is_tuned(model)
    monkeypatch.setenv("CLOPT_TUNING", "on")
    with pytest.raises(clopt.CloptError, match='CLOPT_TUNING must be auto or off, not "on"'):
        is_tuned(model)


def test_one_in_the_cache_that_others_could_have_written_is_left_out(model: Path) -> None:
    in_cache(model, tuned(model))
    cached = database_in_cache()
    assert cached is not None
    cached.chmod(0o666)
    with pytest.warns(CloptWarning, match=r"tuning\.jsonl is ignored, because other users can"):
        assert not is_tuned(model)
    cached.chmod(0o644)
    assert is_tuned(model)


def test_the_one_that_clopt_brings(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(f"{each.line}\n" for each in tuned(model))
    monkeypatch.setattr(database, "_shipped", lambda _: TuningDatabase.of_text(text, "x"))
    assert is_tuned(model)
    assert not is_tuned(model, tuning="off")


def test_a_database_that_is_named_is_the_only_one(model: Path, tmp_path: Path) -> None:
    beside(model, tuned(model))
    named = put(tmp_path / "other.jsonl", [])
    compiled = clopt.compile(model, "pocl", tuning=named)
    assert "float2" not in compiled.source
    said = f"{named}: no record matches a kernel of this module for target pocl."
    assert compiled.remarks == (said,)
    assert is_tuned(model, tuning=str(database_beside(model)))


def test_records_of_the_device_come_without_a_remark(model: Path) -> None:
    device = clopt.list_devices()[0]
    target = target_of(clopt.compile(model, device=device).module)
    assert isinstance(target, cl.Target)
    facts = facts_that_count(target)
    spelled = [f"{name}={target.facts[name]}" for name in facts]
    spelled = [word.replace("=False", "=false").replace("=True", "=true") for word in spelled]
    here = DeviceDriver(device_name(device), device.driver)
    own = {"target": target.name, "facts": facts}
    words = " ".join([target.name, *spelled])
    name = model.with_name("other.mlir")
    name.write_text(NETWORK.replace("2x8x", "2x16x"))
    records = tuned(name, here, words, **own)
    beside(name, records)
    compiled = clopt.compile(name, device=device)
    (kernel,) = (op for op in compiled.module.ops if isinstance(op, tir.FuncOp))
    assert str(kernel.plan) == records[1].choice
    assert not compiled.remarks
    beside(name, tuned(name, HERE, words, **own))
    (remark,) = clopt.compile(name, device=device).remarks
    assert remark.startswith("1 kernel has a plan measured on A processor (tests), driver 1.0")


def test_options_of_the_tools(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = put(tmp_path / "other.jsonl", tuned(model))
    words = [str(model), "--target", "pocl"]
    opt.main([*words, "-p", "opencl", "-t", "opencl-c", "--tuning", str(named)])
    assert "float2" in capsys.readouterr().out
    beside(model, tuned(model))
    opt.main([*words, "-p", "opencl", "-t", "opencl-c"])  # finds none by itself
    assert "float2" not in capsys.readouterr().out
    run.main([*words, "--check"])
    assert "measured on A processor" in capsys.readouterr().err
    run.main([*words, "--check", "--tuning", "off"])
    assert not capsys.readouterr().err
