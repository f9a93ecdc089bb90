"""Whether a device has CLML, Qualcomm's library `cl_qcom_ml_ops`, and our own in its place."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING

import pyopencl as cl

from ...dialects.clml.facts import NEWEST
from ...errors import CloptError, UnavailableError
from ..clml.library import reference_library
from .loader import share_opencl

if TYPE_CHECKING:
    from .devices import Device

EXTENSION = "cl_qcom_ml_ops"
REFERENCE = "reference"
CLML_LIBRARIES = (REFERENCE,)
"""What stands in for a device's own CLML, by name."""

_QUERY = "clQueryMLInterfaceVersionsQCOM"
_INTS = ctypes.POINTER(ctypes.c_int)
_QUERY_TYPE = ctypes.CFUNCTYPE(
    ctypes.c_int, _INTS, _INTS, ctypes.c_uint, ctypes.POINTER(ctypes.c_uint)
)


def clml_version(device: Device, library: str | None = None) -> int:
    """The newest major version of the interface that the device has, or that `library` has on it.

    CloptError where there is none: it says why, and what to do.
    """
    if library is not None:
        return clml_library_version(library)
    if not lists_clml(device):
        raise UnavailableError(
            f"{device} has no CLML ({EXTENSION}); compile the model with clml=off, or let our "
            f'reference library compute it: clml_library="{REFERENCE}", or with clopt-run '
            f"--clml-library {REFERENCE}."
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
        raise CloptError(f'clml_library is "{REFERENCE}", or absent; it is not "{name}".')
    share_opencl()
    return ctypes.CDLL(str(reference_library()), mode=ctypes.RTLD_GLOBAL)


def _function_of(device: Device) -> int:
    """The address of the device's query, 0 where there is none."""
    opencl = share_opencl()
    find = opencl.clGetExtensionFunctionAddressForPlatform
    find.restype = ctypes.c_void_p
    find.argtypes = (ctypes.c_void_p, ctypes.c_char_p)
    platform: cl.Platform = device.handle.platform
    return find(platform.int_ptr, _QUERY.encode()) or _symbol(opencl)


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
