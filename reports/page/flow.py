"""A program as a graph: the commands that write the values which a command reads."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from ...description import (
    CopyInfo,
    Description,
    GraphInfo,
    LaunchInfo,
    MemoryInfo,
    OffloadInfo,
    PortInfo,
    ValueInfo,
)
from ..decisions import Decisions, ReportedTensor

_RESULT = re.compile(r"(?m)= (?P<op>[\w.]+) .*-> ![\w.]+<(?P<shape>(?:\d+x)+)(?P<type>\w+)")
"""A command in the text of a graph: its name and the type of its last result."""

KERNEL, COPY, INPUT, OUTPUT = "kernel", "copy", "input", "output"


class FlowLayout(Enum):
    """The kinds of layouts that have colours on the page; the value is the displayed name."""

    PLAIN = "plain"
    BLOCKS = "blocks of channels"
    TEXTURE = "texture"
    OWN = "inside an accelerator"
    BUFFER = "buffer"
    """Plain or in blocks: a program alone does not distinguish them."""


@dataclass(frozen=True)
class FlowValue:
    """A value between two steps."""

    shape: tuple[int, ...]
    type: str
    layout: FlowLayout
    detail: str
    """The layout in a few words, or the name of its kind."""
    bytes: int


@dataclass(frozen=True)
class FlowStep:
    """An input, a command or an output."""

    kind: str
    """`kernel`, `copy`, `input`, `output`, or the name of an accelerator."""
    name: str
    """The kernel, the accelerator's command, or the port."""
    number: int
    """Its position among the commands, the inputs or the outputs."""
    reads: tuple[int, ...]
    """The steps whose values it reads, in order."""
    writes: tuple[FlowValue, ...]


def steps_of(description: Description, decisions: Decisions | None) -> list[FlowStep]:
    """Return the inputs, the commands and the outputs of a program, in this order."""
    known = decisions is not None and len(decisions.commands) == len(description.commands)
    return _Builder(description, decisions if known else None).run()


