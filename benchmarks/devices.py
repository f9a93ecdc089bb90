"""Select the OpenCL runtime of a rival process by environment variables before it starts."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path


def intel_library() -> Path | None:
    """Return the OpenCL driver of the installed `intel-opencl-rt` package."""
    path = Path(sysconfig.get_path("data")) / "lib" / "libintelocl.so"
    return path if path.exists() else None


def rival_environment(rival: str, device: str, cache: Path | None = None) -> dict[str, str]:
    """Return environment variables that make a rival use the device, with its own caches."""
    env: dict[str, str] = {}
    if rival == "tinygrad":
        env["DEV"] = "CL"
        library = intel_library()
        if device == "intel" and library is not None:
            env["OCL_ICD_VENDORS"] = str(library)
    if cache is not None:
        env["POCL_CACHE_DIR"] = str(cache / "pocl")
        env["XDG_CACHE_HOME"] = str(cache / "xdg")
        for value in (env["POCL_CACHE_DIR"], env["XDG_CACHE_HOME"]):
            Path(value).mkdir(parents=True, exist_ok=True)
    return env


def select_rival_device(rival: str, device: str) -> None:
    """Apply `rival_environment` to this process, so that its children inherit it."""
    os.environ.update(rival_environment(rival, device))
