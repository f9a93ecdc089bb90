"""Makes Intel's CPU runtime visible when pip installed it beside us.

The wheel `intel-opencl-rt` puts the runtime into the environment's library folder and leaves it
there: its own `.icd` files name a folder that does not exist, so no OpenCL loader finds it. The
loader pyopencl ships (ocl-icd, like Khronos' own) reads `OCL_ICD_VENDORS`; a folder named there
replaces the system's. So the folder we make holds Intel's runtime and copies of the system's files.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from ...files.caches import cache_folder, make_private
from ...files.writing import write_atomically

VENDORS = "OCL_ICD_VENDORS"
"""The variable that names the folder of `.icd` files."""
_SYSTEM = Path("/etc/OpenCL/vendors")


def vendors_with_pip() -> str | None:
    """Return the value of `VENDORS` with which the loader finds the wheel's runtime, too.

    None where the wheel is absent.
    """
    library = Path(sys.prefix) / "lib" / "libintelocl.so"
    if not library.exists():
        return None
    wanted = {"clopt-intel.icd": f"{library}\n".encode()}
    if _SYSTEM.is_dir():
        wanted |= {file.name: file.read_bytes() for file in sorted(_SYSTEM.glob("*.icd"))}
    try:
        folder = _folder_of(wanted)
        if not make_private(folder):
            raise OSError
        for name, content in wanted.items():
            if not (folder / name).exists() or (folder / name).read_bytes() != content:
                write_atomically(folder / name, content)
    except OSError:  # no folder to write to at all: Intel's runtime alone is better than none
        return str(library)
    return str(folder)


def _folder_of(wanted: dict[str, bytes]) -> Path:
    """A folder named by its content, so that environments do not disturb each other."""
    digest = hashlib.sha256(repr(sorted(wanted.items())).encode()).hexdigest()[:16]
    return cache_folder("icd") / digest
