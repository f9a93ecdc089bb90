"""ALU layers that work on windows of each channel, one piece of the image at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from typing import TypeAlias

from xdsl.ir import SSAValue

from ....dialects.vta import (
    AluKind,
    Config,
    Loop,
    MaxPoolOp,
    Memory,
    PoolOp,
    Uop,
    UpsampleOp,
)
from ....dialects.vta.layers import LOW, shape_of
from ....dialects.vta.windows import taps_within
from ....dialects.windows import extent
from .emitter import ActivationBox, Emitter, Results, TensorAddress
from .packing import blocks
from .steps import AddTensor, Step

ChannelwiseOp: TypeAlias = PoolOp | UpsampleOp


@dataclass(frozen=True)
class Run:
    """Results of a piece, in one dimension, that are computed in the same way.

    Each of `axes` is a loop: its extent, and its steps in the result and in the input. The loops
    begin at `start` and `source`.
    """

    start: int
    source: int
    axes: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class _Windows:
    """Windows in one dimension. The last fields are arguments of `taps_within`."""

    result: int
    size: int
    kernel: int
    stride: int
    dilation: int
    before: int
    unit: int = 1
    """Pieces of a result contain a multiple of this many elements."""

    def reads(self, begin: int, end: int) -> tuple[int, int]:
        """Return the first input element that a piece reads, and the number of elements."""
        first = begin * self.stride - self.before
        last = (end - 1) * self.stride - self.before + extent(self.kernel, self.dilation)
        return max(0, first), min(self.size, last) - max(0, first)

    def runs(self, begin: int, end: int) -> Iterator[Run]:
        """Yield the runs of a piece. Windows at the borders have fewer elements."""
        origin, _ = self.reads(begin, end)
        for taps, group in groupby(range(begin, end), self._taps):
            members = list(group)
            source = members[0] * self.stride - self.before + taps.start * self.dilation
            axes = (len(taps), 0, self.dilation), (len(members), 1, self.stride)
            yield Run(members[0] - begin, source - origin, axes)

    def _taps(self, result: int) -> range:
        return taps_within(result, self.size, self.kernel, self.stride, self.dilation, self.before)


@dataclass(frozen=True)
class _Repeats:
    """The elements of one dimension, each repeated `unit` times."""

    result: int
    unit: int

    def reads(self, begin: int, end: int) -> tuple[int, int]:
        """Return the first input element that a piece reads, and the number of elements."""
        return begin // self.unit, (end - begin) // self.unit

    def runs(self, begin: int, end: int) -> Iterator[Run]:
        """Yield the only run: all input elements, each repeated `unit` times."""
        yield Run(0, 0, ((self.unit, 1, 0), ((end - begin) // self.unit, self.unit, 1)))


_Axis: TypeAlias = _Windows | _Repeats


def _axes(layer: ChannelwiseOp) -> list[_Axis]:
    """Return how the rows and columns of a layer depend on its input."""
    x, y = shape_of(layer.x)[2:], shape_of(layer.result)[2:]
    if isinstance(layer, UpsampleOp):
        return [_Repeats(*pair) for pair in zip(y, layer.factors, strict=True)]
    return [
        _Windows(y[i], x[i], layer.kernel[i], layer.strides[i], layer.dilations[i], layer.pads[i])
        for i in range(2)
    ]


def _parts(axis: _Axis) -> list[int]:
    """Return the size of the largest piece for each number of pieces, without repetition."""
    count = axis.result // axis.unit
    return [axis.unit * part for part in dict.fromkeys(-(-count // n) for n in range(1, count + 1))]


def _cut(size: int, most: int) -> list[tuple[int, int]]:
    return [(start, min(start + most, size)) for start in range(0, size, most)]


def _lengths(axis: _Axis) -> list[tuple[int, int]]:
    """Return the piece sizes, largest first, each with the most input elements that it reads."""
    return [
        (part, max(axis.reads(*piece)[1] for piece in _cut(axis.result, part)))
        for part in _parts(axis)
    ]


@dataclass(frozen=True)
class _ChannelTile:
    """The size of the largest piece of a result."""

    channels: int
    rows: int
    columns: int

    @property
    def results(self) -> int:
        return self.channels * self.rows * self.columns


def _tile(axes: Sequence[_Axis], channels: int, room: int, tensors: int) -> _ChannelTile | None:
    """Return the largest piece that fits in `room`, whole rows first, or None.

    `room` must hold its input and `tensors` copies of its result.
    """
    rows, columns = map(_lengths, axes)
    for (width, in_width), (height, in_height) in product(columns, rows):
        size = in_height * in_width + tensors * height * width
        if size <= room:
            return _ChannelTile(min(channels, room // size), height, width)
    return None


def channelwise_fits(layer: ChannelwiseOp, config: Config, threads: int) -> bool:
    """Return whether the accumulator holds `threads` pieces of a layer and of an added tensor."""
    return _tile(_axes(layer), 1, config.depth(Memory.ACC) // threads, 2) is not None


class ChannelwiseLayer:
    """Emits one layer, with the steps after it."""

    def __init__(
        self,
        emitter: Emitter,
        layer: ChannelwiseOp,
        steps: Sequence[Step],
        result: TensorAddress,
        places: Mapping[SSAValue, TensorAddress],
        threads: int,
    ) -> None:
        self.emitter, self.steps, self.result, self.places = emitter, steps, result, places
        self.x, self.threads = layer.x, threads
        self.axes = _axes(layer)
        self.is_max = isinstance(layer, MaxPoolOp)
        self.room = emitter.config.depth(Memory.ACC) // threads
        self.tensors = 1 + any(isinstance(step, AddTensor) for step in steps)
        images, channels, *_ = shape_of(layer.x)
        self.images = blocks(images, emitter.config.batch)
        self.channels = blocks(channels, emitter.config.block_in)
        tile = _tile(self.axes, self.channels, self.room, self.tensors)
        if tile is None:
            raise ValueError("the smallest piece does not fit")
        self.tile = tile
        self.sizes = shape_of(layer.x)[2:], shape_of(layer.result)[2:]

    def write(self) -> None:
        """Emit all pieces."""
        planes = _cut(self.images * self.channels, self.tile.channels)
        rows, columns = (
            _cut(axis.result, part)
            for axis, part in zip(self.axes, (self.tile.rows, self.tile.columns), strict=True)
        )
        for number, (plane, row, column) in enumerate(product(planes, rows, columns)):
            base = number % self.threads * self.room
            self._write(base, plane, (row, column))

    def _write(
        self, base: int, plane: tuple[int, int], piece: tuple[tuple[int, int], tuple[int, int]]
    ) -> None:
        emitter = self.emitter
        starts, sizes = zip(
            *(axis.reads(*each) for axis, each in zip(self.axes, piece, strict=True)), strict=True
        )
        source = base + self.tensors * self.tile.results
        emitter.load_acc8(source, self.places[self.x], _box(plane, starts, sizes, self.sizes[0]))
        box = _box(
            plane, [begin for begin, _ in piece], [end - begin for begin, end in piece],
            self.sizes[1],
        )  # fmt: skip
        results = Results(base, box.channels, box.rows, box.columns, box.pad_channel, box.columns)
        emitter.gemm(Uop(base), results.axes(), reset=True)
        if self.is_max:
            emitter.alu(AluKind.MIN, LOW, Uop(base, base), results.axes(src=True))
        self._combine(results, source, sizes, piece)
        other = base + self.tile.results
        emitter.steps(self.steps, results, {}, other, self.places, box)
        emitter.store(base, self.result, box)

    def _combine(
        self,
        results: Results,
        source: int,
        sizes: tuple[int, ...],
        piece: tuple[tuple[int, int], tuple[int, int]],
    ) -> None:
        """Accumulate each element of each window into its result."""
        kind = AluKind.MAX if self.is_max else AluKind.ADD
        runs = (list(axis.runs(*each)) for axis, each in zip(self.axes, piece, strict=True))
        for y, x in product(*runs):
            base = Uop(
                results.base + y.start * results.row + x.start,
                source + y.source * sizes[1] + x.source,
            )
            axes = [Loop(results.channels, results.channel, sizes[0] * sizes[1], 0)]
            axes += [Loop(n, dst * results.row, src * sizes[1], 0) for n, dst, src in y.axes]
            axes += [Loop(n, dst, src, 0) for n, dst, src in x.axes]
            self.emitter.alu(kind, None, base, axes)


def _box(
    plane: tuple[int, int], starts: Sequence[int], sizes: Sequence[int], image: Sequence[int]
) -> ActivationBox:
    """Return a piece of some channels of activations, in images of size `image`."""
    (first, last), (rows, columns) = plane, sizes
    offset = (first * image[0] + starts[0]) * image[1] + starts[1]
    return ActivationBox(
        offset, last - first, rows, columns, image[0] * image[1], image[1], rows * columns
    )
