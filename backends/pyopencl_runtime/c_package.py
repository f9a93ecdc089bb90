"""A compiled model's C package in this process, called through ctypes."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import pyopencl as cl

from ...errors import CloptError, UnavailableError
from ...files.resources import read_text
from ..clml.library import Sources, build_library
from .library_runtime import Sdk
from .loader import share_opencl
from .timing import Timing

NAME = "model"
"""Name of the package, with which its functions begin."""

_BRIDGE = "c_bridge.c"
_MESSAGE_BYTES = 4096

_ERRORS: Mapping[bytes, type[Exception]] = {
    b"CLOPT_BUILD": RuntimeError,  # a kernel that the device refuses is a bug of clopt
    b"CLOPT_DEVICE": UnavailableError,
    b"CLOPT_OPENCL": UnavailableError,
}

_Handle = ctypes.c_void_p
_Size = ctypes.c_size_t
_Text = ctypes.c_char_p

_FUNCTIONS = {
    "clopt_bridge_create": (
        *(_Handle, _Handle, _Handle, _Text, _Size, ctypes.POINTER(_Handle), _Size, _Text),
        *(ctypes.POINTER(_Handle), _Text, _Size),
    ),
    "clopt_bridge_offload": (_Handle, ctypes.POINTER(ctypes.c_uint64)),
    "clopt_destroy": (_Handle,),
    "clopt_set_queue": (_Handle, _Handle),
    "clopt_bind_buffer": (_Handle, _Size, _Handle),
    "clopt_bind_image": (_Handle, _Size, _Handle),
    "clopt_enqueue": (_Handle, _Handle),
    "clopt_command_count": (_Handle,),
    "clopt_profile": (_Handle, _Handle, _Size),
    "clopt_save_binaries": (_Handle, _Text),
    "clopt_model_image_views": (_Handle,),
    "clopt_model_used_binaries": (_Handle,),
    "clopt_model_device_bytes": (_Handle,),
    "clopt_message": (_Handle,),
    "clopt_status_name": (ctypes.c_int,),
}
_RESULTS = {
    "clopt_destroy": None,
    "clopt_command_count": _Size,
    "clopt_model_device_bytes": _Size,
    "clopt_message": _Text,
    "clopt_status_name": _Text,
}


@dataclass(frozen=True)
class Offload:
    """The part of a model that a vendor's library computes, as in C's `clopt_offload_info`."""

    major: int
    minor: int
    """The version of the library's interface in use."""
    operations: int
    tensors: int
    """Tensors that the operations read and write, excluding constants."""
    larger_tensors: int
    """Tensors that need more bytes than were planned and therefore lie outside of the arena."""
    larger_bytes: int
    """Total bytes of the larger tensors."""
    constant_bytes: int
    """Bytes of the constants in the layout of the device."""


class _CTiming(ctypes.Structure):
    """C's `clopt_timing`."""

    _fields_ = (
        ("kind", _Text),
        ("name", _Text),
        ("start", ctypes.c_uint64),
        ("nanoseconds", ctypes.c_uint64),
    )


