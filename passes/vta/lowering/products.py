"""Layers with products: convolutions, transposed convolutions and dense layers, by tiles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from xdsl.ir import SSAValue

from ....dialects.vta import Loop, Scratchpad, Uop
from .emitter import ActivationBox, Emitter, Results, Ring, TensorAddress, input_box
from .steps import AddBias, Step
from .tiling import ProductTile, Slots, TilingProblem


@dataclass(frozen=True)
class Piece:
    """A tile of a result: its start and its size."""

    image: int
    group: int
    groups: int
    outer: int
    outers: int
    row: int
    rows: int
    column: int
    columns: int

    @property
    def channels(self) -> int:
        """The number of channel blocks in the result."""
        return self.groups * self.outers


class ProductLayer:
    """Emits one layer. `places` holds the DRAM addresses of activations and biases."""

    def __init__(
        self,
        emitter: Emitter,
        problem: TilingProblem,
        tiling: tuple[ProductTile, Slots],
        operands: tuple[SSAValue, TensorAddress],
        result: TensorAddress,
        steps: Sequence[Step],
        places: Mapping[SSAValue, TensorAddress],
    ) -> None:
        self.emitter, self.problem, self.steps, self.places = emitter, problem, steps, places
        self.tile, slots = tiling
        self.x, self.weight = operands
        self.result = result
        self.inputs = Ring(0, slots.inp, slots.inp_count)
        self.weights = Ring(0, slots.wgt, slots.wgt_count)
        self.sums = Ring(0, slots.acc, slots.acc_count)
        self.vectors = Ring(slots.acc * slots.acc_count, slots.vectors, slots.vector_count)
        self.pad_channel = slots.inp // (self.tile.groups * self.tile.inner)

    def write(self) -> None:
        """Emit all tiles."""
        for number, piece in enumerate(self._pieces()):
            self._write(number, piece)

    def _pieces(self) -> Iterator[Piece]:
        problem, tile = self.problem, self.tile
        channels = list(product(_cut(problem.groups, tile.groups), _cut(problem.outer, tile.outer)))
        places = list(
            product(
                _cut(problem.rows.result, tile.rows), _cut(problem.columns.result, tile.columns)
            )
        )
        for image in range(problem.images):
            pairs = (
                ((c, p) for p in places for c in channels)
                if tile.spatial_first
                else ((c, p) for c in channels for p in places)
            )
            for (group, outer), (row, column) in pairs:
                yield Piece(image, *group, *outer, *row, *column)

    def _write(self, number: int, piece: Piece) -> None:
        emitter = self.emitter
        base, _ = self.sums.place(number)
        results = self._results(base, piece)
        emitter.gemm(Uop(base), results.axes(), reset=True)
        for inner, inners in _cut(self.problem.inner, self.tile.inner):
            src = self._load_inputs(piece, inner, inners)
            wgt = self._load_weights(piece, inner, inners)
            self._multiply(piece, results, src, wgt, inners)
        biases = {
            step.bias: self._load_bias(step, piece)
            for step in self.steps
            if isinstance(step, AddBias)
        }
        box = self._result_box(piece)
        other = base + self.tile.results
        emitter.steps(self.steps, results, biases, other, self.places, box)
        emitter.store(base, self.result, box)

    def _results(self, base: int, piece: Piece) -> Results:
        if self.problem.channels_last:
            return Results(base, piece.channels, piece.rows, 1, 1, piece.channels)
        pad_channel = self.tile.rows * self.tile.columns
        return Results(base, piece.channels, piece.rows, piece.columns, pad_channel, piece.columns)

    def _result_box(self, piece: Piece) -> ActivationBox:
        problem = self.problem
        first = piece.group * problem.outer + piece.outer
        channels = problem.groups * problem.outer
        height, width = problem.rows.result, problem.columns.result
        if problem.channels_last:
            offset = piece.row * channels + first
            return ActivationBox(offset, 1, piece.rows, piece.channels, 0, channels, 0)
        offset = ((piece.image * channels + first) * height + piece.row) * width + piece.column
        pad_channel = self.tile.rows * self.tile.columns
        return ActivationBox(
            offset, piece.channels, piece.rows, piece.columns, height * width, width, pad_channel
        )

    def _load_inputs(self, piece: Piece, inner: int, inners: int) -> int:
        """Load a piece's inputs from some blocks, unless loaded already. Return their address."""
        problem = self.problem
        key = (piece.image, piece.group, inner, piece.row, piece.column)
        base, missing = self.inputs.place(key)
        if missing:
            first = piece.group * problem.inner + inner
            channels = problem.groups * problem.inner
            if problem.channels_last:
                box = ActivationBox(
                    piece.row * channels + first, 1, piece.rows, inners, 0, channels, 0
                )
            else:
                size = (problem.rows.size, problem.columns.size)
                rows = problem.rows.span(piece.row, piece.row + piece.rows)
                columns = problem.columns.span(piece.column, piece.column + piece.columns)
                image = size[0] * size[1]
                offset = (piece.image * channels + first) * image
                box = input_box(
                    offset, piece.groups * inners, image, self.pad_channel, rows, columns, size
                )
            self.emitter.load(Scratchpad.INP, base, self.places[self.x], box)
        return base

    def _load_weights(self, piece: Piece, inner: int, inners: int) -> int:
        problem = self.problem
        base, missing = self.weights.place((piece.group, piece.outer, inner))
        if missing:
            row = problem.inner * problem.taps
            first = piece.group * problem.outer + piece.outer
            offset = first * row + inner * problem.taps
            box = ActivationBox(offset, 1, piece.channels, inners * problem.taps, 0, row, 0)
            self.emitter.load(Scratchpad.WGT, base, self.weight, box)
        return base

    def _load_bias(self, step: AddBias, piece: Piece) -> int:
        base, missing = self.vectors.place((piece.group, piece.outer))
        if missing:
            offset = piece.group * self.problem.outer + piece.outer
            box = ActivationBox(offset, 1, 1, piece.channels, 0, 0, 0)
            self.emitter.load(Scratchpad.ACC, base, self.places[step.bias], box)
        return base

    def _multiply(self, piece: Piece, results: Results, src: int, wgt: int, inners: int) -> None:
        problem = self.problem
        taps, last = problem.taps, problem.channels_last
        rows = problem.rows.phases(piece.row, piece.row + piece.rows)
        columns = problem.columns.phases(piece.column, piece.column + piece.columns)
        width = problem.columns.span(piece.column, piece.column + piece.columns).count
        channel, row = (1, inners) if last else (self.pad_channel, width)
        outers = piece.outers
        axes = [
            Loop(piece.groups, outers * results.channel, inners * channel, outers * inners * taps),
            Loop(outers, results.channel, 0, inners * taps),
            Loop(inners, 0, channel, taps),
        ]
        for y, x in product(rows, columns):
            spatial = [
                Loop(y.count, y.step * results.row, y.source_step * row, 0),
                Loop(x.count, x.step, x.source_step, 0),
            ]
            pairs = [
                (y_offset * row + x_offset, ky * problem.columns.kernel + kx)
                for (ky, y_offset), (kx, x_offset) in product(y.taps, x.taps)
            ]
            base = Uop(results.base + y.start * results.row + x.start, src, wgt)
            self.emitter.gemm(base, [*axes, *spatial], pairs)


def _cut(size: int, most: int) -> list[tuple[int, int]]:
    """Return the start and length of each piece of `size`."""
    return [(start, min(most, size - start)) for start in range(0, size, most)]
