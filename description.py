"""The description of a compiled program: all data that a runtime needs to launch it.

`CompiledModel.describe` returns one; docs/description.md explains an example line by line.

Memories are objects of the device. Values are byte ranges of a memory, possibly seen as an image.
Commands refer to kernels and values by their positions in `kernels` and `values`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar, cast

from .errors import CloptError
from .files.records import RecordError, read_record, record_as_json, schema_of

VERSION = 1
"""The version of the format. Readers of a version must ignore fields that they do not know."""


@dataclass(frozen=True)
class ImageInfo:
    """An OpenCL image whose channel order is CL_RGBA."""

    kind: Literal["image1d_buffer", "image2d", "image2d_array"]
    channel_type: str
    """The OpenCL name of the channel type: CL_FLOAT, CL_HALF_FLOAT, CL_SIGNED_INT8, …"""
    width: int
    """In texels, like the other extents."""
    height: int = 1
    layers: int = 1


@dataclass(frozen=True)
class MemoryInfo:
    """A buffer or an image object of the device."""

    kind: Literal["input", "output", "arena", "intermediate", "constant"]
    """The caller provides inputs and outputs, and may provide arenas. Constants are filled once."""
    bytes: int
    name: str = ""
    key: str = ""
    """The tensor among the weights that holds the bytes of a constant."""
    image: ImageInfo | None = None
    """The image, if the memory is one; absent for a buffer."""


@dataclass(frozen=True)
class PortInfo:
    """An input or an output: a tensor, row-major in its memory unless the memory is an image."""

    name: str
    type: str
    """The numpy name of the element type, such as float32."""
    shape: tuple[int, ...]
    memory: int


@dataclass(frozen=True)
class ValueInfo:
    """A byte range of a memory, as commands use it.

    The elements are row-major in `shape`, which is the physical shape: a value in blocks of four
    channels has a last axis of four. In an image this axis is the texel, and the other axes, in
    row-major order, are the layers, rows and columns.
    """

    name: str
    type: str
    """The numpy name of the element type. Integers have no sign: int8 may hold uint8."""
    shape: tuple[int, ...]
    memory: int
    bytes: int
    offset: int = 0
    """The offset of the first byte in the memory."""
    image: ImageInfo | None = None
    """The image that kernels receive; absent if they receive a buffer."""
    pitch: int = 0
    """Bytes between the rows of a 2-D image in an arena."""
    view_of: int | None = None
    """The value that contains the bytes of this one; absent if it has its own bytes."""
    live: tuple[int, int] | None = None
    """The first command that writes it or a view of it, and the last that uses one; absent for
    views, inputs, outputs and constants."""


@dataclass(frozen=True)
class ParameterInfo:
    """A parameter of a kernel: a buffer, an image, or a scalar that always has the same value."""

    kind: Literal["buffer", "image", "scalar"]
    type: str
    """The numpy name of the element type."""
    shape: tuple[int, ...] = ()
    access: Literal["", "read", "write"] = ""
    """Empty for a scalar."""
    value: int | None = None
    """The value, if it is a scalar."""


@dataclass(frozen=True)
class KernelInfo:
    """A kernel and its NDRange. Several kernels may share one function of the source."""

    name: str
    function: str
    """Its name in the source or in its binary."""
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    """Empty if the runtime may choose."""
    parameters: tuple[ParameterInfo, ...]
    """In the order of the arguments."""
    in_place: tuple[tuple[int, int], ...] = ()
    """Pairs of buffers, as positions among the arguments of a launch, that may be the same bytes.
    """
    nodes: str = ""
    """The nodes of the network that it computes, as in the comment above its source."""
    plan: str = ""
    """The rule and the parameters of its schedule, as `#tir.plan` prints them."""
    binary: str = ""
    """The tensor among the weights that holds its program binary; empty if the source has it."""


@dataclass(frozen=True)
class LaunchInfo:
    """A launch of a kernel."""

    kernel: int
    arguments: tuple[int, ...]
    """A value for each parameter of the kernel except scalars."""
    node: str = ""
    """The node of the network that it computes, if known."""
    op: Literal["launch"] = "launch"


@dataclass(frozen=True)
class CopyInfo:
    """A copy of a whole value to another one of the same size."""

    source: int
    destination: int
    node: str = ""
    op: Literal["copy"] = "copy"


@dataclass(frozen=True)
class OffloadInfo:
    """A command of an accelerator's graph, computed by a library."""

    graph: int
    command: int
    """Its position among the commands of the graph."""
    arguments: tuple[int, ...]
    """The values of the tensors that it reads, then those that it writes, then its scratch memory.
    """
    node: str = ""
    op: Literal["offload"] = "offload"


CommandInfo: TypeAlias = LaunchInfo | CopyInfo | OffloadInfo


@dataclass(frozen=True)
class GraphInfo:
    """A part of the network that an accelerator computes."""

    name: str
    accelerator: str
    commands: tuple[str, ...]
    """The operation of each command."""
    text: str
    """The graph in the dialect of its accelerator."""
    weights: tuple[str, ...] = ()
    """The tensors among the weights that hold its constants."""
    fence: Literal["queue", "events", "finish"] = "queue"
    """How its commands are ordered with the commands around them: on the same queue, on a queue of
    the device with events between, or by the host, which waits before and after each."""
    memory: Literal["buffers", "host"] = "buffers"
    """Where its commands find their tensors: in buffers, or in host memory."""


