"""Tuning databases: processes append at once, order decides, tools say what they know."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from clopt import CloptError
from clopt.decisions.choice_file import read_choices
from clopt.decisions.database import DeviceDriver, TuningDatabase, is_valid
from clopt.decisions.record import Record
from clopt.decisions.revision import compiler_revision
from clopt.dialects import tir
from clopt.passes.tir.ranked_plans import ranked_plans
from clopt.passes.tir.rules import RULES
from clopt.tuning import records
from clopt.tuning.summaries import differences, export, summaries
from clopt.tuning.trial import Fault, Result
from support.processes import LIMIT
from support.tuning.planted import task
from support.tuning.records import HERE, POCL, numbered, of_form, of_fusion, of_layout, record

OLD, NEW = "2026-01-31T12:00:00Z", "2026-02-28T12:00:00Z"
VERSION = next(rule.version for rule in RULES if rule.name == "rows")

RECORDS = st.lists(
    st.builds(
        record,
        st.integers(1, 3).map(lambda n: numbered(n, version=VERSION)),
        st.none() | st.floats(0.1, 1e6),
        device=st.sampled_from([HERE, replace(HERE, driver="2.0")]),
        site=st.sampled_from(["a", "b"]),
        when=st.sampled_from([OLD, NEW]),
        default=st.booleans(),
        nodes=st.text(max_size=3),
        revision=st.sampled_from(["", compiler_revision()]),
    ),
    max_size=6,
)


FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "device": st.sampled_from([HERE, replace(HERE, driver="2.0")]),
    "when": st.sampled_from([OLD, NEW]),
}
OF_CHOICES = st.lists(
    st.builds(
        of_layout,
        st.sampled_from("cd"),
        st.sampled_from(["plain", "#nn.layout<[1 by 8]>"]),
        st.none() | st.floats(0.1, 1e6),
        **FIELDS,
    )
    | st.builds(
        of_form,
        st.just("e"),
        st.sampled_from(["direct", "winograd 2"]),
        st.none() | st.floats(0.1, 1e6),
        **FIELDS,
    )
    | st.builds(
        of_fusion,
        st.just("f"),
        st.sampled_from(["joined", "apart"]),
        st.floats(0.1, 1e6),
        **FIELDS,
    ),
    max_size=6,
)


def kept(found: list[Record], best: int | None = None) -> list[Record]:
    return list(records.prune(found, best).records)


def plan(number: int, version: int = VERSION) -> str:
    return numbered(number, version=version)


@given(RECORDS, RECORDS, RECORDS)
def test_merging_keeps_the_first_place_of_each_record(
    a: list[Record], b: list[Record], c: list[Record]
) -> None:
    ab = records.merge(a, b)
    assert ab == [*records.merge(a), *(each for each in records.merge(b) if each not in a)]
    assert records.merge(ab, c) == records.merge(a, records.merge(b, c))
    assert records.merge(ab, ab) == records.merge(ab) == ab
    assert {each.line for each in ab} == {each.line for each in a + b}


@given(RECORDS, RECORDS)
def test_pruning_decides_nothing_anew(a: list[Record], b: list[Record]) -> None:
    pruned = kept(records.merge(a, b))
    assert kept(pruned) == pruned
    others = [
        each for each in b if each not in a
    ]  # a record that went would come back as a new one
    assert kept(records.merge(kept(a), others)) == pruned
    for kernel in "ab":
        before, after = (TuningDatabase(tuple(found)) for found in (a + b, pruned))
        for device in (HERE, DeviceDriver()):
            tried = [each.tried("plan", kernel, POCL, device) for each in (before, after)]
            assert tried[0] == tried[1]
            choices = [
                ranked_plans(each, kernel, POCL, device, plan(1)) for each in (before, after)
            ]
            faster = [None if each is None else each.faster for each in choices]
            assert faster[0] == faster[1]


@given(RECORDS, OF_CHOICES)
def test_layouts_forms_and_fusions_stay_beside_plans(a: list[Record], b: list[Record]) -> None:
    merged = records.merge(b, a)
    assert {each.line for each in merged} == {each.line for each in a + b}
    assert kept(merged, best=1) == records.merge(kept(b), kept(a, best=1))
    newest = {(r.key, r.driver): r for r in dict.fromkeys(b)}
    assert {r.line for r in kept(b)} == {r.line for r in newest.values()}


@given(RECORDS, OF_CHOICES)
def test_records_survive_a_file(
    tmp_path_factory: pytest.TempPathFactory, plans: list[Record], choices: list[Record]
) -> None:
    a = plans + choices
    path = tmp_path_factory.mktemp("db") / "net.jsonl"
    for each in a:
        records.append(path, [each])
    if a:
        assert list(TuningDatabase.read(path).records) == a
        records.replace(path, a[:1])
        assert list(TuningDatabase.read(path).records) == a[:1]


def test_what_remains_for_others_is_the_default_and_the_best() -> None:
    found = [
        *(record(plan(1), 9.0, default=True), record(plan(2), 3.0), record(plan(3), 2.0)),
        *(record(plan(4)), record(plan(5), 1.0), record(plan(5), 9.0, when=OLD)),
        *(record(plan(6, VERSION + 1), 1.0), record(numbered(1, "no-rule"), 1.0)),
    ]
    assert kept(found, best=2) == [found[0], found[1], found[2]]


APPENDING = """
import sys
from pathlib import Path
from clopt.tuning import records
from support.tuning.records import numbered, record
path, process = Path(sys.argv[1]), sys.argv[2]
print(flush=True)
sys.stdin.readline()
for number in range(1, 101):
    records.append(path, [record(numbered(number), 1.0, site=process, reason="x" * 200)] * 2)
