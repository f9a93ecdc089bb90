"""Conversion of a compiled module to its launches as plain data."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ..dialects import cl
from ..dialects.cl.images import image_of
from ..dialects.cl.ops import byte_count
from ..dialects.node_names import named_node
from ..tensor_info import TensorInfo
from ..weights import Weights
from .host_commands import HostCommand, array_type, host_commands
from .launches import (
    Buffer,
    BufferCopy,
    FunctionArgument,
    FunctionCall,
    Integer,
    LaunchedCommand,
    Launches,
    LaunchRecord,
    MemoryRange,
    Repeated,
)
from .offload import needs_library, with_launches
from .programs import program_of
from .row_arguments import buffer_of_row, copy_steps, row_arguments


def describe_launches(module: ModuleOp, weights: Weights) -> Launches | None:
    """Return the launches of `module`, or None if it has images or commands of a library.

    Images and libraries can be run in several ways, and only the device decides which. Arrays that
    accelerators compute for their commands are added to `weights`.
    """
    if needs_library(program_of(module)):
        return None
    count = len(cl.commands(program_of(module)))
    module = with_launches(module, weights)
    program = program_of(module)
    kernels = cl.kernels_of(module)
    values = cl.parts(program)
    launched = (op for op in cl.commands(program) if isinstance(op, cl.EnqueueKernelOp))
    if (
        len(cl.commands(program)) != count  # a profile needs one row per command of the model
        or any(image_of(value.type) is not None for value in values)
        or any(kernels[op.kernel_name].program for op in launched)
        or any(kernel.global_size is None for kernel in kernels.values())
    ):
        return None
    return _LaunchDescriber(module, kernels, values).run()


class _LaunchDescriber:
    """Numbering of the memories of one program, in which its commands refer to them."""

    def __init__(
        self,
        module: ModuleOp,
        kernels: Mapping[str, cl.Kernel],
        values: Mapping[SSAValue, cl.MemorySlice],
    ) -> None:
        self.program = program = program_of(module)
        self.kernels = kernels
        self.values = values
        ops = list(program.body.block.ops)
        self.arenas: list[SSAValue] = [op.result for op in ops if isinstance(op, cl.ArenaOp)]
        self.buffers = [op.result for op in ops if isinstance(op, cl.AllocOp)]
        self.constants = [op for op in ops if isinstance(op, cl.ConstantOp)]
        memories: list[SSAValue] = [
            *program.body.block.args,
            *self.arenas,
            *self.buffers,
            *(op.result for op in self.constants),
        ]
        self.numbers = {value: number for number, value in enumerate(memories)}
        self.calls = host_commands(program)
        self.range = cl.range_of(module)

    def run(self) -> Launches:
        ports, queue = self.program.ports, cl.enqueued(self.program)
        return Launches(
            tuple(map(TensorInfo.of, self.program.input_ports)),
            tuple(map(TensorInfo.of, self.program.output_ports)),
            tuple(byte_count(port.storage_type) for port in ports),
            self._arena_sizes(),
            tuple(byte_count(value.type) for value in self.buffers),
            tuple((op.key.data, byte_count(op.result.type)) for op in self.constants),
            tuple(map(self._command, queue)),
            None if self.range is None else self.range.largest,
            tuple(Repeated(*part) for part in cl.repetitions(queue)) or None,
        )

    def _arena_sizes(self) -> tuple[int, ...]:
        """Return the bytes of each arena up to the end of its last value."""
        sizes = dict.fromkeys(self.arenas, 0)
        for value, part in self.values.items():
            if isinstance(value.owner, cl.BufferViewOp):
                span = cl.extent(value, part)
                sizes[span.memory] = max(sizes[span.memory], span.end)
        return tuple(sizes.values())

    def _command(self, op: cl.Command) -> LaunchedCommand:
        if isinstance(op, cl.EnqueueCopyOp):
            parts, steps = (self._part(op.source), self._part(op.destination)), copy_steps(op)
            return BufferCopy(*parts, steps if any(steps) else None)
        if isinstance(op, cl.EnqueueOffloadOp):
            return self._call(self.calls[op], named_node(op))
        kernel = self.kernels[op.kernel_name]
        assert kernel.global_size is not None
        bounds = enumerate(kernel.bounds, len(op.args))
        numbers = [Integer(position, "int32", bound) for position, bound in bounds]
        for scalar in kernel.scalars:
            type_ = "uint32" if scalar.bytes == 4 else "uint64"
            numbers.append(Integer(scalar.position, type_, scalar.value))
        return LaunchRecord(
            kernel.function_name,
            kernel.global_size,
            kernel.local_size,
            tuple(
                Buffer(kernel.position(i), self._part(buffer_of_row(arg)))
                for i, arg in enumerate(op.args)
            ),
            tuple(numbers),
            op.ranged_sizes,
            tuple(row_arguments(kernel, op.args)) or None,
        )

    def _call(self, command: HostCommand, node: str) -> FunctionCall:
        arguments: list[FunctionArgument] = []
        for value, is_written in command.arguments:
            if isinstance(value, str):
                arguments.append(FunctionArgument(None, value))
            elif command.is_on_host:
                dtype, shape = array_type(value)
                part = self._part(value)
                arguments.append(FunctionArgument(part, "", dtype.name, shape, is_written))
            else:
                arguments.append(FunctionArgument(self._part(value)))
        call, fence = command.call, command.graph.FENCE.value
        names = (command.accelerator, call.function, node, fence)
        return FunctionCall(*names, tuple(arguments), call.scalars)

    def _part(self, value: SSAValue) -> MemoryRange:
        part, size = self.values[value], byte_count(value.type)
        root, offset = part.root, part.offset
        if isinstance(root.owner, cl.BufferViewOp):
            root, offset = root.owner.arena, offset + root.owner.offset
        return MemoryRange(self.numbers[root], offset, size)
