"""`clopt-tune`: the subcommands for databases."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from msgspec import structs

from clopt.decisions.database import TuningDatabase
from clopt.decisions.record import Record
from clopt.decisions.revision import compiler_revision
from clopt.passes.tir.rules import RULES
from clopt.tools.tune.__main__ import COMMANDS, main
from clopt.tuning import records
from support.tuning.records import numbered, record

VERSION = next(rule.version for rule in RULES if rule.name == "rows")
DEFAULT = record(numbered(1, version=VERSION), 9.0, default=True, nodes="conv")
BEST = record(numbered(2, version=VERSION), 3.0, nodes="conv")
FAULT = record(numbered(3, version=VERSION), nodes="conv", reason="It ended by SIGSEGV.")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "net.jsonl"
    records.append(path, [DEFAULT, BEST, FAULT])
    return path


def shown(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    main([str(word) for word in words])
    return capsys.readouterr().out


def sentence(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    assert left.value.code == 1
    return capsys.readouterr().err.strip()


def test_show(capsys: pytest.CaptureFixture[str], database: Path) -> None:
    device, heading, _, line = shown(capsys, "show", database).splitlines()
    assert device.startswith("target pocl, ")
    assert heading.split()[:2] == ["kernel", "nodes"]
    row = line.split()
    assert row[:2] == ["0123456789abcdef", "conv"]
    assert row[-6:] == ["3", "1", "9", "3", "3.00", "rows"]
    text = shown(capsys, "show", database, "--kernel", "0123")
    times = [line.split()[0] for line in text.splitlines()[3:]]
    assert times == ["3", "9", "crashed"]
    assert "the default" in text
    assert "SIGSEGV" in text
    (kernel,) = json.loads(shown(capsys, "show", database, "--json"))
    assert (kernel["site"], kernel["nodes"]) == ("0123456789abcdef", "conv")
    assert (kernel["default_microseconds"], kernel["best_microseconds"]) == (9.0, 3.0)
    assert {plan["microseconds"] for plan in kernel["plans"]} == {9.0, 3.0, None}
    assert "It ended by SIGSEGV." in {plan["reason"] for plan in kernel["plans"]}
    assert json.loads(shown(capsys, "show", database, "--json", "--kernel", "ff")) == []


def test_merge(capsys: pytest.CaptureFixture[str], database: Path, tmp_path: Path) -> None:
    other: Record = record(numbered(4, version=VERSION), 2.0)
    records.append(tmp_path / "other.jsonl", [other, BEST])
    output = tmp_path / "all.jsonl"
    said = shown(capsys, "merge", database, tmp_path / "other.jsonl", "-o", output)
    assert said == f"{output}: 4 records, 1 duplicate(s)\n"
    assert list(TuningDatabase.read(output).records) == [DEFAULT, BEST, FAULT, other]
    shown(capsys, "merge", tmp_path / "other.jsonl", output, "-o", output)
    assert list(TuningDatabase.read(output).records) == [other, BEST, DEFAULT, FAULT]


def test_merge_and_prune_tell_programs_what_they_did(
    capsys: pytest.CaptureFixture[str], database: Path, tmp_path: Path
) -> None:
    output = str(tmp_path / "all.jsonl")
    merged = json.loads(shown(capsys, "merge", database, database, "-o", output, "--json"))
    assert merged == {"version": 1, "output": output, "records": 3, "duplicates": 3}
    pruned = json.loads(shown(capsys, "prune", output, "--best", "1", "--json"))
    dropped = {"not among the best": 1}
    facts = {"output": output, "records": 2, "before": 3, "dropped": dropped}
    assert pruned == {"version": 1, **facts}


def test_merging_copies_that_went_on_keeps_what_each_found(
    capsys: pytest.CaptureFixture[str], database: Path, tmp_path: Path
) -> None:
    """The one refutes the plan that both had; its clock is years behind."""
    copy, output = tmp_path / "copy.jsonl", tmp_path / "all.jsonl"
    copy.write_bytes(database.read_bytes())
    records.append(database, [record(BEST.choice, 12.0, when="2020-01-01T00:00:00Z")])
    records.append(copy, [record(numbered(4, version=VERSION), 8.0)])
    for order in ((database, copy), (copy, database)):
        shown(capsys, "merge", *order, "-o", output)
        (kernel,) = json.loads(shown(capsys, "show", output, "--json"))
        assert kernel["best_microseconds"] == 8.0


def test_a_sentence_is_one_line_in_a_pipe(
    capsys: pytest.CaptureFixture[str], database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    assert shown(capsys, "prune", database) == f"{database}: 3 of 3 records\n"


def test_diff(capsys: pytest.CaptureFixture[str], database: Path, tmp_path: Path) -> None:
    assert shown(capsys, "diff", database, database) == "no difference beyond the noise\n"
    other = tmp_path / "other.jsonl"
    records.append(other, [DEFAULT])
    row = shown(capsys, "diff", database, other).splitlines()[2].split()
    assert row[-4:] == ["3", "9", "3.00", "another"]


def test_diff_as_json(capsys: pytest.CaptureFixture[str], database: Path, tmp_path: Path) -> None:
    (empty := tmp_path / "empty.jsonl").touch()
    main(["diff", str(empty), str(database), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["version"] == 1
    for each in told["differences"]:
        assert each["before"] is None
        assert each["after"]["microseconds"] > 0
    known = records.read([database]).records
    assert {each["site"] for each in told["differences"]} == {each.site for each in known}


def test_prune(capsys: pytest.CaptureFixture[str], database: Path, tmp_path: Path) -> None:
    records.append(database, [record(BEST.choice, 4.0, when="2025-01-01T00:00:00Z")])
    assert shown(capsys, "prune", database) == f"{database}: 3 of 4 records, 1 superseded\n"
    small = tmp_path / "small.jsonl"
    said = shown(capsys, "prune", database, "--best", 1, "-o", small)
    assert said == f"{small}: 2 of 3 records, 1 not among the best\n"
    changed = record(numbered(9, version=VERSION + 1), 1.0)
    here = structs.replace(BEST, revision=compiler_revision())
    records.append(database, [changed, here, here])
    said = shown(capsys, "prune", database, "--this-compiler", "-o", small)
    reasons = "2 another compiler, 1 repeated, 1 rule changed"
    assert said == f"{small}: 2 of 6 records, {reasons}\n"
    assert list(TuningDatabase.read(small).records) == [FAULT, here]
    assert sentence(capsys, "prune", database, "--best", 0).endswith("must be 1 or more.")


def test_export(capsys: pytest.CaptureFixture[str], database: Path, tmp_path: Path) -> None:
    text = shown(capsys, "export", database)
    assert text.startswith("clopt-choices 1\n# conv; 3 us\nplan 0123456789abcdef #tir.plan<")
    assert text.endswith(f" {BEST.choice}\n")
    output = tmp_path / "net.choices"
    assert not shown(capsys, "export", database, "-o", output)
    assert output.read_text() == text
    said = sentence(capsys, "export", database, "--device", "gpu")
    assert said == f"clopt-tune: {database}: the database has no times for such a device."


@pytest.mark.parametrize("command", ["show", "prune", "export"])
def test_mistakes_are_sentences(
    capsys: pytest.CaptureFixture[str], database: Path, command: str
) -> None:
    none = database.with_name("none.jsonl")
    said = "cannot read this tuning database: No such file or directory."
    assert sentence(capsys, command, none) == f"clopt-tune: {none}: {said}"
    with database.open("a") as file:
        file.write("{}\n")
    said = sentence(capsys, command, database)
    assert said.startswith(f"clopt-tune: {database}:4: this version of clopt reads")


def test_a_torn_line_is_told(capsys: pytest.CaptureFixture[str], database: Path) -> None:
    with database.open("a") as file:
        file.write("{")
    main(["show", str(database)])
    assert f"remark: {database}:4: skipped the truncated last line" in capsys.readouterr().err


def test_other_words_are_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    said = sentence(capsys, "rename")
    assert said.startswith(
        'clopt-tune: "rename" is neither a subcommand nor an .onnx or .mlir file; there are: '
    )
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    listed = capsys.readouterr().out
    for command, purpose in COMMANDS.items():
        assert re.search(rf"^  {command} +{re.escape(purpose)}$", listed, re.M)
        with pytest.raises(SystemExit, match="0"):
            main([command, "--help"])
        assert capsys.readouterr().out.startswith(f"usage: clopt-tune {command} ")