class CPackage:
    """The compiled and loaded library of a package."""

    def __init__(
        self,
        files: Mapping[str, bytes],
        folder: Path | None = None,
        sdk: Sdk | None = None,
    ):
        """Compile the files that `package_files` wrote for `NAME`, or load them from the cache.

        `sdk` holds the header of a device's own library and replaces the header of ours in the
        package. Raises CloptError without a C compiler or OpenCL headers.
        """
        sources = {path: text for path, text in files.items() if _is_source(path)}
        if sdk is not None:
            sources = {path: t for path, t in sources.items() if not path.endswith(sdk.header)}
        sources[_BRIDGE] = read_text(__name__, _BRIDGE).encode()
        include = (".", *sorted({path.split("/")[0] for path in sources if "/" in path}))
        system = () if sdk is None else (sdk.folder,)
        share_opencl()
        self.path = build_library(Sources(sources, include, system), folder)
        self._library = ctypes.CDLL(str(self.path))
        for name, arguments in _FUNCTIONS.items():
            function = getattr(self._library, name)  # [name] would create a new object each time
            function.argtypes = arguments
            function.restype = _RESULTS.get(name, ctypes.c_int)

    def create(
        self,
        place: tuple[cl.Context, cl.Device, cl.CommandQueue],
        weights: bytes,
        arenas: Sequence[cl.Buffer],
        binaries: Path | None,
    ) -> CModel:
        """Create a model on a queue.

        `place` is its context, device and queue, `weights` the contents of its weights file, and
        `arenas` the buffers for intermediate results.
        """
        model, message = _Handle(), ctypes.create_string_buffer(_MESSAGE_BYTES)
        status = self._library.clopt_bridge_create(
            *(handle.int_ptr for handle in place),
            weights,
            len(weights),
            (_Handle * len(arenas))(*(buffer.int_ptr for buffer in arenas)),
            len(arenas),
            None if binaries is None else bytes(binaries),
            ctypes.byref(model),
            message,
            len(message),
        )
        self._check(status, message.value)
        return CModel(self._library, model)

    def _check(self, status: int, message: bytes) -> None:
        _check(self._library, status, message)


class CModel:
    """A model that lives in C; it is destroyed together with this object."""

    def __init__(self, library: ctypes.CDLL, handle: ctypes.c_void_p):
        self._library = library
        self._handle = handle
        weakref.finalize(self, library.clopt_destroy, handle)

    @property
    def image_views(self) -> int:
        """The model's `clopt_image_views` value."""
        return self._library.clopt_model_image_views(self._handle)

    @property
    def used_binaries(self) -> bool:
        """Whether no kernel was compiled."""
        return bool(self._library.clopt_model_used_binaries(self._handle))

    @property
    def device_bytes(self) -> int:
        """Bytes of arenas, weights, and buffers and images outside of arenas."""
        return self._library.clopt_model_device_bytes(self._handle)

    @property
    def offload(self) -> Offload | None:
        """The part that a library computes; None if our kernels compute everything."""
        figures = (ctypes.c_uint64 * len(fields(Offload)))()
        has = self._library.clopt_bridge_offload(self._handle, figures)
        return Offload(*figures) if has else None

    def set_queue(self, queue: cl.CommandQueue) -> None:
        """Enqueue later inferences on this queue."""
        self._call("clopt_set_queue", queue.int_ptr)

    def bind(self, index: int, buffer: cl.Buffer) -> None:
        """Let later inferences read or write this buffer as tensor `index`."""
        self._call("clopt_bind_buffer", index, buffer.int_ptr)

    def bind_image(self, index: int, image: cl.Image) -> None:
        """Let later inferences read or write this image as tensor `index`."""
        self._call("clopt_bind_image", index, image.int_ptr)

    def enqueue(self) -> None:
        """Put one inference on the queue."""
        self._call("clopt_enqueue", None)

    def profile(self) -> list[Timing]:
        """Run one inference and return when each of its commands ran."""
        count = self._library.clopt_command_count(self._handle)
        timings = (_CTiming * count)()
        self._call("clopt_profile", timings, count)
        return [Timing(t.start, t.nanoseconds) for t in timings]

    def save_binaries(self, path: Path) -> None:
        """Write the built kernels to a file for `CPackage.create`."""
        self._call("clopt_save_binaries", bytes(path))

    def _call(self, name: str, *arguments: object) -> None:
        status = getattr(self._library, name)(self._handle, *arguments)
        if status:
            _check(self._library, status, self._library.clopt_message(self._handle))


def _check(library: ctypes.CDLL, status: int, message: bytes) -> None:
    """Raise the error of a status, if it is one."""
    if status:
        text = message.decode(errors="replace")
        raise _ERRORS.get(library.clopt_status_name(status), CloptError)(text)


def _is_source(path: str) -> bool:
    return path.endswith((".c", ".h")) and path != "main.c"