@dataclass(frozen=True)
class Description:
    """A compiled program.

    Commands run one after the other on one in-order queue.
    """

    clopt: str
    """The version of clopt that compiled it."""
    name: str
    target: str
    """The device for which the code was compiled."""
    inputs: tuple[PortInfo, ...]
    outputs: tuple[PortInfo, ...]
    memories: tuple[MemoryInfo, ...]
    """The memories of inputs, then of outputs, then all others."""
    values: tuple[ValueInfo, ...]
    kernels: tuple[KernelInfo, ...]
    commands: tuple[CommandInfo, ...]
    standard: str
    """The version of OpenCL C, for `-cl-std=`."""
    requires: tuple[str, ...] = ()
    """Features that the kernels need in addition to OpenCL 1.2: fp16, fp64, images, rounding (build
    with -cl-fp32-correctly-rounded-divide-sqrt), dots (cl_khr_integer_dot_product), ptx_dots."""
    graphs: tuple[GraphInfo, ...] = ()
    remarks: tuple[str, ...] = ()
    """Sentences about the points in which the program differs from the request."""
    source: str = ""
    """The OpenCL C of all kernels."""
    source_file: str = ""
    """Name of the file with the source, in the description's folder, if `source` is not set."""
    weights_file: str = ""
    """Name of the safetensors file with constants and binaries, in the same folder."""
    format: Literal["clopt-program"] = "clopt-program"
    version: Literal[1] = VERSION

    def kernel_source(self, kernel: KernelInfo) -> str:
        """Return the OpenCL C that builds one kernel; the whole source for foreign kernels."""
        from .backends.kernel_source import split_kernels

        return split_kernels(self.source).get(kernel.function, self.source)

    @property
    def weight_keys(self) -> set[str]:
        """The keys of the arrays that hold constants, binaries and graphs."""
        keys = {memory.key for memory in self.memories if memory.key}
        keys |= {kernel.binary for kernel in self.kernels if kernel.binary}
        return keys.union(*(graph.weights for graph in self.graphs))

    def bytes_by_kind(self) -> dict[str, int]:
        """Return the device bytes of inputs, outputs, arenas, intermediates and constants."""
        sizes: dict[str, int] = {}
        for memory in self.memories:
            sizes[memory.kind] = sizes.get(memory.kind, 0) + memory.bytes
        return sizes

    def as_json(self) -> dict[str, Any]:
        """Return the description as JSON values, without fields that have their default."""
        return record_as_json(self)

    @classmethod
    def from_json(cls, table: object) -> Description:
        """Read the result of `as_json`; raise CloptError for anything else."""
        try:
            found = read_record(cls, table)
            _check(found)
        except RecordError as error:
            reason = str(error).lstrip(".: ")
            raise CloptError(f"This is not a description of a program: {reason}.") from error
        return found

    def __str__(self) -> str:
        """Return JSON text with one line for each row of a table."""
        return "{\n" + ",\n".join(map(_line, self.as_json().items())) + "\n}"


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of a description."""
    return schema_of(Description)


def _line(field: tuple[str, Any]) -> str:
    name, value = field
    if isinstance(value, list) and value:
        rows = ",\n".join(f"    {json.dumps(row)}" for row in cast("list[Any]", value))
        return f'  "{name}": [\n{rows}\n  ]'
    return f'  "{name}": {json.dumps(value)}'


def _check(found: Description) -> None:
    """Check what types cannot express: positions, byte ranges, numbers of arguments."""
    for number, value in enumerate(found.values):
        where = f"values[{number}]"
        memory = _at(found.memories, value.memory, f"{where}.memory")
        if not 0 <= value.offset <= memory.bytes - value.bytes or value.bytes < 0:
            raise RecordError(f"{where}: its bytes are outside its memory")
    for port in (*found.inputs, *found.outputs):
        _at(found.memories, port.memory, "a port's memory")
    for number, command in enumerate(found.commands):
        where = f"commands[{number}]"
        match command:
            case LaunchInfo():
                kernel = _at(found.kernels, command.kernel, where)
                arguments = command.arguments
                count = sum(each.kind != "scalar" for each in kernel.parameters)
                if len(arguments) != count:
                    found_text = f"{where}: expected {count} arguments, found {len(arguments)}"
                    raise RecordError(found_text)
            case CopyInfo():
                arguments = (command.source, command.destination)
            case OffloadInfo():
                graph = _at(found.graphs, command.graph, where)
                _at(graph.commands, command.command, where)
                arguments = command.arguments
        for argument in arguments:
            _at(found.values, argument, where)


_Row = TypeVar("_Row")


def _at(rows: tuple[_Row, ...], number: int, where: str) -> _Row:
    if not 0 <= number < len(rows):
        raise RecordError(f"{where}: {number} is out of range")
    return rows[number]
