"""Conversion of a compiled module to the description of its program."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, cast

from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Attribute, SSAValue

from ..description import (
    CommandInfo,
    CopyInfo,
    Description,
    GraphInfo,
    ImageInfo,
    KernelInfo,
    LaunchInfo,
    MemoryInfo,
    OffloadInfo,
    ParameterInfo,
    PortInfo,
    ValueInfo,
)
from ..dialects import cl, tir
from ..dialects.cl.images import image_of, is_over_buffer
from ..dialects.cl.ops import byte_count
from ..dialects.nn.types import numpy_dtype
from ..dialects.node_names import named_node
from ..dialects.offload import OffloadGraphOp
from ..dialects.remarks import remarks_of
from ..errors import CloptError
from ..version import VERSION
from .kernel_source import features_of, split_kernels, standard_of
from .programs import program_of, refuse_repetitions

_TEXEL_BYTES = 16


def describe(module: ModuleOp, source: str) -> Description:
    """Return the description of the program of `module`; `source` holds its kernels.

    Raises CloptError for a module without exactly one program, or with kernels without an NDRange.
    """
    return _Describer(module, source).describe()


def describe_kernel(kernel: cl.Kernel) -> KernelInfo:
    """Return the description of a single kernel; raise CloptError if it has no NDRange."""
    if kernel.global_size is None:
        raise CloptError(
            f"The kernel @{kernel.name} has no NDRange yet; run the pipeline opencl first."
        )
    parameters = [
        _parameter(type_, "write" if number in kernel.outputs else "read")
        for number, type_ in enumerate(kernel.arg_types)
    ]
    for bound in kernel.bounds:
        parameters.append(ParameterInfo("scalar", "int32", value=bound))
    for scalar in kernel.scalars:
        parameter = ParameterInfo("scalar", f"uint{8 * scalar.bytes}", value=scalar.value)
        parameters.insert(scalar.position, parameter)
    return KernelInfo(
        kernel.name,
        kernel.function_name,
        kernel.global_size,
        kernel.local_size or (),
        tuple(parameters),
        tuple(sorted(kernel.in_place)),
        binary=kernel.program,
    )


def channel_type(element: Attribute) -> str:
    """Return the OpenCL channel type of an image's elements; signless integers count as signed."""
    dtype = numpy_dtype(element)
    floats = {"float16": "CL_HALF_FLOAT", "float32": "CL_FLOAT"}
    sign = "UNSIGNED" if dtype.kind == "u" else "SIGNED"
    return floats.get(dtype.name) or f"CL_{sign}_INT{8 * dtype.itemsize}"


def _parameter(type_: Attribute, access: Literal["read", "write"]) -> ParameterInfo:
    memref = cast("MemRefType[Attribute]", type_)
    kind = "buffer" if image_of(type_) is None else "image"
    dtype = numpy_dtype(memref.element_type).name
    return ParameterInfo(kind, dtype, tuple(memref.get_shape()), access)


def _image(type_: Attribute) -> ImageInfo | None:
    image = image_of(type_)
    if image is None:
        return None
    channel = channel_type(image.element_type)
    return ImageInfo(image.kind.value, channel, image.width, image.height, image.layers)