"""


def test_processes_that_append_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "net.jsonl"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", APPENDING, path, str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for number in range(2)
    ]
    for process in processes:
        assert process.stdout
        process.stdout.readline()
    for process in processes:
        process.communicate(b"\n", LIMIT)
        assert process.returncode == 0
    found = TuningDatabase.read(path)
    assert not found.remarks
    for number in range(2):
        own = [each.choice for each in found.records if each.site == str(number)]
        assert own == [numbered(n) for n in range(1, 101) for _ in range(2)]


@pytest.mark.parametrize("kept", [1, 150, 9200])
def test_appending_removes_a_torn_line(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "net.jsonl"
    first, torn, last = (record(plan(n), 1.0, reason="x" * 9000) for n in (1, 2, 3))
    path.write_text(f"{first.line}\n{torn.line[:kept]}")
    records.append(path, [last])
    assert path.read_text() == f"{first.line}\n{last.line}\n"


def test_appending_keeps_a_last_line_that_only_lacks_its_end(tmp_path: Path) -> None:
    path = tmp_path / "net.jsonl"
    first, last = (record(plan(n), 1.0) for n in (1, 2))
    path.write_text(first.line)
    records.append(path, [last])
    assert path.read_text() == f"{first.line}\n{last.line}\n"


@pytest.mark.parametrize("content", ["ssh-ed25519 AAAA me@home", "[1, 2]", '{"formal": 1'])
def test_text_of_others_is_not_truncated(tmp_path: Path, content: str) -> None:
    path = tmp_path / "net.jsonl"
    path.write_text(content)
    with pytest.raises(CloptError, match="the last line is not a record, so clopt does not write"):
        records.append(path, [record(plan(1), 1.0)])
    assert path.read_text() == content


@pytest.mark.parametrize("write", [records.append, records.replace])
@pytest.mark.parametrize("name", ["net.jsonl", ".net.jsonl.lock"])
def test_nothing_is_written_through_links(
    tmp_path: Path, name: str, write: Callable[[Path, list[Record]], None]
) -> None:
    """An archive with a model may hold them."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("dear")
    for target in ("mine/file", "mine/absent"):
        (tmp_path / name).symlink_to(target)
        with pytest.raises(CloptError, match=r"is a link|symbolic links"):
            write(tmp_path / "net.jsonl", [record(plan(1), 1.0)])
        (tmp_path / name).unlink()
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["file"]
    assert (tmp_path / "mine" / "file").read_text() == "dear"


def test_faults_of_files_are_sentences(tmp_path: Path) -> None:
    one = record(plan(1), 1.0)
    for write in (records.append, records.replace):
        with pytest.raises(CloptError, match=r"cannot write this tuning database: Is a directory"):
            write(tmp_path, [one])
        with pytest.raises(CloptError, match=r"because there is no folder .*absent; create it\."):
            write(tmp_path / "absent" / "net.jsonl", [one])
        with pytest.raises(CloptError, match=r"must be float > 0\.0, not -1\.0"):
            write(tmp_path / "net.jsonl", [one, structs.replace(one, microseconds=-1.0)])
    assert not list(tmp_path.glob("*"))


