"""Rows, for each of which the reductions of a kernel compute one value that its output reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from .....dialects import tir
from ...schedule.analysis import accesses, users, written
from ..stages import KernelStage

Row = tuple[int, int]
"""A variable of the output and a divisor c: `variable floordiv c` tells rows apart."""


@dataclass(frozen=True)
class Rows:
    """The rows of a kernel: an index into them is a value for each entry of `divisors`."""

    output: KernelStage
    divisors: dict[int, int]
    """The variables of the output that choose a row, each with the c of `variable floordiv c`."""
    of: dict[tir.BlockOp, dict[int, int]]
    """The variables of the output that the variables of each block stand for."""

    def extent(self, variable: int) -> int:
        """Return how many rows differ in this variable alone."""
        return self.output.block.iter_extents[variable] // self.divisors[variable]

    @property
    def count(self) -> int:
        """How many rows there are."""
        return prod(self.extent(variable) for variable in self.divisors)


def rows_of(stages: Sequence[KernelStage], output: KernelStage) -> Rows | None:
    """Return the rows of a kernel if its `stages` all compute one value for each, else None.

    In a softmax, a norm or a mean, the value of a row is read for this row only, at an index that
    is a variable of the reader or a quotient of one (the group of a channel).
    """
    extents = output.block.iter_extents
    known: dict[tir.BlockOp, dict[int, Row]] = {
        output.block: {i: (i, 1) for i in range(len(extents))}
    }
    divisors: dict[int, int] = {}
    for stage in reversed(stages):
        found: dict[int, Row] = {}
        for buffer in written(stage.block):
            places = _spatial_indices(stage.block, buffer)
            for reader in users(buffer):
                if reader is stage.block:
                    continue
                if reader not in known or places is None:
                    return None
                if not _match(stage.block, places, reader, buffer, known[reader], found):
                    return None
        if any(stage.block.iter_extents[i] > 1 and i not in found for i in stage.spatial):
            return None
        for position, (variable, divisor) in found.items():
            whole = stage.block.iter_extents[position] * divisor == extents[variable]
            if not whole or divisors.setdefault(variable, divisor) != divisor:
                return None
        known[stage.block] = found
    of = {block: {p: row[0] for p, row in rows.items()} for block, rows in known.items()}
    return Rows(output, divisors, of)


def _spatial_indices(block: tir.BlockOp, buffer: SSAValue) -> list[int | None] | None:
    """Return the variable of each index of the store to `buffer`; None for one that stays 0."""
    for store in block.stores():
        if store.memref is buffer:
            (indices,) = (found for op, found in accesses(block, buffer) if op is store)
            places = [_variable(index) for index in indices]
            return None if -1 in places else places
    return None


def _variable(index: AffineExpr | None) -> int | None:
    if isinstance(index, AffineDimExpr):
        return index.position
    return None if isinstance(index, AffineConstantExpr) else -1


def _match(
    block: tir.BlockOp,
    places: Sequence[int | None],
    reader: tir.BlockOp,
    buffer: SSAValue,
    rows: dict[int, Row],
    found: dict[int, Row],
) -> bool:
    """Return whether `reader` reads what `block` writes for the same row.

    Adds to `found` which rows the variables of `block` stand for.
    """
    for _, indices in accesses(reader, buffer):
        for place, index in zip(places, indices, strict=True):
            row = _row(index, rows)
            if place is None or (block.iter_extents[place] == 1 and row is None):
                continue
            if row is None or found.setdefault(place, row) != row:
                return False
    return True


def _row(index: AffineExpr | None, rows: dict[int, Row]) -> Row | None:
    if isinstance(index, AffineDimExpr):
        return rows.get(index.position)
    if (
        isinstance(index, AffineBinaryOpExpr)
        and index.kind is AffineBinaryOpKind.FloorDiv
        and isinstance(index.lhs, AffineDimExpr)
        and isinstance(index.rhs, AffineConstantExpr)
        and index.lhs.position in rows
    ):
        variable, divisor = rows[index.lhs.position]
        return variable, divisor * index.rhs.value
    return None


def row_length(stage: KernelStage) -> int:
    """Return how many contiguous elements the reduction walks; 0 if it walks no row of memory."""
    if not stage.reduce:
        return 0
    moves = list(stage.strides.values())
    if not any(move[stage.reduce[-1]] == 1 for move in moves):
        return 0
    length = 1
    for position in reversed(stage.reduce):
        if any(move[position] not in (0, length) for move in moves):
            break
        length *= stage.block.iter_extents[position]
    return length
