"""Generated kernels under Oclgrind: no access out of bounds and no race."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from support import processes

LIBRARY = Path("/usr/lib/oclgrind/liboclgrind-rt-icd.so")
FOLDER = Path(__file__).parent


@pytest.mark.parametrize("target", ["pocl", "nvidia", "adreno-7xx"])
@pytest.mark.by_default(cases=1)
def test_kernels_are_clean(target: str, tmp_path: Path):
    run_clean(tmp_path, "kernels.py", target)


def test_images_are_clean(tmp_path: Path):
    run_clean(tmp_path, "images.py")


def run_clean(tmp_path: Path, script: str, *arguments: str) -> None:
    """Run a script on Oclgrind, which must find nothing to report."""
    assert LIBRARY.exists(), "this test needs Debian's package oclgrind"
    log = tmp_path / "log"
    environment = os.environ | {
        "OCL_ICD_VENDORS": str(LIBRARY),
        "OCLGRIND_LOG": str(log),
        "OCLGRIND_DATA_RACES": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),  # for `support`
    }
    command = [sys.executable, FOLDER / script, *arguments]
    done = processes.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert log.read_text() == ""
