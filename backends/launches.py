"""Launches of a compiled program as plain data, which a runtime executes without the IR.

Memories are numbered: inputs and outputs first, then arenas, other buffers, and constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, TypeAlias, TypeVar

from ..dialects.ranged_size import RangedSize
from ..ml_types import dtype_named
from ..tensor_info import TensorInfo

_RowT = TypeVar("_RowT", "RowStart", "Repeated")


class MemoryRange(NamedTuple):
    """A range of bytes of a memory."""

    memory: int
    offset: int
    bytes: int


class Buffer(NamedTuple):
    """A kernel argument that is a buffer."""

    position: int
    part: MemoryRange


class Integer(NamedTuple):
    """A kernel argument that is an integer."""

    position: int
    type: str
    """The name of its numpy type."""
    value: int


class RowStart(NamedTuple):
    """A kernel argument that is the index of the first element of a row."""

    position: int
    start: int
    """Its value in iteration 0 of the repetition that contains the launch."""
    step: int
    """The elements by which the row moves after each iteration."""


class Repeated(NamedTuple):
    """A repetition of the commands from `first` up to `end`."""

    first: int
    end: int
    trips: int


@dataclass(frozen=True)
class LaunchRecord:
    """A launch of a kernel of the source."""

    function: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    buffers: tuple[Buffer, ...]
    integers: tuple[Integer, ...]
    sizes: tuple[RangedSize, ...] | None = None
    """The global size for smaller values of the program's symbol; None if it stays the same."""
    rows: tuple[RowStart, ...] | None = None


@dataclass(frozen=True)
class BufferCopy:
    """A copy between ranges of equal length."""

    source: MemoryRange
    destination: MemoryRange
    steps: tuple[int, int] | None = None
    """The bytes by which the ranges move after each iteration of a repetition."""


class FunctionArgument(NamedTuple):
    """An argument of a function on the host: a buffer, or an array in host memory."""

    part: MemoryRange | None
    """The bytes of a buffer; None for an array that is one of the weights."""
    key: str = ""
    """The key of the weight."""
    type: str = ""
    """The numpy type of an array over a buffer; empty if the function gets the buffer itself."""
    shape: tuple[int, ...] = ()
    is_written: bool = False


@dataclass(frozen=True)
class FunctionCall:
    """A call of an accelerator's function on the host."""

    accelerator: str
    function: str
    node: str
    """The network's node that it computes, if known."""
    fence: str
    """A `dialects.crossings.Fence`."""
    arguments: tuple[FunctionArgument, ...]
    scalars: tuple[int | float, ...]


LaunchedCommand: TypeAlias = LaunchRecord | BufferCopy | FunctionCall


@dataclass(frozen=True)
class Launches:
    """A program of kernels, buffers, and calls on the host."""

    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    sizes: tuple[int, ...]
    """The bytes of each input, then of each output."""
    arenas: tuple[int, ...]
    """The bytes of each arena."""
    buffers: tuple[int, ...]
    """The bytes of each buffer outside of arenas."""
    constants: tuple[tuple[str, int], ...]
    """The key and the number of bytes of each constant."""
    commands: tuple[LaunchedCommand, ...]
    largest: int | None = None
    """The greatest value of the symbol whose smaller values the program also serves."""
    repeated: tuple[Repeated, ...] | None = None

    @property
    def functions(self) -> list[str]:
        """The kernels of the source that are launched, without duplicates."""
        launches = (c for c in self.commands if isinstance(c, LaunchRecord))
        return list(dict.fromkeys(launch.function for launch in launches))

    def as_json(self) -> dict[str, Any]:
        """Return the launches as JSON values that `from_json` reads."""
        table = _without_none(asdict(self), "largest", "repeated")
        optional = ("sizes", "rows", "steps")
        table["commands"] = [_without_none(command, *optional) for command in table["commands"]]
        return table | {key: ports_as_json(getattr(self, key)) for key in ("inputs", "outputs")}

    @classmethod
    def from_json(cls, table: dict[str, Any]) -> Launches:
        """Return the launches that `as_json` wrote."""
        return cls(
            ports_of_json(table["inputs"]),
            ports_of_json(table["outputs"]),
            tuple(table["sizes"]),
            tuple(table["arenas"]),
            tuple(table["buffers"]),
            tuple((key, size) for key, size in table["constants"]),
            tuple(map(_command, table["commands"])),
            table.get("largest"),
            _rows(Repeated, table.get("repeated")),
        )


def ports_as_json(ports: Sequence[TensorInfo]) -> list[dict[str, Any]]:
    """Return inputs or outputs as JSON values that `ports_of_json` reads."""
    return [asdict(port) | {"dtype": port.dtype.name} for port in ports]


def ports_of_json(rows: Sequence[dict[str, Any]]) -> tuple[TensorInfo, ...]:
    """Return inputs or outputs that `as_json` wrote."""
    return tuple(
        TensorInfo(
            row["name"],
            tuple(row["shape"]),
            dtype_named(row["dtype"]),
            None if row["image"] is None else tuple(row["image"]),
            tuple(row["symbols"]),
            row["is_ranked"],
            row.get("container", ""),
            row.get("in_place", ""),
            tuple(row.get("keys", ())),
        )
        for row in rows
    )


def _without_none(table: dict[str, Any], *keys: str) -> dict[str, Any]:
    """Return a table without the optional entries that most programs do not have."""
    return {name: value for name, value in table.items() if name not in keys or value is not None}


def _rows(kind: type[_RowT], rows: Sequence[Sequence[int]] | None) -> tuple[_RowT, ...] | None:
    return None if rows is None else tuple(kind(*row) for row in rows)


def _argument(row: Sequence[Any]) -> FunctionArgument:
    part, key, type_, shape, is_written = row
    part = None if part is None else MemoryRange(*part)
    return FunctionArgument(part, key, type_, tuple(shape), is_written)


def _command(row: dict[str, Any]) -> LaunchedCommand:
    if "source" in row:
        steps = row.get("steps")
        parts = MemoryRange(*row["source"]), MemoryRange(*row["destination"])
        return BufferCopy(*parts, None if steps is None else (steps[0], steps[1]))
    if "accelerator" in row:
        row["arguments"] = tuple(map(_argument, row["arguments"]))
        row["scalars"] = tuple(row["scalars"])
        return FunctionCall(**row)
    local, sizes = row["local_size"], row.get("sizes")
    return LaunchRecord(
        row["function"],
        tuple(row["global_size"]),
        None if local is None else tuple(local),
        tuple(Buffer(position, MemoryRange(*part)) for position, part in row["buffers"]),
        tuple(Integer(*integer) for integer in row["integers"]),
        None if sizes is None else tuple(RangedSize(*size) for size in sizes),
        _rows(RowStart, row.get("rows")),
    )
