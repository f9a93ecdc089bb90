"""The core under Oclgrind: no access out of bounds and no race."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from support import processes

LIBRARY = Path("/usr/lib/oclgrind/liboclgrind-rt-icd.so")
SCRIPT = Path(__file__).parent / "streams.py"


def test_core_is_clean(tmp_path: Path):
    assert LIBRARY.exists(), "this test needs Debian's package oclgrind"
    log = tmp_path / "log"
    environment = os.environ | {
        "OCL_ICD_VENDORS": str(LIBRARY),
        "OCLGRIND_LOG": str(log),
        "OCLGRIND_DATA_RACES": "1",
        # Optimized, the core switches on integers of 3 bits, which Oclgrind 21.10 computes wrongly.
        "OCLGRIND_BUILD_OPTIONS": "-cl-opt-disable",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),  # for `support`
    }
    command = [sys.executable, SCRIPT]
    done = processes.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert log.read_text() == ""