class _Describer:
    """Numbering of the memories, values and kernels of a program in the order of their use."""

    def __init__(self, module: ModuleOp, source: str) -> None:
        self.module = module
        self.source = source
        self.program = program_of(module)
        refuse_repetitions(self.program, "descriptions")
        self.kernels_by_name = cl.kernels_of(module)
        self.funcs = {op.sym_name.data: op for op in module.ops if isinstance(op, tir.FuncOp)}
        self.nodes = _nodes(source)
        self.parts = cl.parts(self.program)
        self.memories: list[MemoryInfo] = []
        self.memory_of: dict[SSAValue, int] = {}
        self.values: dict[SSAValue, int] = {}
        self.rows: list[ValueInfo] = []
        self.kernels: dict[str, int] = {}
        self.kernel_rows: list[KernelInfo] = []
        self.graphs = cl.graphs_in(self.program)
        self.graph_numbers = {name: number for number, name in enumerate(self.graphs)}

    def describe(self) -> Description:
        ports = self._ports()
        self._add_memories()
        commands: list[CommandInfo] = []
        for op in cl.enqueued(self.program):
            commands.append(self._command(op, len(commands)))
        count = self.program.input_count
        return Description(
            clopt=VERSION,
            name=self.program.sym_name.data,
            target=cl.target_of(self.module).name,
            inputs=ports[:count],
            outputs=ports[count:],
            memories=tuple(self.memories),
            values=tuple(self.rows),
            kernels=tuple(self.kernel_rows),
            commands=tuple(commands),
            standard=standard_of(self.source),
            requires=tuple(sorted(feature.name.lower() for feature in features_of(self.source))),
            graphs=tuple(map(_graph, self.graphs.values())),
            remarks=remarks_of(self.module),
            source=self.source,
        )

    def _ports(self) -> tuple[PortInfo, ...]:
        ports: list[PortInfo] = []
        args = self.program.body.block.args
        for number, (port, arg) in enumerate(zip(self.program.ports, args, strict=True)):
            kind = "input" if number < self.program.input_count else "output"
            self._add(MemoryInfo(kind, byte_count(arg.type), port.name, "", _image(arg.type)), arg)
            dtype = numpy_dtype(port.element_type).name
            ports.append(PortInfo(port.name, dtype, port.shape, number))
        return tuple(ports)

    def _add_memories(self) -> None:
        ops = list(self.program.body.block.ops)
        ends: dict[SSAValue, int] = {}
        for value, part in self.parts.items():
            if isinstance(value.owner, cl.BufferViewOp | cl.ImageViewOp):
                at = cl.extent(value, part)
                ends[at.memory] = max(ends.get(at.memory, 0), at.end)
        for op in ops:
            if isinstance(op, cl.ArenaOp):
                self._add(MemoryInfo("arena", ends.get(op.result, 0), "arena"), op.result)
        allocs = [op.result for op in ops if isinstance(op, cl.AllocOp)]
        images = [value for value in allocs if not is_over_buffer(value.type)]
        objects = cl.image_objects(self.program, images)
        made: dict[int, int] = {}
        for value in allocs:
            number = objects.get(value)
            if number in made:
                self.memory_of[value] = made[number]
                continue
            self._add(_object("intermediate", value), value)
            if number is not None:
                made[number] = self.memory_of[value]
        for op in ops:
            if isinstance(op, cl.ConstantOp):
                self._add(replace(_object("constant", op.result), key=op.key.data), op.result)

    def _add(self, memory: MemoryInfo, value: SSAValue) -> None:
        self.memory_of[value] = len(self.memories)
        self.memories.append(memory)

    def _command(self, op: cl.Command, number: int) -> CommandInfo:
        arguments = tuple(self._used(operand, number) for operand in op.operands)
        node = named_node(op)
        match op:
            case cl.EnqueueKernelOp():
                return LaunchInfo(self._kernel(op.kernel_name), arguments, node)
            case cl.EnqueueCopyOp():
                return CopyInfo(arguments[0], arguments[1], node)
            case cl.EnqueueOffloadOp():
                return OffloadInfo(self.graph_numbers[op.graph_name], op.index, arguments, node)

    def _kernel(self, name: str) -> int:
        if name not in self.kernels:
            kernel = describe_kernel(self.kernels_by_name[name])
            func = self.funcs.get(name)
            plan = "" if func is None or func.plan is None else str(func.plan)
            self.kernels[name] = len(self.kernel_rows)
            nodes = self.nodes.get(kernel.function, "")
            self.kernel_rows.append(replace(kernel, nodes=nodes, plan=plan))
        return self.kernels[name]

    def _used(self, value: SSAValue, command: int) -> int:
        """Return the number of a value that a command uses, and extend its live range."""
        number = self._value(value)
        root = self.values[self.parts[value].root]
        row = self.rows[root]
        if self.memories[row.memory].kind in ("arena", "intermediate"):
            first = command if row.live is None else row.live[0]
            self.rows[root] = replace(row, live=(first, command))
        return number

    def _value(self, value: SSAValue) -> int:
        if value in self.values:
            return self.values[value]
        part = self.parts[value]
        is_root = part.root is value
        root = None if is_root else self._value(part.root)
        at, owner = cl.extent(value, part), part.root.owner
        memref = cast("MemRefType[Attribute]", value.type)
        pitch = owner.pitch if is_root and isinstance(owner, cl.ImageViewOp) else None
        row = ValueInfo(
            self._name(value),
            numpy_dtype(memref.element_type).name,
            tuple(memref.get_shape()),
            self.memory_of[at.memory],
            at.end - at.begin,
            at.begin,
            _image(value.type),
            pitch or 0,
            root,
        )
        self.values[value] = len(self.rows)
        self.rows.append(row)
        return self.values[value]

    def _name(self, value: SSAValue) -> str:
        named = self.memories[self.memory_of[value]].name if value in self.memory_of else ""
        return named or value.name_hint or "value"


def _graph(graph: OffloadGraphOp) -> GraphInfo:
    commands = tuple(command.name for command in graph.commands)
    keys = tuple(sorted(graph.weight_keys))
    name, fence, memory = graph.sym_name.data, graph.FENCE.value, graph.MEMORY.value
    return GraphInfo(name, graph.ACCELERATOR, commands, str(graph), keys, fence, memory)


def _object(kind: Literal["intermediate", "constant"], value: SSAValue) -> MemoryInfo:
    """Return the memory of a value with its own memory object; an empty image has one texel."""
    size = byte_count(value.type)
    size = size if image_of(value.type) is None else max(size, _TEXEL_BYTES)
    image = None if is_over_buffer(value.type) else _image(value.type)
    return MemoryInfo(kind, size, value.name_hint or "", image=image)


def _nodes(source: str) -> Mapping[str, str]:
    """Return the comment above each kernel, which names the ONNX nodes that it computes."""
    return {
        name: " ".join(re.findall(r"(?m)^// (.*)$", text.partition("__kernel")[0]))
        for name, text in split_kernels(source).items()
    }
