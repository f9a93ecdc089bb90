"""Emits the operations of a program: loads, products, ALU steps, stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from ....dialects.vta import (
    AluKind,
    AluOp,
    Config,
    GemmOp,
    LoadAcc8Op,
    LoadOp,
    Loop,
    Memory,
    Scratchpad,
    StoreOp,
    Uop,
)
from .folding import Tap, UopKernel, fold
from .steps import AddBias, AddTensor, Immediate, Step
from .windows import Span


class Ring:
    """Slots of a scratchpad that are filled in turn, and the contents of each."""

    def __init__(self, start: int, size: int, count: int) -> None:
        self.start, self.size = start, size
        self.keys: list[object] = [None] * count
        self.next = 0

    def place(self, key: object) -> tuple[int, bool]:
        """Return the address of the slot for `key`, and whether it must be filled."""
        if key in self.keys:
            return self.start + self.keys.index(key) * self.size, False
        slot = self.next
        self.next = (slot + 1) % len(self.keys)
        self.keys[slot] = key
        return self.start + slot * self.size, True


@dataclass(frozen=True)
class TensorAddress:
    """The start of a tensor: an element of a buffer or constant."""

    buffer: SSAValue
    offset: int = 0

    def shifted(self, elements: int) -> TensorAddress:
        """Return the address `elements` elements further."""
        return TensorAddress(self.buffer, self.offset + elements)


@dataclass(frozen=True)
class ActivationBox:
    """A piece of activations: channels of rows of elements.

    In DRAM, from `offset` on, channels are `channel` elements apart and rows `row` elements apart.
    In the scratchpad channels are `pad_channel` elements apart, and rows have no gaps.
    """

    offset: int
    channels: int
    rows: int
    columns: int
    channel: int
    row: int
    pad_channel: int
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)

    @property
    def is_plain(self) -> bool:
        """Whether rows follow each other without gaps."""
        return self.pads == (0, 0, 0, 0) and (self.row == self.columns or self.rows == 1)

    def transfers(self) -> list[tuple[int, int, tuple[int, int], int]]:
        """Return its transfers: scratchpad offset, DRAM offset, (rows, elements), stride."""
        size = self.rows * self.columns
        if self.is_plain and (self.pad_channel == size or self.channels == 1):
            return [(0, self.offset, (self.channels, size), self.channel)]
        return [
            (
                i * self.pad_channel,
                self.offset + i * self.channel,
                (self.rows, self.columns),
                self.row,
            )
            for i in range(self.channels)
        ]


@dataclass(frozen=True)
class Results:
    """Tiles of a result in the accumulator, from `base` on: channels of rows of elements."""

    base: int
    channels: int
    rows: int
    columns: int
    channel: int
    row: int

    def axes(self, *, src: bool = False, vector: bool = False) -> list[Loop]:
        """Return the loops over the tiles.

        `src` also advances the second index; `vector` advances it by channel.
        """
        return [
            Loop(self.channels, self.channel, self.channel * src + vector, 0),
            Loop(self.rows, self.row, self.row * src, 0),
            Loop(self.columns, 1, int(src), 0),
        ]


@dataclass
class Emitter:
    """The operations of a program so far."""

    config: Config
    distance: int
    ops: list[Operation] = field(default_factory=list[Operation])

    @property
    def room(self) -> int:
        """The micro-op limit of an instruction, such that two instructions fit."""
        return max(1, self.config.depth(Memory.UOP) // 2)

    def load(self, space: Scratchpad, base: int, at: TensorAddress, box: ActivationBox) -> None:
        """Load a box into the inputs, weights or sums."""
        for first, offset, sizes, stride in box.transfers():
            self.ops.append(
                LoadOp(
                    space,
                    base + first,
                    at.buffer,
                    at.offset + offset,
                    sizes,
                    _stride(sizes, stride),
                    box.pads,
                )
            )

    def load_acc8(self, base: int, at: TensorAddress, box: ActivationBox) -> None:
        """Load activations into the accumulator."""
        for first, offset, sizes, stride in box.transfers():
            self.ops.append(
                LoadAcc8Op(
                    Scratchpad.ACC,
                    base + first,
                    at.buffer,
                    at.offset + offset,
                    sizes,
                    _stride(sizes, stride),
                    box.pads,
                )
            )

    def store(self, base: int, at: TensorAddress, box: ActivationBox) -> None:
        """Store a box of results."""
        for first, offset, sizes, stride in box.transfers():
            self.ops.append(
                StoreOp(
                    Scratchpad.OUT,
                    base + first,
                    at.buffer,
                    at.offset + offset,
                    sizes,
                    _stride(sizes, stride),
                )
            )

    def gemm(
        self,
        base: Uop,
        axes: Sequence[Loop],
        taps: Sequence[Tap] = ((0, 0),),
        *,
        reset: bool = False,
    ) -> None:
        """Emit the products of a nest, or with `reset` zeros in its sums."""
        for uops, loops in self._fold(base, axes, taps):
            self.ops.append(GemmOp(reset, uops, loops))

    def _fold(
        self, base: Uop, axes: Sequence[Loop], taps: Sequence[Tap] = ((0, 0),)
    ) -> tuple[UopKernel, ...]:
        return fold(base, tuple(axes), tuple(taps), distance=self.distance, room=self.room)

    def alu(self, kind: AluKind, immediate: int | None, base: Uop, axes: Sequence[Loop]) -> None:
        """Emit one ALU operation on every element of a nest."""
        for uops, loops in self._fold(base, axes):
            self.ops.append(AluOp(kind, immediate, uops, loops))

    def steps(
        self,
        steps: Sequence[Step],
        results: Results,
        biases: Mapping[SSAValue, int],
        other: int,
        places: Mapping[SSAValue, TensorAddress],
        box: ActivationBox,
    ) -> None:
        """Emit the steps after a sum.

        `biases` are their addresses in the accumulator; tensors are loaded to `other`.
        """
        for step in steps:
            match step:
                case Immediate(kind, value):
                    self.alu(kind, value, Uop(results.base, results.base), results.axes(src=True))
                case AddBias(bias):
                    at = Uop(results.base, biases[bias])
                    self.alu(AluKind.ADD, None, at, results.axes(vector=True))
                case AddTensor(tensor, left_shift):
                    self.load_acc8(other, places[tensor], box)
                    if left_shift:
                        self.alu(
                            AluKind.SHR, -left_shift, Uop(other, other), results.axes(src=True)
                        )
                    at = Uop(results.base, other)
                    self.alu(AluKind.ADD, None, at, results.axes(src=True))


def _stride(sizes: tuple[int, int], stride: int) -> int:
    """Return the stride; it is irrelevant for a single row."""
    return sizes[1] if sizes[0] == 1 else stride


def input_box(
    offset: int, channels: int, channel: int, pad_channel: int, rows: Span, columns: Span,
    size: tuple[int, int],
) -> ActivationBox:  # fmt: skip
    """Return the box of inputs in spans of rows and columns, in an image of `size`."""
    top, inside, bottom = rows.clipped(size[0])
    left, width, right = columns.clipped(size[1])
    first = max(rows.first, 0) if rows.step == 1 else rows.first
    start = offset + first * size[1] + max(columns.first, 0)
    pads = (top, bottom, left, right)
    return ActivationBox(
        start, channels, inside, width, channel, size[1] * rows.step, pad_channel, pads
    )
