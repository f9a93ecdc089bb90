"""A queue program on a device: built, bound and uploaded once, then enqueued again and again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

import pyopencl as cl
from xdsl.dialects.builtin import ModuleOp

from ...dialects.cl.kernels import Kernel, kernels_of
from ...errors import CloptError
from ...weights import Weights
from ..offload import needs_library, source_of, with_launches
from ..programs import program_of
from .bindings import DeviceMemory, PortMemory
from .build import build_kernels
from .compiler import given_program
from .devices import Device
from .image_views import ImageViews
from .memory import Memory
from .place import choose_place
from .plan import Binding, Command, Launch, Site, make_plan
from .requirements import check_requirements
from .runnable import Runnable, kernel_cache
from .storage import Wishes, make_storage
from .timing import Timing
from .turns import Turn


class Executable(Runnable):
    """A program that Python enqueues command by command.

    Building, uploading the constants and setting the kernels' arguments happen in the constructor.
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
        arena: Sequence[DeviceMemory] | None = None,
        image_views: ImageViews | None = None,
    ):
        """`context` and `queue` are the caller's; without them they are made for `device`.

        `source` is the OpenCL C of the kernels when `module` only declares them. Compiled kernels
        are kept in `cache_folder` (default: the user's cache) unless `use_cache` is false.

        `arena` are buffers of at least `arena_bytes` for the intermediate results; by default the
        program makes its own. Several programs on one queue may share them. `image_views` is the
        way to put images into planned memory, by default the best one that works on the device.
        """
        program = program_of(module)
        if needs_library(program):
            raise CloptError(
                f"@{program.sym_name.data} has commands that only a C library runs, and this "
                "executable runs kernels; make one with clopt.compile or clopt.load."
            )
        super().__init__(program, choose_place(device, context, queue))
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
        wishes = Wishes(arena, image_views)
        storage = make_storage(launched, weights, self._images, cache, wishes)
        self.arena_bytes = storage.arena_bytes
        self.arena = tuple(memory.buffer for memory in storage.arenas)
        self.image_views = {kind.value: way.value for kind, way in storage.image_views.items()}
        self.device_bytes = storage.device_bytes
        self._plan = make_plan(
            launched, kernels, storage, Site(self._images, built.programs, binaries)
        )
        self.launches = [c for c in self._plan.commands if isinstance(c, Launch)]
        """The kernel launches of one inference, in queue order."""
        self._arguments: list[cl.Buffer | cl.Image] = []
        # After the arguments, which are parts of these: attributes are released in this order.
        self._memories: dict[int, Memory | cl.Image] = {}
        self._turn = Turn(memory.root for memory in storage.arenas)

    def _load(self, weights: Weights, key: str) -> cl.Program:
        what = f"the program {weights.hint(key)}"
        return given_program(self.context, self.device, weights.get(key).tobytes(), what)

    def _enqueue(self, queue: cl.CommandQueue, buffers: tuple[PortMemory, ...]) -> None:
        if buffers is not self._bound:
            self._bind(buffers)
        for command in self._plan.commands:
            _put(command, queue, buffers)

    def _timings(self, buffers: tuple[PortMemory, ...], runs: int) -> list[list[Timing]]:
        profiling = cl.command_queue_properties.PROFILING_ENABLE
        queue = cl.CommandQueue(self.context, self.device.handle, profiling)
        # One after the other: between them the threads of a CPU would fall asleep, and the first
        # kernel would take as long as they need to wake up.
        events = [
            [_put(command, queue, buffers) for command in self._plan.commands] for _ in range(runs)
        ]
        queue.finish()
        timings: list[list[Timing]] = []
        for run in events:
            times = iter([Timing.of(event) for event in run])
            counts = self._plan.counts
            timings.append([Timing.joined(list(islice(times, count))) for count in counts])
        return timings

    def _bind(self, buffers: tuple[PortMemory, ...]) -> None:
        memories = {
            index: self._memories[index]
            if self._bound and buffer is self._bound[index]
            else self._memory(index, buffer)
            for index, buffer in enumerate(buffers)
        }
        arguments = [_argument(memories[b.parameter], b) for b in self._plan.bindings]
        # Setting an argument costs more than a launch, so only changed arguments are set.
        for launch in self.launches:
            for argument, binding in launch.bindings:
                if not self._arguments or arguments[binding] is not self._arguments[binding]:
                    launch.kernel.set_arg(argument, arguments[binding])
        self._bound, self._arguments = buffers, arguments
        self._memories = memories

    def _memory(self, index: int, given: PortMemory) -> Memory | cl.Image:
        is_image = isinstance(given, cl.Image)
        return given if is_image else Memory(given, self._images, self._sizes[index])


def _functions(kernels: Iterable[Kernel]) -> list[str]:
    """The kernels as the source names them, each once."""
    return list(dict.fromkeys(kernel.function_name for kernel in kernels))


def _argument(memory: Memory | cl.Image, binding: Binding) -> PortMemory:
    """The kernel argument for a part of what the caller binds; of an image there are no parts."""
    is_image = isinstance(memory, cl.Image)
    return memory if is_image else memory.argument(binding.type, binding.offset)


def _put(command: Command, queue: cl.CommandQueue, buffers: Sequence[PortMemory]) -> cl.Event:
    if isinstance(command, Launch):
        return cl.enqueue_nd_range_kernel(
            queue, command.kernel, command.global_size, command.local_size
        )
    source, destination = (_memory(m, buffers) for m in (command.source, command.destination))
    return cl.enqueue_copy(queue, destination, source, **command.options)


def _memory(place: int | PortMemory, buffers: Sequence[PortMemory]) -> PortMemory:
    return buffers[place] if isinstance(place, int) else place
