"""A queue program on a device: built, bound and uploaded once, then enqueued many times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pyopencl as cl
from xdsl.dialects.builtin import ModuleOp

from ...dialects.cl.kernels import Kernel, kernels_of
from ...dialects.cl.program import ProgramOp
from ...dialects.cl.range_attr import range_of
from ...errors import CloptError
from ...weights import Weights
from ..offload import needs_library, source_of, with_launches
from ..programs import program_of
from .arena_lock import ArenaLock
from .arrays import DeviceMemory
from .build import build_kernels
from .compiler import given_program
from .devices import Device
from .image_views import ImageViews
from .launched_program import LaunchedProgram
from .place import choose_place
from .plan import LaunchResources, interface_of, make_plan
from .requirements import check_requirements
from .runnable import kernel_cache
from .shared_arenas import SharedArenas
from .storage import StorageOptions, make_storage


class Executable(LaunchedProgram):
    """A program that Python enqueues command by command.

    The constructor builds the kernels, uploads the constants and sets the kernels' arguments.
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
        image_views: ImageViews | None = None,
    ):
        """Set up `module` on the caller's `context` and `queue`, or on `device`.

        `source` is the OpenCL C of the kernels if `module` only declares them. Compiled kernels are
        kept in `cache_folder` (default: the user's cache) unless `use_cache` is false.

        `arena` are buffers of at least `arena_bytes` for the intermediate results; by default the
        program allocates its own. Several programs on one queue may share them. `image_views`
        selects how images are put into planned memory; by default it is the best way that works on
        the device.
        """
        program = program_of(module)
        if needs_library(program):
            raise CloptError(
                f"@{program.sym_name.data} has commands that need a C library, but this executable "
                "only runs kernels; create one with clopt.compile or clopt.load."
            )
        super().__init__(interface_of(program), choose_place(device, context, queue))
        self._program = program
        self.source = source_of(module) if source is None else source
        check_requirements(self.device, self.source)
        module = with_launches(module, weights)
        launched, kernels = program_of(module), kernels_of(module)
        cache = kernel_cache(cache_folder, use_cache)
        ours = [kernel for kernel in kernels.values() if not kernel.program]
        built = build_kernels(self.context, self.device, self.source, _functions(ours), cache, ours)
        keys = {kernel.program for kernel in kernels.values() if kernel.program}
        binaries = {key: self._load(weights, key) for key in keys}
        self.built_from_cache = built.from_cache
        options = StorageOptions(arena, image_views)
        storage = make_storage(launched, weights, self._images, cache, options)
        self.arena_bytes = storage.arena_bytes
        self.arena = tuple(memory.buffer for memory in storage.arenas)
        self.image_views = {kind.value: way.value for kind, way in storage.image_views.items()}
        self.device_bytes = storage.device_bytes
        self._plan = make_plan(
            launched,
            kernels,
            storage,
            LaunchResources(self._images, built.programs, binaries, weights),
        )
        self._arena_lock = ArenaLock(memory.root for memory in storage.arenas)
        range_ = range_of(module)
        self._largest = None if range_ is None else range_.largest

    @property
    def program(self) -> ProgramOp:
        return self._program

    def _load(self, weights: Weights, key: str) -> cl.Program:
        what = f"the program {weights.hint(key)}"
        return given_program(self.context, self.device, weights.get(key).tobytes(), what)


def _functions(kernels: Iterable[Kernel]) -> list[str]:
    """Return the names of the kernels in the source, without duplicates."""
    return list(dict.fromkeys(kernel.function_name for kernel in kernels))
