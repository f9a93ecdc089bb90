"""A queue program on a device: built, bound and uploaded once, then enqueued again and again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyopencl as cl
from xdsl.dialects.builtin import ModuleOp

from ...dialects.cl.kernels import kernels_of
from ...dialects.cl.ops import byte_count
from ...dialects.cl.program import Port, ProgramOp
from ...dialects.cl.target import target_of
from ...dialects.nn.types import numpy_dtype
from ...errors import CloptError
from ...weights import Weights
from .build import build_kernels
from .cache import BinaryCache, default_cache_folder
from .devices import Device
from .image_views import ImageViews
from .images import Images
from .inputs import Array, Arrays, check_names, checked_inputs
from .memory import Memory, make_memory
from .place import check_queue, choose_place
from .plan import Launch, Site, make_plan
from .requirements import check_requirements
from .storage import Wishes, make_storage
from .turns import Turn


class Executable:
    """Runs one `cl.program`: `run` with numpy arrays, `enqueue` with the caller's own buffers.

    Building, uploading the constants and setting the kernels' arguments happen in the constructor.
    An inference then is a row of enqueues on one in-order queue; `enqueue` never waits for the
    device, `run` waits once, at its end.

    Inferences share the intermediate buffers, so they follow one another. Calls from several
    threads are safe and take turns, those of programs that share an arena, too. A caller who
    enqueues on two queues orders them with events.
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
        arena: Sequence[cl.Buffer] | None = None,
        image_views: ImageViews | None = None,
    ):
        """`context` and `queue` are the caller's; without them they are made for `device`.

        `source` is the OpenCL C of the kernels when `module` only declares them. Compiled kernels
        are kept in `cache_folder` (default: the user's cache) unless `use_cache` is false.

        `arena` are buffers, as large as `arena_bytes` says or larger, for the intermediate results;
        without them the program makes its own. Several programs may have the same ones on one
        queue. `image_views` is the way to have images in planned memory, by default the best one
        that the device is proved to have.
        """
        program = _only_program(module)
        self.device, self.context, self.queue = choose_place(device, context, queue)
        self.inputs: tuple[Port, ...] = program.input_ports
        self.outputs: tuple[Port, ...] = program.output_ports
        self.source = _emit(module) if source is None else source
        check_requirements(self.device, self.source)
        kernels = kernels_of(module)
        cache = BinaryCache((cache_folder or default_cache_folder()) if use_cache else None)
        built = build_kernels(self.context, self.device, self.source, list(kernels), cache)
        self.built_from_cache = built.from_cache
        """Whether the kernels came from the cache on disk."""
        self._images = Images(self.device, self.context)
        wishes = Wishes(arena, image_views)
        storage = make_storage(program, weights, self._images, cache, wishes)
        self.arena_bytes = storage.arena_bytes
        """The bytes of each buffer that holds intermediate results."""
        self.arena = tuple(memory.buffer for memory in storage.arenas)
        """These buffers, the caller's or the program's own; other programs may have them, too."""
        self.image_views = {kind.value: way.value for kind, way in storage.image_views.items()}
        """How the images in planned memory were made, for each kind that the program has."""
        self.device_bytes = storage.device_bytes
        """Memory of arenas, of images and buffers outside of them, and of weights, in bytes;
        without the inputs' and outputs'."""
        self._plan = make_plan(program, kernels, storage, Site(self._images, built.programs))
        self.launches = [c for c in self._plan.commands if isinstance(c, Launch)]
        """The kernel launches of one inference, in queue order; a profiler enqueues them itself."""
        self._ports = program.ports
        self._sizes = [byte_count(port.storage_type) for port in self._ports]
        self._bound: tuple[cl.Buffer, ...] = ()
        self._arguments: list[cl.Buffer | cl.Image] = []
        self._own: tuple[cl.Buffer, ...] = ()
        self._turn = Turn(memory.root for memory in storage.arenas)

    def run(self, inputs: Arrays) -> list[Array]:
        """One inference: arrays in, by name or in order; new arrays out, in order."""
        arrays = checked_inputs(self.inputs, inputs)
        results = [np.empty(port.shape, numpy_dtype(port.element_type)) for port in self.outputs]
        with self._turn:
            buffers = self._own_buffers()
            # pyopencl waits when a transfer's event is dropped, so the events live to the end.
            transfers = [
                cl.enqueue_copy(self.queue, buffer, array, is_blocking=False)
                for array, buffer in zip(arrays, buffers, strict=False)
                if array.size
            ]
            self._enqueue(self.queue, buffers)
            transfers += [
                cl.enqueue_copy(self.queue, result, buffer, is_blocking=False)
                for result, buffer in zip(results, buffers[len(arrays) :], strict=True)
                if result.size
            ]
            self.queue.finish()
        return results

    def enqueue(self, queue: cl.CommandQueue, buffers: Mapping[str, cl.Buffer]) -> None:
        """Put one inference on the caller's in-order `queue` and return without waiting.

        `buffers` has one buffer for every input and output, by name. The caller keeps them and this
        program alive until the queue has finished.
        """
        check_queue(queue, self.context)
        check_names(self._ports, buffers, "input or output")
        bound = tuple(buffers[port.name] for port in self._ports)
        for port, buffer, size in zip(self._ports, bound, self._sizes, strict=True):
            if buffer.size < size:
                raise CloptError(
                    f'The buffer for "{port.name}" has {buffer.size} bytes; {size} are needed.'
                )
        with self._turn:
            self._enqueue(queue, bound)

    def _own_buffers(self) -> tuple[cl.Buffer, ...]:
        if not self._own:
            self._own = tuple(make_memory(self._images, size).buffer for size in self._sizes)
        return self._own

    def _enqueue(self, queue: cl.CommandQueue, buffers: tuple[cl.Buffer, ...]) -> None:
        if buffers is not self._bound:
            self._bind(buffers)
        for command in self._plan.commands:
            if isinstance(command, Launch):
                cl.enqueue_nd_range_kernel(
                    queue, command.kernel, command.global_size, command.local_size
                )
            else:
                source = _memory(command.source, buffers)
                destination = _memory(command.destination, buffers)
                cl.enqueue_copy(queue, destination, source, **command.options)

    def _bind(self, buffers: tuple[cl.Buffer, ...]) -> None:
        # Setting an argument costs more than a launch, so only what changes is set.
        old, arguments = self._arguments, self._arguments_of(buffers)
        for launch in self.launches:
            for argument, binding in launch.bindings:
                if not old or arguments[binding] is not old[binding]:
                    launch.kernel.set_arg(argument, arguments[binding])
        self._bound, self._arguments = buffers, arguments

    def _arguments_of(self, buffers: tuple[cl.Buffer, ...]) -> list[cl.Buffer | cl.Image]:
        """What kernels get of the caller's buffers, for each binding."""
        memories = {
            index: Memory(buffer, self._images, self._sizes[index])
            for index, buffer in enumerate(buffers)
            if not self._bound or buffer is not self._bound[index]
        }
        return [
            memories[binding.parameter].argument(binding.type, binding.offset)
            if binding.parameter in memories
            else self._arguments[number]
            for number, binding in enumerate(self._plan.bindings)
        ]


def _memory(
    place: int | cl.Buffer | cl.Image, buffers: Sequence[cl.Buffer]
) -> cl.Buffer | cl.Image:
    return buffers[place] if isinstance(place, int) else place


def _emit(module: ModuleOp) -> str:
    from ..opencl_c import emit

    return emit(module, target_of(module))


def _only_program(module: ModuleOp) -> ProgramOp:
    programs = [op for op in module.body.block.ops if isinstance(op, ProgramOp)]
    if len(programs) != 1:
        raise CloptError(
            f"A module to run has one cl.program, this one has {len(programs)}; lower it with the "
            "pipeline opencl first."
        )
    return programs[0]
