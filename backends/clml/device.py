"""Whether a device has CLML, Qualcomm's library `cl_qcom_ml_ops`, and our own in its place."""

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
        """The version, 0 also where the device lists CLML and its library refuses."""
        with suppress(CloptError):
            return {"clml_version": clml_version(device) if lists_clml(device) else 0}
        return {"clml_version": 0}

    def stand_in_facts(self, name: str, target: Target) -> Mapping[str, Fact]:
        if CLMLFacts.of(target).clml_version:
            return {}
        return {"clml_version": clml_library_version(name)}

    def open(self, device: Device, stand_in: str | None) -> Sdk | None:
        """The environment variable CLML_INCLUDE_DIR names the folder of a device's SDK."""
        clml_version(device, stand_in)
        folder = os.environ.get("CLML_INCLUDE_DIR") if stand_in is None else None
        return None if folder is None else sdk_at(folder)


def sdk_at(folder: str) -> Sdk:
    """The SDK of CLML in a folder; CloptError where there is none."""
    if not (Path(folder) / _HEADER).is_file():
        raise CloptError(
            f"CLML_INCLUDE_DIR names {folder}, which has no {_HEADER}; name the folder above "
            "it, in the SDK of CLML."
        )
    return Sdk(folder, _HEADER)


def clml_version(device: Device, library: str | None = None) -> int:
    """The newest major version of the interface that the device has, or that `library` has on it.

    CloptError where there is none: it says why, and what to do.
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
    """The newest major version of the interface that the library `name` has."""
    return _newest(_symbol(_load(name)), f"CLML's {name} library")


def lists_clml(device: Device) -> bool:
    """Whether the device says that it has CLML; its library may still refuse."""
    return EXTENSION in device.handle.extensions.split()


@cache
def _load(name: str) -> ctypes.CDLL:
    """Build the library `name` for all C code of this process to find; CloptError if that fails."""
    if name not in CLML_LIBRARIES:
        raise CloptError(f'a library of CLML is "{REFERENCE}", or absent; it is not "{name}".')
    share_opencl()
    return ctypes.CDLL(str(reference_library()), mode=ctypes.RTLD_GLOBAL)


def _function_of(device: Device) -> int:
    """The address of the device's query, 0 where there is none."""
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
    """The newest version that the query at `address` tells."""
    query, count = _QUERY_TYPE(address), ctypes.c_uint(0)
    status = query(None, None, 0, ctypes.byref(count)) if address else 0
    majors, minors = (ctypes.c_int * count.value)(), (ctypes.c_int * count.value)()
    if count.value and not status:
        status = query(majors, minors, count, None)
    if status:
        raise UnavailableError(
            f"{what} does not serve this process ({_QUERY} gives the error {status}), as phones "
            "refuse CLML to applications; run from a shell of the device, or compile the model "
            "with clml=off."
        )
    if not count.value:
        raise UnavailableError(f"{what} has no interface to call; compile the model with clml=off.")
    return min(max(majors), NEWEST)
