"""Conversion of a queue program to kernel objects whose arguments are set."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyopencl as cl
from xdsl.ir import Attribute, SSAValue

from ...dialects.cl import (
    ONE_COMMAND,
    EnqueueCopyOp,
    EnqueueKernelOp,
    EnqueueOffloadOp,
    Kernel,
    ProgramOp,
    RepeatOp,
    repeat_of,
)
from ...dialects.cl import commands as queue_of
from ...dialects.cl.images import image_of
from ...dialects.cl.ops import byte_count
from ...dialects.node_names import named_node
from ...dialects.ranged_size import RangedSize
from ...errors import CloptError
from ...tensor_info import TensorInfo
from ...weights import Array, Weights
from ..host_calls import host_function
from ..host_commands import HostCommand, array_type, host_commands
from ..launches import Repeated
from ..row_arguments import buffer_of_row, copy_steps, row_arguments
from .commands import Binding, Call, Command, CommandPlan, CopyCommand, HostArray, Launch
from .compiler import kernel_of_binary
from .images import Images, copy_options
from .memory import BufferMemory
from .runnable import Interface
from .storage import MemorySlot, Storage


@dataclass(frozen=True)
class LaunchResources:
    """What launches need: the images of the device, built programs, and weights."""

    images: Images
    programs: Mapping[str, cl.Program]
    """Programs by the kernel's name in the source."""
    binaries: Mapping[str, cl.Program]
    """Programs that are weights, by weight key."""
    weights: Weights


def interface_of(program: ProgramOp) -> Interface:
    """Return the inputs and outputs of `program`."""
    return Interface(
        tuple(map(TensorInfo.of, program.input_ports)),
        tuple(map(TensorInfo.of, program.output_ports)),
        [byte_count(port.storage_type) for port in program.ports],
    )


def make_plan(
    program: ProgramOp, kernels: Mapping[str, Kernel], storage: Storage, resources: LaunchResources
) -> CommandPlan:
    """Make the kernel objects of `program` and set the arguments that are in `storage`."""
    maker = _CommandFactory(resources, storage)
    calls = host_commands(program)
    commands: list[Command] = []
    counts: list[int] = []
    repeated: dict[RepeatOp, Repeated] = {}
    group: Attribute | None = None
    for op in queue_of(program):
        match op:
            case EnqueueCopyOp():
                made = maker.copy(op)
            case EnqueueKernelOp():
                made = maker.launch(kernels[op.kernel_name], op.args, op.ranged_sizes)
            case EnqueueOffloadOp():
                made = [maker.call(calls[op], named_node(op))]
        if (repeat := repeat_of(op)) is not None:
            first = repeated[repeat].first if repeat in repeated else len(commands)
            end = len(commands) + len(made)
            repeated[repeat] = Repeated(first, end, repeat.trip_count)
        before, group = group, op.attributes.get(ONE_COMMAND)
        if made and group is not None and group == before:
            counts[-1] += len(made)
        elif made:
            counts.append(len(made))
        commands += made
    bindings, repetitions = list(maker.bindings), list(repeated.values())
    return CommandPlan(commands, bindings, counts, storage, repetitions)


