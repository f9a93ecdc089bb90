"""Caches of PoCL and pyopencl, which fail where the user's cache cannot be written."""

# pyopencl offers the variable alone, which it reads when it is imported.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import os
from contextlib import suppress

import pyopencl as cl

from ...files.caches import is_cache_kept, process_folder


def move_foreign_caches() -> None:
    """Call before the process' first OpenCL call; helper processes follow this one."""
    if is_cache_kept():
        return
    os.environ["PYOPENCL_NO_CACHE"] = "true"
    setattr(cl, "_PYOPENCL_NO_CACHE", True)
    with suppress(OSError):
        os.environ.setdefault("POCL_CACHE_DIR", str(process_folder() / "pocl"))
