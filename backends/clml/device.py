"""Detection of CLML, Qualcomm's library `cl_qcom_ml_ops`, and of our reference library."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import ClassVar

from ...dialects.clml.facts import NEWEST, CLMLFacts
from ...errors import CloptError, UnavailableError
from ...machine.facts import Fact
from ...machine.target import Target
from ..pyopencl_runtime.devices import Device
from ..pyopencl_runtime.library_runtime import LibraryRuntime, Sdk
from ..pyopencl_runtime.loader import share_opencl
from .library import reference_library
from .names import CLML_LIBRARIES, REFERENCE

EXTENSION = "cl_qcom_ml_ops"
_QUERY = "clQueryMLInterfaceVersionsQCOM"
_INTS = ctypes.POINTER(ctypes.c_int)
_QUERY_TYPE = ctypes.CFUNCTYPE(
    ctypes.c_int, _INTS, _INTS, ctypes.c_uint, ctypes.POINTER(ctypes.c_uint)
)


_HEADER = "CL/cl_qcom_ml_ops.h"


class CLMLRuntime(LibraryRuntime):
    """CLML on devices of this machine."""

    stand_ins: ClassVar[tuple[str, ...]] = CLML_LIBRARIES

    def facts(self, device: Device) -> Mapping[str, Fact]:
        """Return the version; 0 if there is no CLML, or if its library rejects this process."""
        with suppress(CloptError):
            return {"clml_version": clml_version(device) if lists_clml(device) else 0}
        return {"clml_version": 0}

    def stand_in_facts(self, name: str, target: Target) -> Mapping[str, Fact]:
        if CLMLFacts.of(target).clml_version:
            return {}
        return {"clml_version": clml_library_version(name)}

    def open(self, device: Device, stand_in: str | None) -> Sdk | None:
        """Prepare CLML; the environment variable CLML_INCLUDE_DIR may name the folder of an SDK."""
        clml_version(device, stand_in)
        folder = os.environ.get("CLML_INCLUDE_DIR") if stand_in is None else None
        return None if folder is None else sdk_at(folder)


def sdk_at(folder: str) -> Sdk:
    """Return the CLML SDK in a folder; raise CloptError if it has no header."""
    if not (Path(folder) / _HEADER).is_file():
        raise CloptError(
            f"CLML_INCLUDE_DIR names {folder}, which has no {_HEADER}; set it to the folder of the "
            "CLML SDK that contains this path."
        )
    return Sdk(folder, _HEADER)


def clml_version(device: Device, library: str | None = None) -> int:
    """Return the newest major version of the interface on the device, or in `library`.

    Raises UnavailableError, with the reason and the remedy, if there is none.
    """
    if library is not None:
        return clml_library_version(library)
    if not lists_clml(device):
        raise UnavailableError(
            f"{device} has no CLML ({EXTENSION}); compile the model with clml=off, or let our "
            f'reference library compute it: accelerators={{"clml": "{REFERENCE}"}}, or with '
            f"clopt-run --accelerator clml={REFERENCE}."
        )
    return _newest(_function_of(device), f"CLML of {device}")


def clml_library_version(name: str) -> int:
    """Return the newest major version of the interface in the library `name`."""
    return _newest(_symbol(_load(name)), f"CLML's {name} library")


def lists_clml(device: Device) -> bool:
    """Return whether the device reports CLML; its library may still reject this process."""
    return EXTENSION in device.handle.extensions.split()


@cache
def _load(name: str) -> ctypes.CDLL:
    """Build and load the library `name` for all C code of this process."""
    if name not in CLML_LIBRARIES:
        raise CloptError(f'The only library for CLML is "{REFERENCE}", not "{name}".')
    share_opencl()
    return ctypes.CDLL(str(reference_library()), mode=ctypes.RTLD_GLOBAL)


def _function_of(device: Device) -> int:
    """Return the address of the device's query function, or 0."""
    opencl = share_opencl()
    find = opencl.clGetExtensionFunctionAddressForPlatform
    find.restype = ctypes.c_void_p
    find.argtypes = (ctypes.c_void_p, ctypes.c_char_p)
    return find(device.handle.platform.int_ptr, _QUERY.encode()) or _symbol(opencl)


def _symbol(library: ctypes.CDLL) -> int:
    try:
        return ctypes.cast(getattr(library, _QUERY), ctypes.c_void_p).value or 0
    except AttributeError:
        return 0


def _newest(address: int, what: str) -> int:
    """Return the newest version that the query function at `address` reports."""
    query, count = _QUERY_TYPE(address), ctypes.c_uint(0)
    status = query(None, None, 0, ctypes.byref(count)) if address else 0
    majors, minors = (ctypes.c_int * count.value)(), (ctypes.c_int * count.value)()
    if count.value and not status:
        status = query(majors, minors, count, None)
    if status:
        raise UnavailableError(
            f"{what} does not work in this process ({_QUERY} returns the error {status}): phones "
            "deny CLML to applications; run from a shell of the device, or compile the model "
            "with clml=off."
        )
    if not count.value:
        raise UnavailableError(f"{what} has no interface to call; compile the model with clml=off.")
    return min(max(majors), NEWEST)
