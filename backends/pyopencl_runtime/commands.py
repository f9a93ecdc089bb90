"""The commands of an inference, as kernel objects whose arguments are set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import pyopencl as cl

from ...dialects.crossings import Fence
from ...dialects.ranged_size import RangedSize
from ...errors import CloptError
from ..launches import Repeated, RowStart

if TYPE_CHECKING:
    from xdsl.ir import Attribute

    from ...weights import Array
    from ..host_calls import HostFunction, Scalar


@dataclass(frozen=True)
class Launch:
    """A launch with a kernel object of its own, so that its arguments stay set."""

    kernel: cl.Kernel
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    bindings: tuple[tuple[int, int], ...]
    """(argument, number of a `Binding`) for the arguments that depend on the caller's buffers."""
    sizes: tuple[RangedSize, ...] | None = None
    """The global size for smaller values of the program's symbol; None if it stays the same."""
    rows: tuple[RowStart, ...] = ()
    """The arguments that differ from iteration to iteration."""

    def start(self, iteration: int) -> None:
        """Set the arguments of an iteration of the repetition that contains the launch."""
        # `set_arg` takes 11 us for a number (pyopencl on PoCL 3.1), as it first tries other types.
        kernel: Any = self.kernel
        for argument, start, step in self.rows:
            kernel._set_arg_buf(argument, np.int32(start + step * iteration))

    def at(self, value: int) -> Launch:
        """Return the launch for a value of the symbol."""
        if self.sizes is None:
            return self
        return replace(self, global_size=tuple(size.at(value) for size in self.sizes), sizes=None)


@dataclass(frozen=True)
class Binding:
    """A part of a buffer that the caller binds, or an image over that part."""

    parameter: int
    offset: int
    form: int | Attribute
    """The bytes of a buffer, or the type of an image."""


@dataclass(frozen=True)
class CopyCommand:
    """A copy between buffers or images; an int is the number of a parameter of the caller."""

    source: int | cl.Buffer | cl.Image
    destination: int | cl.Buffer | cl.Image
    options: Mapping[str, Any]
    """Keyword arguments of `pyopencl.enqueue_copy`."""
    steps: tuple[int, int] = (0, 0)
    """The bytes by which source and destination move after each iteration of a repetition."""

    def options_at(self, iteration: int) -> Mapping[str, Any]:
        """Return the options of the copy in an iteration."""
        if not iteration or self.steps == (0, 0):
            return self.options
        source, destination = (step * iteration for step in self.steps)
        moved = {
            "src_offset": self.options["src_offset"] + source,
            "dst_offset": self.options["dst_offset"] + destination,
        }
        return {**self.options, **moved}


@dataclass(frozen=True)
class HostArray:
    """An argument that is mapped into host memory while a function runs."""

    memory: cl.Buffer | int
    """A buffer that begins with the array, or the number of a `Binding`."""
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_written: bool


@dataclass(frozen=True)
class Call:
    """A call of a function on the host, which enqueues work of its own."""

    function: HostFunction
    name: str
    """The function's name, for messages."""
    node: str
    """The network's node that it computes if known, for messages."""
    arguments: tuple[cl.Buffer | int | HostArray | Array, ...]
    """Buffers, numbers of `Binding`s, or arrays in host memory."""
    scalars: tuple[Scalar, ...]
    fence: Fence = Fence.QUEUE

    def put(self, queue: cl.CommandQueue, bound: Sequence[cl.Buffer | cl.Image]) -> None:
        """Call the function; raise CloptError if it fails.

        `bound` holds the bindings' arguments.
        """
        mapped: list[Array] = []
        try:
            if self.fence is Fence.FINISH:
                queue.finish()
            arguments = [self._argument(arg, queue, bound, mapped) for arg in self.arguments]
            if self.fence is Fence.EVENTS:
                start = cl.enqueue_marker(queue)
                queue.flush()  # otherwise the other queue might wait forever
                end = self.function(queue, arguments, self.scalars, wait_for=[start])
                cl.enqueue_barrier(queue, wait_for=_events(end))
            else:
                self.function(queue, arguments, self.scalars)
        except CloptError:
            raise
        except Exception as error:
            reason = str(error) or type(error).__name__
            of_node = f" of the node {self.node}" if self.node else ""
            raise CloptError(f"The function {self.name}{of_node} failed: {reason}") from error
        finally:
            for array in mapped:
                cast("cl.MemoryMap", array.base).release(queue)

    @staticmethod
    def _argument(
        argument: cl.Buffer | int | HostArray | Array,
        queue: cl.CommandQueue,
        bound: Sequence[cl.Buffer | cl.Image],
        mapped: list[Array],
    ) -> object:
        """Return the argument for the function; mapped arrays are appended to `mapped`."""
        if isinstance(argument, int):
            return bound[argument]
        if not isinstance(argument, HostArray):
            return argument
        memory = argument.memory
        array = cl.enqueue_map_buffer(
            queue,
            bound[memory] if isinstance(memory, int) else memory,
            cl.map_flags.WRITE_INVALIDATE_REGION if argument.is_written else cl.map_flags.READ,
            0,
            argument.shape,
            argument.dtype,
        )[0]
        mapped.append(array)
        return array


def _events(given: object) -> list[cl.Event]:
    """Return the events that a function with its own queue returned."""
    events = cast("list[object]", given if isinstance(given, list | tuple) else [given])
    if not events or not all(isinstance(event, cl.Event) for event in events):
        raise TypeError("its fence is EVENTS, so it must return pyopencl events")
    return cast("list[cl.Event]", events)


Command: TypeAlias = Launch | CopyCommand | Call


@dataclass(frozen=True)
class CommandPlan:
    """The commands of one inference, in order; those of a repetition once."""

    commands: list[Command]
    bindings: list[Binding]
    counts: list[int]
    """For each command of the program before its graphs became kernels, the number of its commands
    here."""
    memory: object
    """The program's own memory, kept alive here because kernels do not keep their arguments alive.
    """
    repeated: Sequence[Repeated] = ()

    def sequence(self) -> Iterator[tuple[int, Command, int]]:
        """Yield the number, the command and the iteration of each command of an inference."""
        place = 0
        for first, end, trips in (*self.repeated, Repeated(len(self.commands), 0, 0)):
            for number in range(place, first):
                yield number, self.commands[number], 0
            for iteration in range(trips):
                for number in range(first, end):
                    yield number, self.commands[number], iteration
            place = end

    def at(self, value: int) -> CommandPlan:
        """Return the commands for a smaller value of the program's symbol."""
        commands = [each.at(value) if isinstance(each, Launch) else each for each in self.commands]
        return replace(self, commands=commands)