def test_a_record_says_what_the_result_said() -> None:
    done = Result("D", "1", 2.5, 12.5, 0.02, 30, kernel="k", plan=tir.Plan("rows", 1, {"width": 8}))
    made = records.record_of(task(), done, is_default=True)
    assert (made.site, made.device, made.driver, made.target) == ("k", "D", "1", "generic")
    assert (made.microseconds, made.noise, made.runs, made.default) == (12.5, 0.02, 30, True)
    assert made.choice == '#tir.plan<"rows", 1, {width = 8}>'
    assert dict(made.facts)["compute_units"] == 2
    wrong = replace(done, fault=Fault.WRONG, reason="wrong by 1")
    failed = records.record_of(task(), wrong)
    assert (failed.microseconds, failed.fault, failed.reason) == (None, "wrong", "wrong by 1")


def test_the_best_form_may_differ() -> None:
    before = [of_form("c", "direct", 9.0, default=True), of_form("c", "winograd 2", 8.0)]
    after = [before[0], of_form("c", "winograd 2", 9.5, when=NEW)]
    (found,) = differences(before, after)
    assert (found.before, found.after) == (before[1], before[0])


def test_differences_beyond_the_noise() -> None:
    def both(default: float, other: float, **fields: str) -> list[Record]:
        return [record(plan(1), default, default=True, **fields), record(plan(2), other, **fields)]

    before = both(9.0, 3.0)
    assert differences(before, both(8.0, 3.01)) == []
    (slower,) = differences(before, both(9.0, 4.0, driver="2.0"))
    assert (slower.before, slower.after) == (before[1], both(9.0, 4.0, driver="2.0")[1])
    (other,) = differences(before, both(3.0, 3.0))
    assert other.after == both(3.0, 3.0)[0]
    (gone, new) = differences(before, both(9.0, 3.0, site="x"))
    assert (gone.after, new.before) == (None, None)


def test_the_best_plans_are_a_file_of_choices(tmp_path: Path) -> None:
    found = [
        *(record(plan(1), 9.0, default=True), record(plan(2), 3.0, nodes="conv")),
        *(record(plan(1), 9.0, site="b", default=True), record(plan(2), 8.9, site="b")),
    ]
    file = tmp_path / "net.choices"
    file.write_text(export(found))
    more = [of_layout("c", "#nn.layout<[1 by 8]>", 1.0), of_form("d#2", "direct", 1.0)]
    others = "# 1 us\nform d#2 direct\n# 1 us\nlayout c #nn.layout<[1 by 8]>\n"
    assert export([*found, *more]) == file.read_text().replace("# conv", f"{others}# conv", 1)
    chosen = {each.digest.data: str(each.choice) for each in read_choices(file)}
    assert chosen == {"0123456789abcdef": plan(2), "b": plan(1)}
    assert "# conv; 3 us\n" in file.read_text()
    with pytest.raises(CloptError, match="the database has no times for such a device"):
        export(found, device="gpu")
    more = [*found, record(plan(1), 1.0, driver="2.0")]
    with pytest.raises(CloptError, match=r"driver 1\.0; .*driver 2\.0\. A file of choices must be"):
        export(more)
    assert "@" not in export(more, device="PROCESSOR", driver="2.0")


def test_times_of_another_compiler_are_a_starting_point() -> None:
    default, fast, slow = (plan(number) for number in (1, 2, 3))
    old = [record(default, 10.0, revision="old", default=True), record(fast, 5.0, revision="old")]
    now = compiler_revision()
    new = [record(default, 4.0, revision=now, default=True), record(slow, 9.0, revision=now)]
    kernel = old[0].site

    def faster(found: list[Record]) -> list[str] | None:
        choice = ranked_plans(TuningDatabase(tuple(found)), kernel, POCL, HERE, default)
        return None if choice is None else [each.choice for each in choice.faster]

    assert faster(old) == [fast]
    # The old time of a plan is not compared with the new one of the default.
    assert faster(old + new) == []
    assert faster(old + new[:1]) == [fast]
    tried = TuningDatabase((*old, record(slow, revision="old"))).tried("plan", kernel, POCL, HERE)
    assert [each.choice for each in tried if is_valid(each)] == [slow]  # a fault stays one
    (summary,) = summaries([*old, *new])
    assert {each.choice for each in summary.records} == {default, slow}
