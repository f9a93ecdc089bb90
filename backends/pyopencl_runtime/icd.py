"""Makes Intel's CPU runtime visible to the OpenCL loader if pip installed it.

The wheel `intel-opencl-rt` installs the runtime into the environment's library folder. Its `.icd`
files name a folder that does not exist, so no OpenCL loader finds it. The loader in pyopencl's
wheel (ocl-icd; Khronos' loader does the same) reads `OCL_ICD_VENDORS`, which replaces the system's
folder. So we create a folder with an entry for Intel's runtime and copies of the system's files.
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
    """Return a value of `VENDORS` with which the loader also finds the wheel's runtime.

    Return None if the wheel is not installed.
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
    except OSError:  # no writable folder: Intel's runtime alone is better than none
        return str(library)
    return str(folder)


def _folder_of(wanted: dict[str, bytes]) -> Path:
    """Return a folder whose name depends on its content, so that environments stay independent."""
    digest = hashlib.sha256(repr(sorted(wanted.items())).encode()).hexdigest()[:16]
    return cache_folder("icd") / digest
