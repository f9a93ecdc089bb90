"""`--report` of clopt-compile and clopt-run."""

from __future__ import annotations

from pathlib import Path

import pytest

from clopt.tools import compile, run
from support.reported_models import Page


def test_compiling_writes_a_page_that_compiling_again_replaces(model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    words = [str(model), "--target", "adreno-740", "-o", str(folder)]
    for _ in range(2):
        compile.main([*words, "--report", str(folder / "report.html")])
        page = Page((folder / "report.html").read_text(encoding="utf-8"))
        assert page.all("h1") == ["add for adreno-740"]
        assert "time" not in page.values("id")


def test_running_adds_the_times(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], device: str
) -> None:
    words = [str(model), "--device", device, "--time", "2"]
    run.main([*words, "--report", str(tmp_path / "report.html")])
    said = capsys.readouterr()
    assert "alternatives" not in said.err
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "time" in page.values("id")
    assert any("medians of 2 runs" in text for text in page.all("p"))
    assert "relu" in page.table("nodes")[-1][0]


def test_reasons_are_on_the_page_and_on_stderr_if_both_are_asked_for(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--target", "adreno-740 texture=prefer", "-o", str(tmp_path / "out"), "--explain"]
    compile.main([str(model), *words])
    alone = capsys.readouterr().err
    compile.main([str(model), *words, "--report", str(tmp_path / "report.html")])
    assert capsys.readouterr().err == alone
    assert "layout: " in alone
    assert "texels " in alone


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--report", "report.pdf"], "report.pdf: the suffix of a report must be .html"),
        (["--report", "no/report.html"], "no/report.html: cannot write here: No such file or "),
    ],
)
def test_mistakes_are_sentences(
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        compile.main([str(model), "--target", "pocl", "-o", "out", *words])
    assert left.value.code == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"clopt-compile: {sentence}")


def test_a_check_has_no_report(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        run.main([str(model), "--check", "--report", "report.html"])
    assert left.value.code == 2
    assert "--report needs a run, and excludes --check" in capsys.readouterr().err