@dataclass
class _Builder:
    description: Description
    decisions: Decisions | None
    steps: list[FlowStep] = field(default_factory=list[FlowStep])
    written: defaultdict[object, list[tuple[int, int, int]]] = field(
        default_factory=lambda: defaultdict(list[tuple[int, int, int]])
    )
    """The byte ranges that steps wrote, with the numbers of the steps, by memory or value."""

    def __post_init__(self) -> None:
        self.results = [_results_of(graph) for graph in self.description.graphs]

    def run(self) -> list[FlowStep]:
        for number, port in enumerate(self.description.inputs):
            self.steps.append(self._port(INPUT, number, port, ()))
            self._write(("memory", port.memory), 0, self._memory(port.memory).bytes)
        for number in range(len(self.description.commands)):
            self._command(number)
        for number, port in enumerate(self.description.outputs):
            size = self._memory(port.memory).bytes
            writers = self._writers(("memory", port.memory), 0, size)
            self.steps.append(self._port(OUTPUT, number, port, writers))
        return self.steps

    def _port(self, kind: str, number: int, port: PortInfo, reads: tuple[int, ...]) -> FlowStep:
        memory = self._memory(port.memory)
        layout = FlowLayout.PLAIN if memory.image is None else FlowLayout.TEXTURE
        value = FlowValue(port.shape, port.type, layout, layout.value, memory.bytes)
        return FlowStep(kind, port.name, number, reads, (value,) if kind == INPUT else ())

    def _command(self, number: int) -> None:
        command = self.description.commands[number]
        reads, writes = self._operands(number)
        sources = {w for i in reads for w in self._writers(*self._place(i))}
        values = [self._value(number, i) for i in writes]
        match command:
            case LaunchInfo():
                kind, name = KERNEL, self.description.kernels[command.kernel].name
            case CopyInfo():
                kind, name = COPY, "copy"
            case OffloadInfo():
                graph = self.description.graphs[command.graph]
                kind, name = graph.accelerator, graph.commands[command.command]
        self.steps.append(FlowStep(kind, name, number, tuple(sorted(sources)), tuple(values)))
        for i in writes:
            self._write(*self._place(i))

    def _operands(self, number: int) -> tuple[list[int], list[int]]:
        """Return the values that a command reads and those that it writes, without constants."""
        command = self.description.commands[number]
        match command:
            case CopyInfo():
                return [command.source], [command.destination]
            case LaunchInfo():
                kernel = self.description.kernels[command.kernel]
                arrays = [p for p in kernel.parameters if p.kind != "scalar"]
                access = [p.access == "write" for p in arrays]
                pairs = list(zip(command.arguments, access, strict=True))
            case OffloadInfo():
                # A description does not tell them apart, but values are written before any use.
                pairs = [(i, not self._writers(*self._place(i))) for i in command.arguments]
        pairs = [(i, is_written) for i, is_written in pairs if not self._is_constant(i)]
        return [i for i, w in pairs if not w], [i for i, w in pairs if w]

    def _is_constant(self, value: int) -> bool:
        return self._memory(self.description.values[value].memory).kind == "constant"

    def _memory(self, number: int) -> MemoryInfo:
        return self.description.memories[number]

    def _place(self, number: int) -> tuple[object, int, int]:
        """Return the place of a value: a port's memory or a value, and a byte range."""
        value = self.description.values[number]
        end = value.offset + value.bytes
        if self._memory(value.memory).kind in ("input", "output"):
            return ("memory", value.memory), value.offset, end
        root = number if value.view_of is None else value.view_of
        return ("value", root), value.offset, end

    def _write(self, place: object, begin: int, end: int) -> None:
        self.written[place].append((begin, end, len(self.steps) - 1))

    def _writers(self, place: object, begin: int, end: int) -> tuple[int, ...]:
        """Return the steps that last wrote to a byte range."""
        found: list[int] = []
        for first, last, step in reversed(self.written[place]):
            if first < end and begin < last:
                found.append(step)
                if first <= begin and end <= last:
                    break
        return tuple(sorted(set(found)))

    def _value(self, command: int, number: int) -> FlowValue:
        value = self.description.values[number]
        for tensor in self._tensors(command):
            if tensor.physical == value.shape and tensor.is_texture == (value.image is not None):
                return _logical(tensor, value)
        layout, shape, type_ = FlowLayout.PLAIN, value.shape, value.type
        found = self.description.commands[command]
        if value.image is not None:
            layout = FlowLayout.TEXTURE
        elif isinstance(found, OffloadInfo):
            # Its inner tensors are bytes to us; the text of the graph has their shapes.
            if value.type == "int8" and len(value.shape) == 1:
                layout = FlowLayout.OWN
                shape, type_ = self.results[found.graph].get(found.command, (shape, type_))
        elif self.decisions is None:
            layout = FlowLayout.BUFFER
        return FlowValue(shape, type_, layout, layout.value, value.bytes)

    def _tensors(self, command: int) -> Iterator[ReportedTensor]:
        if self.decisions is not None:
            for region in self.decisions.commands[command]:
                yield from self.decisions.regions[region].results


def _results_of(graph: GraphInfo) -> dict[int, tuple[tuple[int, ...], str]]:
    """Return the shape and type of each command's result in a graph; empty for unusual text."""
    lines = [m for m in _RESULT.finditer(graph.text) if not m["op"].endswith(".constant")]
    if tuple(line["op"] for line in lines) != graph.commands:
        return {}
    return {
        number: (tuple(map(int, line["shape"].split("x")[:-1])), line["type"])
        for number, line in enumerate(lines)
    }


def _logical(tensor: ReportedTensor, value: ValueInfo) -> FlowValue:
    if tensor.is_texture:
        layout = FlowLayout.TEXTURE
    else:
        layout = FlowLayout.PLAIN if tensor.is_plain else FlowLayout.BLOCKS
    return FlowValue(tensor.shape, value.type, layout, tensor.layout, value.bytes)


def readers_of(steps: Sequence[FlowStep]) -> list[list[int]]:
    """Return the readers of each step's results."""
    readers: list[list[int]] = [[] for _ in steps]
    for number, step in enumerate(steps):
        for source in step.reads:
            readers[source].append(number)
    return readers
