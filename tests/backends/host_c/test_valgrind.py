"""The check of memory by valgrind finds what is wrong, in kernels that PoCL compiled before too."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from clopt.backends.pyopencl_runtime import list_devices
from support import processes
from support.c.compilers import compilers, faults, for_valgrind

POCL = "Portable Computing Language"


@pytest.mark.long  # it tests the check, which others use in every run
@pytest.mark.skipif(not shutil.which("valgrind"), reason="looks at memory: install valgrind")
def test_faults_are_found(tmp_path: Path) -> None:
    if POCL not in {device.platform for device in list_devices()}:
        pytest.skip("runs on PoCL: install it")
    source, program = Path(__file__).parent / "planted_faults.c", tmp_path / "planted"
    command = [compilers()[0], "-std=c99", "-g", "-w", source, "-o", program, "-lOpenCL"]
    processes.run(command, check=True)
    log = tmp_path / "log"
    checks = ["valgrind", "--leak-check=full", "--num-callers=8", f"--log-file={log}"]
    environment = os.environ | for_valgrind(tmp_path)
    for before in ([], checks):
        processes.run([*before, program, POCL], check=True, env=environment, capture_output=True)
    found = "\n".join(faults(log, r"\(planted_faults\.c:"))
    kinds = re.findall("Invalid write|uninitialised|free'd|definitely lost|_pocl_kernel_put", found)
    assert kinds == [
        *("Invalid write", "_pocl_kernel_put"),
        "uninitialised",
        "Invalid write",
        *("Invalid write", "free'd"),
        "definitely lost",
    ]
