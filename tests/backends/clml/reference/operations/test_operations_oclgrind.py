"""Kernels of the CLML reference under Oclgrind: no access out of bounds and no race."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from support import processes

LIBRARY = Path("/usr/lib/oclgrind/liboclgrind-rt-icd.so")
TESTS = Path(__file__).parent / "test_operations_everywhere.py"


def test_kernels_are_clean(tmp_path: Path) -> None:
    assert LIBRARY.exists(), "this test needs Debian's package oclgrind"
    log = tmp_path / "log"
    environment = os.environ | {
        "OCL_ICD_VENDORS": str(LIBRARY),
        "OCLGRIND_LOG": str(log),
        "OCLGRIND_DATA_RACES": "1",
        "CLOPT_TEST_RUNTIMES": "Oclgrind",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", TESTS]
    done = processes.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert log.read_text() == ""
