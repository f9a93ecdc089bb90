"""`clopt-tune report`: the page has each trial, needs nothing else, and shows any name as text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from clopt.decisions.record import Record
from clopt.passes.tir.rules import RULES
from clopt.tools.tune.__main__ import main
from clopt.tuning import records
from support.tuning.records import numbered, of_form, of_layout, record

VERSION = next(rule.version for rule in RULES if rule.name == "rows")
EVIL = "<script>alert(1)</script> & \u202eabc"
TIMES = [8.0, 90.0, 4.0, 2.0, 40.0]


class Page(HTMLParser):
    """What a page has: cells of tables, points of charts, titles, addresses, and ids."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[list[str]] = []
        self.points: list[dict[str, str | None]] = []
        self.titles: list[str] = []
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.open.append(tag)
        self.addresses += [v or "" for k, v in attrs if k in ("href", "src", "srcset", "data")]
        self.ids += [v or "" for k, v in attrs if k == "id"]
        if tag == "tr":
            self.cells.append([])
        if tag in ("td", "th"):
            self.cells[-1].append("")
        if tag == "rect" and "rx" in found:
            self.points.append(found)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & set(self.open):
            self.cells[-1][-1] += data
        if self.open[-1:] == ["title"]:
            self.titles.append(data)


def trials() -> list[Record]:
    timed = [
        record(numbered(i, version=VERSION), time, nodes=EVIL, launches=3, default=i == 0)
        for i, time in enumerate(TIMES)
    ]
    fault = record(
        numbered(9, version=VERSION), nodes=EVIL, launches=3, reason="It ended by <SEGV>."
    )
    other = record(numbered(0, version=VERSION), 8.0, site="b", nodes="relu", default=True)
    return [*timed, fault, other]


def reported(folder: Path, found: list[Record]) -> str:
    folder.mkdir(exist_ok=True)
    records.append(folder / "net.tuning.jsonl", found)
    main(["report", str(folder / "net.tuning.jsonl"), "-o", str(folder / "report.html")])
    return (folder / "report.html").read_text(encoding="utf-8")


def test_the_table_says_what_was_gained(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    text = reported(tmp_path, trials())
    assert capsys.readouterr().out == f"{tmp_path / 'report.html'}: 7 trials\n"
    head, first, second = Page(text).cells
    row = dict(zip(head, first, strict=True))
    assert row.pop("nodes") == "<script>alert(1)</script> & \\u202eabc"
    assert row.pop("best plan") == f'"rows", {VERSION}, {{width = 3}}'
    assert row == {
        "kernel": "0123456789abcdef",
        "launches": "3",
        "share": "75.0%",
        "untuned, µs": "8",
        "tuned, µs": "2",
        "ratio": "4.00",
        "trials": "6",
        "faults": "1",
    }
    assert second[:7] == ["relu", "b", "1", "25.0%", "8", "8", "1.00"]
    assert "take <b>14 µs</b> instead of 32 µs: <b>2.29</b> times as fast" in text
    assert "7, 1 of them without a time: 1 crashed" in text
    assert "Of 1 of 2 kernels only one plan was tried" in text


def test_the_headline_says_how_many_other_decisions_changed(tmp_path: Path):
    choices = [
        of_layout("n", "plain", 200.0, default=True),
        of_layout("n", "#nn.layout<[1 by 8]>", 150.0),
        of_form("m", "direct", 200.0, default=True),
        of_form("m", "winograd 2", 199.0),
    ]
    default = record(numbered(0, version=VERSION), 8.0, default=True)
    text = reported(tmp_path, [default, *choices])
    assert "No plan beats the defaults, which take <b>8 µs</b> in an inference." in text
    assert "Of 2 other decisions that were tried in the network, <b>1</b> changed." in text


def test_each_trial_is_a_point_and_faster_ones_are_lower(tmp_path: Path):
    page = Page(reported(tmp_path, trials()))
    heights = [float(point["y"] or "") for point in page.points[: len(TIMES)]]
    order = sorted(range(len(TIMES)), key=lambda i: TIMES[i])
    assert sorted(range(len(TIMES)), key=lambda i: -heights[i]) == order
    places = [float(point["x"] or "") for point in page.points[: len(TIMES)]]
    assert places == sorted(places)
    assert len(page.points) == len(TIMES)  # the kernel of one plan has no chart
    plan = numbered(0, version=VERSION)
    assert f"trial 1, the default\n8 µs, within 1.0%, 0 runs\n{plan}" in page.titles
    # The fault is marked among the trials of its kernel, and among all.
    assert sum("crashed: It ended by <SEGV>." in title for title in page.titles) == 2


def test_the_page_stands_alone_and_names_are_text(tmp_path: Path):
    layout = of_layout("c", "plain", 3.0, nodes=EVIL)
    text = reported(tmp_path, [*trials(), layout, of_form("d", "winograd 2", 3.0, nodes=EVIL)])
    page = Page(text)
    assert "\u202e" not in text
    assert "<script>alert" not in text
    assert "<h3>Other decisions</h3>" in text
    assert page.addresses
    assert {address.removeprefix("#") for address in page.addresses} < set(page.ids)
    assert len(set(page.ids)) == len(page.ids)
    assert not re.search(r"@import|url\(|fetch\(|https?://(?!www\.w3\.org/2000/svg)", text)
    assert reported(tmp_path / "again", trials()) == reported(tmp_path / "once more", trials())


def test_one_trial_or_faults_alone_make_a_page_too(tmp_path: Path):
    for name, found in (("fault", trials()[5:6]), ("one", trials()[:1])):
        page = Page(reported(tmp_path / name, found))
        assert len(page.cells) == 2
    assert "No plan has a time." in (tmp_path / "fault" / "report.html").read_text()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["net.jsonl", "-o", "page.pdf"], "page.pdf: the suffix of a report must be .html"),
        (["net.jsonl", "-o", "page.html"], "net.jsonl: no trials found; run clopt-tune model"),
        (["none.jsonl", "-o", "page.html"], "none.jsonl: cannot read this tuning database: No su"),
    ],
)
def test_mistakes_are_sentences(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    sentence: str,
):
    monkeypatch.chdir(tmp_path)
    Path("net.jsonl").touch()
    with pytest.raises(SystemExit) as left:
        main(["report", *words])
    assert left.value.code == 1
    assert capsys.readouterr().err.startswith(f"clopt-tune: {sentence}")
    assert not Path("page.html").exists()
