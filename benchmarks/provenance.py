"""The line of a result file that records the origin of its figures."""

from __future__ import annotations

import datetime
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def measured(device: str | None = None) -> str:
    """Return `Measured on MACHINE, DATE, at commit COMMIT:` and the command, for a file's head.

    `device` is the device that computed, if it is not the processor.
    """
    command = " ".join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]])
    machine = device or processor()
    today = datetime.date.today().isoformat()
    return f"Measured on {machine}, {today}, at commit {commit()}: `{command}`"


def processor() -> str:
    """Return text such as `2 cores, AMD EPYC, x86_64`, with the model if Linux reports it."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    model = re.search(r"^model name\s*: (.+)$", text, re.M)
    name = [model[1].strip()] if model else []
    return ", ".join([f"{os.cpu_count()} cores", *name, platform.machine()])


def commit() -> str:
    """Return the current commit, with `-dirty` if code in the working tree differs from it."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(ROOT), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    changed = git("status", "--porcelain", "--", ".", ":!benchmarks/results", ":!docs")
    return git("rev-parse", "--short", "HEAD") + ("-dirty" if changed else "")
