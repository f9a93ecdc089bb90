"""A program on a device that is set up from plain data, without IR."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyopencl as cl

from ...dialects.crossings import Fence
from ...errors import CloptError
from ..host_calls import host_function
from ..launches import (
    BufferCopy,
    FunctionArgument,
    FunctionCall,
    LaunchedCommand,
    Launches,
    MemoryRange,
)
from .arena_lock import ArenaLock
from .arrays import Array, DeviceMemory
from .bindings import arena_memories
from .build import build_kernels
from .commands import Binding, Call, Command, CommandPlan, CopyCommand, HostArray, Launch
from .constants import constant_memory
from .devices import Device
from .launched_program import LaunchedProgram
from .memory import BufferMemory, check_size, make_memory
from .place import choose_place
from .requirements import check_requirements
from .runnable import Interface, kernel_cache
from .shared_arenas import SharedArenas

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ...dialects.cl.kernels import Kernel
    from ...dialects.cl.program import ProgramOp


class Module(Protocol):
    """The module from which the launches were made."""

    @property
    def module(self) -> ModuleOp: ...
    @property
    def program(self) -> ProgramOp:
        """The program of a module that may only declare its kernels."""
        ...


class Replay(LaunchedProgram):
    """Launches, copies and host calls; the results equal those of `Executable` on their module.

    All values lie in buffers.
    """

    def __init__(
        self,
        launches: Launches,
        source: str,
        constants: Mapping[str, Array],
        module: Module,
        device: str | int | Device | None = None,
        context: cl.Context | None = None,
        queue: cl.CommandQueue | None = None,
        *,
        cache_folder: Path | None = None,
        use_cache: bool = True,
        arena: Sequence[DeviceMemory] | SharedArenas | None = None,
    ):
        """Set up `launches`, with the arguments of `Executable` except for the following.

        `constants` must stay unchanged while this object lives, because CPUs use their memory
        directly. `module` is only read if its program is requested.
        """
        interface = Interface(launches.inputs, launches.outputs, launches.sizes)
        super().__init__(interface, choose_place(device, context, queue))
        self._module = module
        self.source = source
        self._constants = constants
        check_requirements(self.device, source)
        cache = kernel_cache(cache_folder, use_cache)
        built = build_kernels(
            self.context, self.device, source, launches.functions, cache, self._kernels()
        )
        self.built_from_cache = built.from_cache
        arenas = arena_memories(launches.arenas, self._images, arena)
        others = [make_memory(self._images, size) for size in launches.buffers]
        weights = [self._constant(key, size, constants) for key, size in launches.constants]
        self.arena_bytes = launches.arenas
        self.arena = tuple(memory.buffer for memory in arenas)
        self.image_views = {}
        sizes = (*launches.arenas, *launches.buffers, *(size for _, size in launches.constants))
        self.device_bytes = sum(sizes)
        self._memories_here = [*arenas, *others, *weights]
        self._numbers: dict[Binding, int] = {}
        commands = [self._command(command, built.programs) for command in launches.commands]
        counts = [1] * len(commands)
        numbers, repeated = list(self._numbers), launches.repeated or ()
        self._plan = CommandPlan(commands, numbers, counts, self._memories_here, repeated)
        self._arena_lock = ArenaLock(memory.root for memory in arenas)
        self._largest = launches.largest

    @property
    def program(self) -> ProgramOp:
        from ..programs import program_of

        return program_of(self._module.module)

    def _kernels(self) -> Iterator[Kernel]:
        """Yield the kernels, for drivers that compile at the first launch."""
        from xdsl.dialects.builtin import ModuleOp

        from ...dialects.cl.kernels import kernels_of

        module = self._module.program.parent_op()
        assert isinstance(module, ModuleOp)
        yield from kernels_of(module).values()

    def _constant(self, key: str, size: int, constants: Mapping[str, Array]) -> BufferMemory:
        """Return memory that holds a constant."""
        array = constants[key]
        if array.nbytes != size:
            raise CloptError(f'The weight "{key}" has {array.nbytes} bytes, but needs {size}.')
        if not size:
            return make_memory(self._images, 0)
        check_size(self.device, size)
        # Using a page of a mapped file is cheaper than copying it to a new page, which takes 4 s of
        # CPU per GB on a virtual machine (Zen 4), more than the rest of a start with a warm cache.
        content, is_host = array.reshape(-1).view(np.uint8), self.device.kind == "cpu"
        return constant_memory(self._images, key, content, in_place=is_host)

    def _command(self, command: LaunchedCommand, programs: Mapping[str, cl.Program]) -> Command:
        if isinstance(command, BufferCopy):
            source, destination = command.source, command.destination
            options = {
                "byte_count": source.bytes,
                "src_offset": source.offset,
                "dst_offset": destination.offset,
            }
            memories = self._memory_of(source), self._memory_of(destination)
            return CopyCommand(*memories, options, command.steps or (0, 0))
        if isinstance(command, FunctionCall):
            function = host_function(command.accelerator, command.function)
            arguments = tuple(map(self._host_argument, command.arguments))
            names, fence = (command.function, command.node), Fence(command.fence)
            return Call(function, *names, arguments, command.scalars, fence)
        local, limit = command.local_size, self.device.handle.max_work_group_size
        if local is not None and math.prod(local) > limit:
            raise CloptError(
                f"The kernel @{command.function} needs work-groups of {math.prod(local)}, but "
                f"{self.device} allows {limit}; compile the model for this device."
            )
        kernel = cl.Kernel(programs[command.function], command.function)
        bindings: list[tuple[int, int]] = []
        for position, part in command.buffers:
            argument = self._argument(part)
            if isinstance(argument, int):
                bindings.append((position, argument))
            else:
                kernel.set_arg(position, argument)
        for position, type_, value in command.integers:
            kernel.set_arg(position, np.dtype(type_).type(value))
        rows = command.rows or ()
        for row in rows:
            kernel.set_arg(row.position, np.int32(row.start))
        moving = tuple(row for row in rows if row.step)
        sizes = command.sizes
        return Launch(kernel, command.global_size, local, tuple(bindings), sizes, moving)

    def _argument(self, part: MemoryRange) -> int | cl.Buffer:
        """Return the buffer of a part, or the number of its binding."""
        index = part.memory - len(self._ports)
        if index >= 0:
            return self._memories_here[index].part(part.offset, part.bytes)
        return self._numbers.setdefault(Binding(*part), len(self._numbers))

    def _host_argument(self, given: FunctionArgument) -> cl.Buffer | int | HostArray | Array:
        """Return the argument of a function on the host."""
        if given.part is None:
            return self._constants[given.key]
        buffer = self._argument(given.part)
        if not given.type:
            return buffer
        return HostArray(buffer, given.shape, np.dtype(given.type), given.is_written)

    def _memory_of(self, part: MemoryRange) -> int | cl.Buffer:
        index = part.memory - len(self._ports)
        return part.memory if index < 0 else self._memories_here[index].buffer
