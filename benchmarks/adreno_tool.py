"""Mesa's compiler for Adreno, ir3, in a chroot: it compiles OpenCL C without a device.

The compiler is not part of this repository. A folder with the compiler has a chroot, `root`, with
two files. `/a/env.sh` sets the environment of the build. `/a/adreno_stats.py --child FILE OPTIONS`
builds a file with Mesa's OpenCL for the Adreno in `FD_GPU_ID`. The compiler appends a record for
each kernel to the file in `IR3_STATS_FILE`: `@@BEGIN` and its statistics as JSON, its instructions,
`@@END`.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OPTIONS = "-cl-std=CL1.2"
MISSING = (
    "give --tool (or the environment's ADRENO) the folder of a chroot in which Mesa's ir3 and its "
    "OpenCL, rusticl, are built for freedreno behind the no-op drm-shim, patched to write the "
    "statistics and the instructions of each kernel (benchmarks/adreno_tool.py says in which form)."
)


@dataclass(frozen=True)
class Compiled:
    """A kernel as compiled for the device."""

    statistics: Mapping[str, Any]
    assembly: str

    @property
    def wave(self) -> int:
        """Work-items that run in lockstep."""
        return self.statistics["threadsize_base"] * (1 + self.statistics["double_threadsize"])

    @property
    def threads(self) -> int:
        """Work-items in flight on a core, as limited by registers."""
        return self.statistics["max_waves"] * self.wave

    @property
    def registers(self) -> int:
        """Registers of four floats each."""
        return self.statistics["full"]

    @property
    def spills(self) -> int:
        """Loads and stores of spilled registers."""
        return self.statistics["stp"] + self.statistics["ldp"]


@dataclass(frozen=True)
class Tool:
    """The compiler in a folder."""

    folder: Path

    @classmethod
    def find(cls, folder: Path | None) -> Tool | None:
        """Return the tool in `folder`, or in the folder from the environment; None without one."""
        place = folder or Path(os.environ.get("ADRENO") or "/nonexistent")
        has_tool = (place / "root/a/adreno_stats.py").exists()
        return cls(place.resolve()) if has_tool else None

    def compile(self, source: str, gpu: str) -> dict[str, Compiled]:
        """Compile a source text for one GPU; raise RuntimeError with the compiler's message."""
        root = self.folder / "root"
        with tempfile.TemporaryDirectory(dir=root / "a") as name:
            folder, inside = Path(name), f"/a/{Path(name).name}"
            (folder / "kernels.cl").write_text(source, encoding="utf-8")
            command = (
                f". /a/env.sh; export FD_GPU_ID={gpu} IR3_STATS_FILE={inside}/records; "
                f"exec python3 /a/adreno_stats.py --child {inside}/kernels.cl '{OPTIONS}'"
            )
            done = subprocess.run(
                ["chroot", str(root), "sh", "-c", command],
                capture_output=True,
                text=True,
                check=False,
            )
            path = folder / "records"
            records = path.read_text(encoding="utf-8") if path.exists() else ""
        if done.returncode or not records:
            raise RuntimeError(f"the compiler for Adreno {gpu} failed:\n{done.stderr[-2000:]}")
        return parse_records(records)


def parse_records(text: str) -> dict[str, Compiled]:
    """Return the kernels in a file of records; launches use the last record of a name."""
    kernels: dict[str, Compiled] = {}
    for record in text.split("@@BEGIN ")[1:]:
        head, _, body = record.partition("\n")
        statistics = json.loads(head)
        name = statistics["entry"].removeprefix("__wrapped_")
        kernels[name] = Compiled(statistics, body.partition("@@END")[0])
    return kernels