class _CommandFactory:
    """A factory of the commands of one program."""

    def __init__(self, resources: LaunchResources, storage: Storage):
        self.resources = resources
        self.places = storage.places
        self.bindings: dict[Binding, int] = {}

    def copy(self, op: EnqueueCopyOp) -> list[Command]:
        """Return the copy, or nothing if it has no bytes."""
        size = byte_count(op.source.type)
        if not size:
            return []
        source, source_offset = self._memory(op.source)
        destination, destination_offset = self._memory(op.destination)
        options = copy_options(
            op.source.type, op.destination.type, size, source_offset, destination_offset
        )
        return [CopyCommand(source, destination, options, copy_steps(op))]

    def launch(
        self,
        kernel: Kernel,
        args: Sequence[SSAValue],
        sizes: tuple[RangedSize, ...] | None = None,
    ) -> list[Command]:
        """Return the launch of `kernel`, or nothing if its NDRange is empty."""
        if kernel.global_size is None:
            raise CloptError(
                f"The kernel @{kernel.name} has no global_size; lower the module with the pipeline "
                "opencl before running it."
            )
        if 0 in kernel.global_size:
            return []
        resources = self.resources
        resources.images.check_launch(kernel)
        limit = resources.images.device.handle.max_work_group_size
        if kernel.local_size is not None and math.prod(kernel.local_size) > limit:
            raise CloptError(
                f"The kernel @{kernel.name} needs work-groups of {math.prod(kernel.local_size)}, "
                f"but {resources.images.device} allows {limit}; compile the model for this device."
            )
        handle = self._kernel(kernel)
        bindings: list[tuple[int, int]] = []
        for number, arg in enumerate(args):
            given, index = buffer_of_row(arg), kernel.position(number)
            place = self.places[given]
            if not isinstance(place, MemorySlot):
                handle.set_arg(index, place)
            elif isinstance(place.memory, BufferMemory):
                handle.set_arg(index, place.memory.argument(given.type, place.offset))
            else:
                is_buffer = image_of(given.type) is None
                form = byte_count(given.type) if is_buffer else given.type
                bindings.append((index, self._bound(Binding(place.memory, place.offset, form))))
        for index, bound in enumerate(kernel.bounds, len(args)):
            handle.set_arg(index, np.int32(bound))
        rows = row_arguments(kernel, args)
        for index, start, _ in rows:
            handle.set_arg(index, np.int32(start))
        for scalar in kernel.scalars:
            value = np.uint32(scalar.value) if scalar.bytes == 4 else np.uint64(scalar.value)
            handle.set_arg(scalar.position, value)
        moving = tuple(row for row in rows if row.step)
        local = kernel.local_size
        return [Launch(handle, kernel.global_size, local, tuple(bindings), sizes, moving)]

    def call(self, command: HostCommand, node: str) -> Command:
        """Return the call of a function on the host."""
        arguments: list[cl.Buffer | int | HostArray | Array] = []
        for value, is_written in command.arguments:
            if isinstance(value, str):
                arguments.append(self.resources.weights.get(value))
            elif command.is_on_host:
                dtype, shape = array_type(value)
                arguments.append(HostArray(self._buffer(value), shape, dtype, is_written))
            else:
                arguments.append(self._buffer(value))
        call, fence = command.call, command.graph.FENCE
        function = host_function(command.accelerator, call.function)
        return Call(function, call.function, node, tuple(arguments), call.scalars, fence)

    def _buffer(self, value: SSAValue) -> cl.Buffer | int:
        """Return the buffer that begins with a value, or the number of its binding."""
        place, size = self.places[value], byte_count(value.type)
        assert isinstance(place, MemorySlot), "tensors of graphs lie in buffers"
        if isinstance(place.memory, BufferMemory):
            return place.memory.part(place.offset, size)
        return self._bound(Binding(place.memory, place.offset, size))

    def _bound(self, binding: Binding) -> int:
        """Return the number of a binding, adding it if it is new."""
        return self.bindings.setdefault(binding, len(self.bindings))

    def _kernel(self, kernel: Kernel) -> cl.Kernel:
        name = kernel.function_name
        if not kernel.program:
            return cl.Kernel(self.resources.programs[name], name)
        arguments = len(kernel.arg_types) + len(kernel.scalars)
        return kernel_of_binary(self.resources.binaries[kernel.program], name, arguments)

    def _memory(self, value: SSAValue) -> tuple[int | cl.Buffer | cl.Image, int]:
        """Return the memory object that holds a value, and the value's byte offset in it."""
        place = self.places[value]
        if not isinstance(place, MemorySlot):
            return place, 0
        memory = place.memory
        return (memory.buffer if isinstance(memory, BufferMemory) else memory), place.offset
