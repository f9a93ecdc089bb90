"""A program on a device, set up from its launches as plain data, without the IR."""

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
    Part,
)
from .bindings import DeviceMemory, arena_memories
from .build import build_kernels
from .commands import Binding, Call, Command, Copy, HostArray, Launch, Plan
from .devices import Device
from .inputs import Array
from .launched_program import LaunchedProgram
from .memory import Memory, check_size, make_memory
from .place import choose_place
from .requirements import check_requirements
from .runnable import Interface, kernel_cache
from .turns import Turn

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ...dialects.cl.kernels import Kernel
    from ...dialects.cl.program import ProgramOp


class Module(Protocol):
    """The module of the launches."""

    @property
    def module(self) -> ModuleOp: ...
    @property
    def program(self) -> ProgramOp:
        """Its program, in a module that may only declare the kernels."""
        ...


class Replay(LaunchedProgram):
    """Launches, copies and calls on the host; it computes what `Executable` does of their module.

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
        arena: Sequence[DeviceMemory] | None = None,
    ):
        """`constants` stay unchanged while this lives: the memory of a CPU is not copied.

        `module` is read if someone asks. The other arguments are those of `Executable`.
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
        self._own_memories = [*arenas, *others, *weights]
        self._numbers: dict[Binding, int] = {}
        commands = [self._command(each, built.programs) for each in launches.commands]
        counts = [1] * len(commands)
        self._plan = Plan(commands, list(self._numbers), counts, self._own_memories)
        self._turn = Turn(memory.root for memory in arenas)

    @property
    def program(self) -> ProgramOp:
        from ..programs import program_of

        return program_of(self._module.module)

    def _kernels(self) -> Iterator[Kernel]:
        """Yield the kernels for drivers that compile at the first launch, if one asks."""
        from xdsl.dialects.builtin import ModuleOp

        from ...dialects.cl.kernels import kernels_of

        module = self._module.program.parent_op()
        assert isinstance(module, ModuleOp)
        yield from kernels_of(module).values()

    def _constant(self, key: str, size: int, constants: Mapping[str, Array]) -> Memory:
        """Return memory that holds a constant."""
        array = constants[key]
        if array.nbytes != size:
            raise CloptError(f'The weight "{key}" has {array.nbytes} bytes, expected {size}.')
        if not size:
            return make_memory(self._images, 0)
        check_size(self.device, size)
        # A page of a mapped file is cheaper than a new one with a copy of it: that takes 4 s of CPU
        # for each gigabyte on a virtual machine (Zen 4), more than all else of a second start.
        is_host = self.device.kind == "cpu"
        way = cl.mem_flags.USE_HOST_PTR if is_host else cl.mem_flags.COPY_HOST_PTR
        content = array.reshape(-1).view(np.uint8)
        buffer = cl.Buffer(self.context, cl.mem_flags.READ_ONLY | way, hostbuf=content)
        return Memory(buffer, self._images, size)

    def _command(self, command: LaunchedCommand, programs: Mapping[str, cl.Program]) -> Command:
        if isinstance(command, BufferCopy):
            source, destination = command.source, command.destination
            options = {
                "byte_count": source.bytes,
                "src_offset": source.offset,
                "dst_offset": destination.offset,
            }
            return Copy(self._memory_of(source), self._memory_of(destination), options)
        if isinstance(command, FunctionCall):
            function = host_function(command.accelerator, command.function)
            arguments = tuple(map(self._host_argument, command.arguments))
            names, fence = (command.function, command.node), Fence(command.fence)
            return Call(function, *names, arguments, command.scalars, fence)
        local, limit = command.local_size, self.device.handle.max_work_group_size
        if local is not None and math.prod(local) > limit:
            raise CloptError(
                f"The kernel @{command.function} wants work-groups of {math.prod(local)}, but "
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
        return Launch(kernel, command.global_size, local, tuple(bindings))

    def _argument(self, part: Part) -> int | cl.Buffer:
        """Return the buffer of a part, or the number of its binding."""
        own = part.memory - len(self._ports)
        if own >= 0:
            return self._own_memories[own].part(part.offset, part.bytes)
        return self._numbers.setdefault(Binding(*part), len(self._numbers))

    def _host_argument(self, given: FunctionArgument) -> cl.Buffer | int | HostArray | Array:
        """Return the argument of a function on the host."""
        if given.part is None:
            return self._constants[given.key]
        buffer = self._argument(given.part)
        if not given.type:
            return buffer
        return HostArray(buffer, given.shape, np.dtype(given.type), given.is_written)

    def _memory_of(self, part: Part) -> int | cl.Buffer:
        own = part.memory - len(self._ports)
        return part.memory if own < 0 else self._own_memories[own].buffer
