"""Common base class of programs that Python enqueues command by command."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import pyopencl as cl

from ...errors import CloptError
from .arrays import PortMemory
from .commands import Binding, Call, Command, CommandPlan, CopyCommand, Launch
from .devices import Device
from .memory import BufferMemory
from .runnable import Interface, Runnable
from .timing import Timing

if TYPE_CHECKING:
    from ...dialects.cl.program import ProgramOp


class LaunchedProgram(Runnable):
    """A program of kernel launches, copies and host calls.

    Subclasses set `_plan`, `_arena_lock` and `_largest`.
    """

    _plan: CommandPlan
    _largest: int | None
    """The greatest value of the symbol whose smaller values the program also serves, if any."""

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

    def restricted(self, value: int) -> LaunchedProgram:
        if self._largest is None:
            raise CloptError(
                "This program serves only its own sizes; compile the model with a ranged dimension."
            )
        if not 1 <= value <= self._largest:
            raise CloptError(f"The program serves sizes from 1 to {self._largest}, not {value}.")
        is_whole = value == self._largest or any(port.image for port in self._ports)
        return self if is_whole else RestrictedProgram(self, value)

    def _enqueue(self, queue: cl.CommandQueue, buffers: tuple[PortMemory, ...]) -> None:
        self._put(queue, buffers, self._plan)

    def _put(
        self, queue: cl.CommandQueue, buffers: tuple[PortMemory, ...], plan: CommandPlan
    ) -> None:
        """Put the commands of a plan on the queue; it may be a restriction of this program's."""
        if buffers is not self._bound:
            self._bind(buffers)
        for _, command, iteration in plan.sequence():
            if isinstance(command, Call):
                command.put(queue, self._arguments)
            else:
                _enqueue_one(command, queue, buffers, iteration)

    def _timings(self, buffers: tuple[PortMemory, ...], runs: int) -> list[list[Timing]]:
        return self._timed_runs(buffers, runs, self._plan)

    def _timed_runs(
        self, buffers: tuple[PortMemory, ...], runs: int, plan: CommandPlan
    ) -> list[list[Timing]]:
        """Time inferences by a plan, which may be a restriction of this program's."""
        profiling = cl.command_queue_properties.PROFILING_ENABLE
        queue = cl.CommandQueue(self.context, self.device.handle, profiling)
        # All runs are enqueued back to back: in a pause the threads of a CPU runtime would go to
        # sleep, and the first kernel would include the time to wake them.
        timers = [
            [
                (number, self._timed(command, queue, buffers, iteration))
                for number, command, iteration in plan.sequence()
            ]
            for _ in range(runs)
        ]
        queue.finish()
        return [
            _grouped([(number, timer()) for number, timer in run], plan.counts) for run in timers
        ]

    def _timed(
        self,
        command: Command,
        queue: cl.CommandQueue,
        buffers: Sequence[PortMemory],
        iteration: int,
    ) -> Callable[[], Timing]:
        """Enqueue a command; return a function that gives its time once the queue has finished."""
        if not isinstance(command, Call):
            return partial(Timing.of, _enqueue_one(command, queue, buffers, iteration))
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


class RestrictedProgram(LaunchedProgram):
    """A program for a smaller value of a symbol: the same kernels and memory, fewer work-items."""

    def __init__(self, whole: LaunchedProgram, value: int) -> None:
        interface = Interface(whole.inputs, whole.outputs, whole._sizes)
        super().__init__(interface, (whole.device, whole.context, whole.queue))
        self._whole = whole
        self._plan = whole._plan.at(value)
        self._largest = whole._largest
        self._arena_lock = whole._arena_lock
        self._own, self._sent = whole._own, whole._sent
        self.source = whole.source
        self.built_from_cache = whole.built_from_cache
        self.arena_bytes, self.arena = whole.arena_bytes, whole.arena
        self.image_views = whole.image_views
        self.device_bytes = whole.device_bytes

    @property
    def program(self) -> ProgramOp:
        return self._whole.program

    def restricted(self, value: int) -> LaunchedProgram:
        return self._whole.restricted(value)

    # The arguments are set on kernels that both programs launch, so one of them keeps track.

    def _enqueue(self, queue: cl.CommandQueue, buffers: tuple[PortMemory, ...]) -> None:
        self._whole._put(queue, buffers, self._plan)

    def _timings(self, buffers: tuple[PortMemory, ...], runs: int) -> list[list[Timing]]:
        return self._whole._timed_runs(buffers, runs, self._plan)


def _argument(memory: BufferMemory | cl.Image, binding: Binding) -> PortMemory:
    """Return the kernel argument for a binding; images are always bound whole."""
    if isinstance(memory, cl.Image):
        return memory
    if isinstance(binding.form, int):
        return memory.part(binding.offset, binding.form)
    return memory.argument(binding.form, binding.offset)


def _grouped(times: Iterable[tuple[int, Timing]], counts: Sequence[int]) -> list[Timing]:
    """Return the time of each group of commands: `counts` consecutive ones, in all iterations.

    `times` have the number of each command.
    """
    group_of = [group for group, count in enumerate(counts) for _ in range(count)]
    groups: list[list[Timing]] = [[] for _ in counts]
    for number, timing in times:
        groups[group_of[number]].append(timing)
    return [
        Timing.total([Timing.joined(group[i : i + count]) for i in range(0, len(group), count)])
        for group, count in zip(groups, counts, strict=True)
    ]


def _enqueue_one(
    command: Launch | CopyCommand,
    queue: cl.CommandQueue,
    buffers: Sequence[PortMemory],
    iteration: int,
) -> cl.Event:
    if isinstance(command, Launch):
        command.start(iteration)
        return cl.enqueue_nd_range_kernel(
            queue, command.kernel, command.global_size, command.local_size
        )
    source, destination = (_memory(m, buffers) for m in (command.source, command.destination))
    return cl.enqueue_copy(queue, destination, source, **command.options_at(iteration))


def _memory(place: int | PortMemory, buffers: Sequence[PortMemory]) -> PortMemory:
    return buffers[place] if isinstance(place, int) else place
