"""Tables fit a narrow terminal, and are plain text in a pipe."""

from __future__ import annotations

import pytest

from clopt.tools.tables import cut_text, table, terminal


def printed(capsys: pytest.CaptureFixture[str], tables: int = 1) -> list[str]:
    console = terminal()
    for _ in range(tables):
        rows = table("kernel", "us", "nodes", cut=("nodes",))
        rows.add_row("@reshape_transposed_12", "123.45", cut_text(30 * "a node, "))
        rows.add_row("@conv", "1", cut_text("short"))
        console.print(rows)
    return capsys.readouterr().out.splitlines()


def test_a_pipe_gets_no_spaces_at_the_ends_and_no_empty_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = printed(capsys)
    assert len(lines) == 4
    assert [line for line in lines if line != line.rstrip() or not line] == []
    assert len(lines[2]) > 150
    assert lines[3].split() == ["@conv", "1", "short"]
    assert printed(capsys, 2) == [*lines, "", *lines]


def test_columns_are_respected_and_only_long_texts_cut(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "80")
    lines = printed(capsys)
    assert len(lines) == 4
    assert max(map(len, lines)) == 80
    assert lines[2].split()[:2] == ["@reshape_transposed_12", "123.45"]
    assert lines[2].endswith("…")
