"""A command with a time limit ends with it, whatever its process still does."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from clopt.tools.tune import search
from clopt.tools.tune.__main__ import main
from support import processes

CONV = Path(__file__).parents[2] / "docs" / "conv.onnx"

_BEGIN = """\
import sys, time
from threading import Thread
from clopt.tools.tune.time_limit import process_start, stopped_at
end = time.monotonic() + 0.2
"""


def ended(code: str) -> tuple[int, str]:
    """Run Python code; return its exit status and output."""
    command = [sys.executable, "-c", _BEGIN + code]
    done = processes.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("body", "then", "status", "output"),
    [
        ("time.sleep(600)", "pass", 0, "late\n"),
        ("pass", "Thread(target=time.sleep, args=[600]).start()", 0, ""),
        ("sys.exit(3)", "pass", 3, ""),
    ],
    ids=["body hangs", "exit hangs", "error"],
)
def test_a_process_is_stopped_after_its_limit(body: str, then: str, status: int, output: str):
    code = f"with stopped_at(end, lambda: print('late')):\n    {body}\n{then}\n"
    assert ended(code) == (status, output)


def test_a_limit_counts_from_the_start_of_the_process():
    start = time.monotonic()
    _, printed = ended("time.sleep(0.5)\nprint(time.monotonic() - process_start())")
    # The system rounds to hundredths of a second.
    assert 0.5 <= float(printed) <= time.monotonic() - start + 0.02


@pytest.fixture
def no_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail the test if processes for trials start."""

    def start(options: object) -> None:
        pytest.fail("processes started")

    monkeypatch.setattr(search, "machines_of", start)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(None, "No such file or directory"), (b"hello", "is not an ONNX model or is damaged")],
)
@pytest.mark.usefixtures("no_machines")
def test_a_bad_model_is_told_before_processes_start(
    content: bytes | None, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "model.onnx"
    if content is not None:
        path.write_bytes(content)
    for words in ([str(path)], ["--seed", "1", str(path)]):
        assert sentence in said(words, capsys)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--dim batch=1 --target adreno-741", 'There is no target "adreno-741"; did you mean'),
        ("--dim batch=1 --target pocl texure=on", "texure"),
        ("--dim batch=1 --precision f8", "precision must be one of f32, f16-storage, f16, not"),
        ("--dim bach=1", "has no dimension 'bach' to bind; it has: batch."),
        ("--trials 1", "(axis 0 of 'image') is not fixed; bind with --dim batch=1\n"),
    ],
)
@pytest.mark.usefixtures("no_machines")
def test_a_wrong_option_is_told_before_processes_start(
    words: str, sentence: str, capsys: pytest.CaptureFixture[str]
):
    assert sentence in said([str(CONV), *words.split()], capsys)


@pytest.mark.usefixtures("no_machines")
def test_a_missing_folder_is_told_before_processes_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    output = tmp_path / "absent" / "net.jsonl"
    words = [str(CONV), "--dim", "batch=1", "-o", str(output)]
    assert f"there is no folder {output.parent}; create it." in said(words, capsys)
    assert not output.parent.exists()


def said(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return what the command says, which must fail."""
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 1
    return capsys.readouterr().err
