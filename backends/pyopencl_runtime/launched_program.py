"""Common base class of programs that Python enqueues command by command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice

import pyopencl as cl

from .arrays import PortMemory
from .commands import Binding, Call, Command, CommandPlan, CopyCommand, Launch
from .devices import Device
from .memory import BufferMemory
from .runnable import Interface, Runnable
from .timing import Timing


class LaunchedProgram(Runnable):
    """A program of kernel launches, copies and host calls.

    Subclasses set `_plan` and `_arena_lock`.
    """

    _plan: CommandPlan

    def __init__(
        self, interface: Interface, place: tuple[Device, cl.Context, cl.CommandQueue]
    ) -> None:
        super().__init__(interface, place)
        self._arguments: list[cl.Buffer | cl.Image] = []
        # Declared after `_arguments`, which are parts of these: attributes are released in this
        # order.
        self._memories: dict[int, BufferMemory | cl.Image] = {}

    @property
    def launches(self) -> list[Launch]:
        """The kernel launches of one inference, in queue order."""
        return [command for command in self._plan.commands if isinstance(command, Launch)]

    def _enqueue(self, queue: cl.CommandQueue, buffers: tuple[PortMemory, ...]) -> None:
        if buffers is not self._bound:
            self._bind(buffers)
        for command in self._plan.commands:
            if isinstance(command, Call):
                command.put(queue, self._arguments)
            else:
                _put(command, queue, buffers)

    def _timings(self, buffers: tuple[PortMemory, ...], runs: int) -> list[list[Timing]]:
        profiling = cl.command_queue_properties.PROFILING_ENABLE
        queue = cl.CommandQueue(self.context, self.device.handle, profiling)
        # All runs are enqueued back to back: in a pause the threads of a CPU runtime would go to
        # sleep, and the first kernel would include the time to wake them.
        timers = [
            [self._timed(command, queue, buffers) for command in self._plan.commands]
            for _ in range(runs)
        ]
        queue.finish()
        timings: list[list[Timing]] = []
        for run in timers:
            times = iter([timer() for timer in run])
            counts = self._plan.counts
            timings.append([Timing.joined(list(islice(times, count))) for count in counts])
        return timings

    def _timed(
        self, command: Command, queue: cl.CommandQueue, buffers: Sequence[PortMemory]
    ) -> Callable[[], Timing]:
        """Enqueue a command; return a function that gives its time once the queue has finished."""
        if not isinstance(command, Call):
            return partial(Timing.of, _put(command, queue, buffers))
        before = cl.enqueue_marker(queue)
        command.put(queue, self._arguments)
        return partial(Timing.between, before, cl.enqueue_marker(queue))

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

    def _memory(self, index: int, given: PortMemory) -> BufferMemory | cl.Image:
        is_image = isinstance(given, cl.Image)
        return given if is_image else BufferMemory(given, self._images, self._sizes[index])


def _argument(memory: BufferMemory | cl.Image, binding: Binding) -> PortMemory:
    """Return the kernel argument for a binding; images are always bound whole."""
    if isinstance(memory, cl.Image):
        return memory
    if isinstance(binding.form, int):
        return memory.part(binding.offset, binding.form)
    return memory.argument(binding.form, binding.offset)


def _put(
    command: Launch | CopyCommand, queue: cl.CommandQueue, buffers: Sequence[PortMemory]
) -> cl.Event:
    if isinstance(command, Launch):
        return cl.enqueue_nd_range_kernel(
            queue, command.kernel, command.global_size, command.local_size
        )
    source, destination = (_memory(m, buffers) for m in (command.source, command.destination))
    return cl.enqueue_copy(queue, destination, source, **command.options)


def _memory(place: int | PortMemory, buffers: Sequence[PortMemory]) -> PortMemory:
    return buffers[place] if isinstance(place, int) else place
