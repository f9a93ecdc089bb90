"""Accelerators whose commands are calls of Python functions on the host, such as CLBlast's.

A function enqueues work of its own on the program's queue, between our launches. Compiled models
contain the names of functions; the accelerator that is installed where a model runs resolves them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from ..accelerators import accelerators
from ..errors import CloptError, UnavailableError

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from ..dialects.offload import OffloadGraphOp
    from ..weights import Array, Weights

Scalar: TypeAlias = int | float

HostFunction: TypeAlias = Callable[..., object]
"""`function(queue, buffers, scalars)`: enqueues work on the in-order pyopencl `queue` and returns
without waiting. Each of `buffers` begins with the bytes of an argument, and may be longer.

With the fence EVENTS it also gets `wait_for=[event]`, and returns an event or a list of events.
With the fence FINISH it returns once its results are in memory, and with the memory space HOST it
gets numpy arrays instead of buffers."""


@dataclass(frozen=True)
class HostCall:
    """The call of a function that runs a command."""

    function: str
    """Its name in `CommandCalls.functions`."""
    arguments: Sequence[int | str]
    """For each buffer the number of an operand of the `cl.enqueue_offload` (reads, then writes,
    then scratch), or the key of an array: one of the graph's `weight_keys`, or one that `arrays`
    returns."""
    scalars: tuple[Scalar, ...] = ()


class CommandCalls(ABC):
    """An accelerator whose commands are calls of functions on the host."""

    functions: ClassVar[Mapping[str, str]]
    """The place of each function as `module:name`, by the name that calls use. The module is
    imported when a program that calls the function is set up on a device."""

    @abstractmethod
    def call(self, graph: OffloadGraphOp, command: Operation) -> HostCall:
        """Return the call that runs a command of a graph."""

    def arrays(self, graph: OffloadGraphOp, weights: Weights) -> Mapping[str, Array]:
        """Return additional arrays that calls need, by keys that are unique in the program."""
        del graph, weights
        return {}


def host_function(accelerator: str, name: str) -> HostFunction:
    """Return a function of an installed accelerator.

    Raises CloptError if the accelerator is not installed, and UnavailableError if its library is
    missing.
    """
    row = accelerators().get(accelerator)
    commands = row.load("commands") if row else None
    if commands is None or not issubclass(commands, CommandCalls):
        raise CloptError(
            f'The model calls {name} of the accelerator "{accelerator}", which no installed '
            f"package provides; install one, or compile the model with {accelerator}=off."
        )
    if name not in commands.functions:
        raise CloptError(
            f'The model calls {name} of the accelerator "{accelerator}", which has only '
            f"{', '.join(commands.functions)}; compile the model again."
        )
    module, _, function = commands.functions[name].partition(":")
    try:
        return getattr(import_module(module), function)
    except (ImportError, AttributeError, OSError) as error:
        raise UnavailableError(
            f'The function {name} of the accelerator "{accelerator}" cannot be loaded: {error}; '
            f"install what it needs, or compile the model with {accelerator}=off."
        ) from error
