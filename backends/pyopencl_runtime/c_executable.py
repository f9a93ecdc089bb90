"""A queue program on a device, run by its C package in this process."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pyopencl as cl
from xdsl.dialects.builtin import ModuleOp

from ...accelerators import accelerators
from ...dialects.cl import ArenaOp, ProgramOp, parts
from ...dialects.cl.ops import byte_count
from ...errors import CloptError
from ...weights import Weights
from ..offload import library_name, source_of
from ..programs import program_of
from .arena_lock import ArenaLock
from .arrays import DeviceMemory, PortMemory
from .bindings import arena_memories
from .build import device_facts, keeps_own_binaries
from .c_package import NAME, CPackage
from .cache import BinaryCache
from .devices import Device
from .image_views import ImageViews
from .library_runtime import LibraryRuntime, Sdk
from .memory import BufferMemory
from .place import choose_place
from .plan import interface_of
from .requirements import check_requirements
from .runnable import Runnable, kernel_cache
from .shared_arenas import SharedArenas
from .storage import views_of
from .timing import Timing

# Indexed by C's `clopt_image_views`.
_IMAGE_VIEWS = ("", ImageViews.Buffer.value, ImageViews.Object.value)


class CExecutable(Runnable):
    """A planned program as the C library that `CompiledModel.save_c` writes, compiled and loaded.

    It computes the same results as `Executable`. It needs a C compiler and OpenCL headers once per
    model: libraries are kept in the user's cache.
    """

    def __init__(
        self,
        module: ModuleOp,
        weights: Weights,
        device: str | int | Device | None = None,
        context: cl.Context | None = None,
        queue: cl.CommandQueue | None = None,
        *,
        source: str | None = None,
        cache_folder: Path | None = None,
        use_cache: bool = True,
        arena: Sequence[DeviceMemory] | SharedArenas | None = None,
        library_folder: Path | None = None,
        stand_ins: Mapping[str, str] | None = None,
    ):
        """Take the arguments of `Executable`, except for the following.

        `library_folder` holds the compiled libraries (default: the user's cache). If the program
        needs an accelerator's library, it is the device's, or the stand-in that `stand_ins` names
        for that accelerator. Raises CloptError if neither exists, and without a C compiler.
        """
        from ..host_c import package_files  # most models need no C

        program = program_of(module)
        place = choose_place(device, context, queue)
        super().__init__(interface_of(program), place)
        self._program = program
        self.source = source_of(module) if source is None else source
        check_requirements(self.device, self.source)
        sdk = self._open_library(library_name(program), stand_ins or {})
        files = package_files(module, self.source, weights, NAME)
        package = CPackage(files, library_folder, sdk)
        memories = self._memories(program, arena)
        self.arena = tuple(memory.buffer for memory in memories)
        cache = kernel_cache(cache_folder, use_cache)
        binaries = _binaries_path(cache, self.device, files)
        self._model = package.create(
            (self.context, self.device.handle, self.queue),
            files["weights.bin"],
            self.arena,
            binaries,
        )
        self.built_from_cache = self._model.used_binaries
        if binaries is not None and not self.built_from_cache:
            self._keep_binaries(binaries)
            cache.trim()
        self.device_bytes = self._model.device_bytes
        self.offload = self._model.offload
        kinds = {view.image.kind.value for view in views_of(parts(program))}
        self.image_views = dict.fromkeys(sorted(kinds), _IMAGE_VIEWS[self._model.image_views])
        self._arena_lock = ArenaLock(memory.root for memory in memories)

    @property
    def program(self) -> ProgramOp:
        return self._program

    def _timings(self, buffers: tuple[PortMemory, ...], runs: int) -> list[list[Timing]]:
        return [self._model.profile() for _ in range(runs)]

    def _open_library(self, name: str, stand_ins: Mapping[str, str]) -> Sdk | None:
        """Open the accelerator's library and return its headers; raise CloptError without it."""
        if not name:
            return None
        runtime: LibraryRuntime = accelerators()[name].load("runtime")()
        return runtime.open(self.device, stand_ins.get(name))

    def _memories(
        self, program: ProgramOp, given: Sequence[DeviceMemory] | SharedArenas | None
    ) -> list[BufferMemory]:
        """Return the arenas of the program."""
        ops = program.body.block.ops
        sizes = [byte_count(op.result.type) for op in ops if isinstance(op, ArenaOp)]
        self.arena_bytes = tuple(sizes)
        return arena_memories(sizes, self._images, given)

    def _keep_binaries(self, path: Path) -> None:
        """Save the built kernels; a failure only costs build time at the next start."""
        with suppress(OSError, CloptError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=path.parent, prefix=".") as scratch:
                file = Path(scratch, path.name)
                self._model.save_binaries(file)
                os.replace(file, path)

    def _enqueue(self, queue: cl.CommandQueue, buffers: tuple[PortMemory, ...]) -> None:
        self._model.set_queue(queue)
        if buffers is not self._bound:
            old, self._bound = self._bound, ()
            for index, buffer in enumerate(buffers):
                if not old or buffer is not old[index]:
                    self._bind(index, buffer)
            self._bound = buffers
        self._model.enqueue()

    def _bind(self, index: int, memory: PortMemory) -> None:
        if isinstance(memory, cl.Image):
            self._model.bind_image(index, memory)
        else:
            self._model.bind(index, memory)


def _binaries_path(cache: BinaryCache, device: Device, files: dict[str, bytes]) -> Path | None:
    """Return the cache file of a package's built kernels; C checks that it fits the model."""
    if cache.folder is None or keeps_own_binaries(device):
        return None
    digest = hashlib.sha256("\0".join(device_facts(device)).encode())
    for path in (f"{NAME}.c", f"{NAME}_kernels.c"):
        digest.update(files[path])
    return cache.folder / f"{digest.hexdigest()}.bin"
