"""A test that hangs ends, with a sentence, and the tests after it run."""

from __future__ import annotations

import sys
from pathlib import Path

from support import processes

HANGS = """
import ctypes, time
import pytest

@pytest.mark.parametrize("number", range(4))
def test_a_driver(number):
    if number == 1:
        ctypes.PyDLL(None).sleep(1000)  # and no other thread of Python gets to run
"""


def test_a_call_that_never_returns_fails_its_test_alone(tmp_path: Path):
    test = tmp_path / "test_hangs.py"
    test.write_text(HANGS)
    settings = Path(__file__).parents[1] / "pyproject.toml"
    options = ["-c", settings, "--rootdir", tmp_path, "-o", "faulthandler_timeout=1"]
    shared = ["-p", "no:cacheprovider", "-n", "2", "--dist", "worksteal"]
    command = [sys.executable, "-m", "pytest", *options, *shared, test]
    done = processes.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1
    assert "crashed while running 'test_hangs.py::test_a_driver[1]'" in done.stdout
    assert "1 failed, 3 passed" in done.stdout
    assert "in test_a_driver" in done.stderr, "the stack of the thread that hangs"
