"""The commands of an inference as kernel objects with their arguments set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import pyopencl as cl

from ...errors import CloptError

if TYPE_CHECKING:
    from xdsl.ir import Attribute

    from ..host_calls import HostFunction, Scalar


@dataclass(frozen=True)
class Launch:
    """A launch with its own kernel object, so that the arguments stay set."""

    kernel: cl.Kernel
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    bindings: tuple[tuple[int, int], ...]
    """(argument, number of a `Binding`) for the arguments that depend on the caller's buffers."""


@dataclass(frozen=True)
class Binding:
    """A part of a buffer that the caller binds, or an image over it."""

    parameter: int
    offset: int
    form: int | Attribute
    """The bytes of a buffer, or the type of an image."""


@dataclass(frozen=True)
class Copy:
    """A copy from a buffer or image, or of the parameter with a number, to another."""

    source: int | cl.Buffer | cl.Image
    destination: int | cl.Buffer | cl.Image
    options: Mapping[str, Any]
    """For `pyopencl.enqueue_copy`."""


@dataclass(frozen=True)
class Call:
    """A call of a function on the host, which enqueues work of its own."""

    function: HostFunction
    name: str
    """The function's, for messages like the next."""
    node: str
    """The node of the network that it computes, if known."""
    arguments: tuple[cl.Buffer | int, ...]
    """Buffers, or the numbers of `Binding`s."""
    scalars: tuple[Scalar, ...]

    def put(self, queue: cl.CommandQueue, bound: Sequence[cl.Buffer | cl.Image]) -> None:
        """Call the function; CloptError if it fails. `bound` are the arguments of the bindings."""
        buffers = [bound[each] if isinstance(each, int) else each for each in self.arguments]
        try:
            self.function(queue, buffers, self.scalars)
        except CloptError:
            raise
        except Exception as error:
            reason = str(error) or type(error).__name__
            of_node = f" of the node {self.node}" if self.node else ""
            raise CloptError(f"The function {self.name}{of_node} failed: {reason}") from error


Command: TypeAlias = Launch | Copy | Call


@dataclass(frozen=True)
class Plan:
    """The commands of one inference, in order."""

    commands: list[Command]
    bindings: list[Binding]
    counts: list[int]
    """The number of commands for each command of the program before its graphs became kernels."""
    memory: object
    """The program's own memory: a kernel does not keep its arguments alive."""
