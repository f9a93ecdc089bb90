"""Lowering of operations that only move elements: a result index becomes an operand index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from ....dialects import nn
from ....dialects.nn import BlockOrder, PadMode
from .body import Body, Index
from .elementwise import broadcast_index
from .kernel import Element, KernelBuilder, OutputPlacement, Place, TensorPiece
from .scalar import Number, ScalarValue

ZERO = AffineExpr.constant(0)


def flatten(index: Sequence[Index], shape: Sequence[int]) -> Index:
    """Return the row-major position of an index in a tensor of `shape`."""
    flat: Index = ZERO
    for position, size in zip(index, shape, strict=True):
        flat = flat * size + position
    return flat


def unflatten(flat: Index, shape: Sequence[int]) -> list[Index]:
    """Return the index in a tensor of `shape` at a row-major position."""
    index: list[Index] = []
    for i in range(len(shape)):
        quotient = flat // max(prod(shape[i + 1 :]), 1)
        index.append(quotient if i == 0 else quotient % max(shape[i], 1))
    return index


def lower_reshape(kernel: KernelBuilder, op: nn.ReshapeOp) -> None:
    """Define the result by the operand index at the same row-major position.

    Dimensions are matched in the smallest groups of equal size, so that a dimension that the
    reshape does not affect keeps its index.
    """
    x_shape, shape = nn.shape_of(op.x), nn.shape_of(op.result)
    groups = nn.matching_groups(x_shape, shape)
    back = [(new, old) for old, new in groups]
    kernel.define(
        op.result, lambda body, index: body.read(op.x, _regrouped(index, shape, x_shape, back))
    )
    place = OutputPlacement(op.x, lambda index: _regrouped(index, x_shape, shape, groups))
    kernel.define_placement(op.result, place)


def _regrouped(
    index: Sequence[Index],
    shape: Sequence[int],
    other: Sequence[int],
    groups: Sequence[tuple[range, range]],
) -> list[Index]:
    """Return the index in a tensor of shape `other` at the row-major position of `index`."""
    at: list[Index] = []
    for before, after in groups:
        kept = nn.kept_axis(shape, other, before, after)
        if kept is None:
            flat = flatten([index[i] for i in before], [shape[i] for i in before])
            at += unflatten(flat, [other[i] for i in after])
        else:
            at += [index[kept[0]] if i == kept[1] else ZERO for i in after]
    return at


def lower_transpose(kernel: KernelBuilder, op: nn.TransposeOp) -> None:
    """Define `y[i] = x[j]` with `j[perm[d]] = i[d]`."""
    perm = nn.ints(op.perm)
    source = [perm.index(i) for i in range(len(perm))]
    kernel.define(op.result, lambda body, index: body.read(op.x, [index[i] for i in source]))
    kernel.define_placement(
        op.result, OutputPlacement(op.x, lambda index: [index[i] for i in perm])
    )


def lower_concat(kernel: KernelBuilder, op: nn.ConcatOp) -> None:
    """Define the result by the operand that holds a position; outputs store them one by one."""
    axis = op.axis.value.data
    pieces: list[tuple[SSAValue, int, int]] = []
    start = 0
    for value in op.inputs:
        end = start + nn.shape_of(value)[axis]
        if end > start:
            pieces.append((value, start, end))
        start = end

    def element(body: Body, index: Sequence[Index]) -> ScalarValue:
        # Even a result without elements gets code that reads one; it never runs.
        return _read_piece(body, pieces or [(op.inputs[0], 0, 0)], index, axis)

    kernel.define(op.result, element)
    rank = len(nn.shape_of(op.result))
    parts = [
        TensorPiece(
            nn.shape_of(value),
            _reader(value),
            _shifted([start if i == axis else 0 for i in range(rank)]),
        )
        for value, start, _ in pieces
    ]
    kernel.define_parts(op.result, parts)


def _shifted(offset: Sequence[int]) -> Place:
    return lambda index: [i + o for i, o in zip(index, offset, strict=True)]


def _reader(value: SSAValue) -> Element:
    return lambda body, index: body.read(value, index)


def _read_piece(
    body: Body, pieces: Sequence[tuple[SSAValue, int, int]], index: Sequence[Index], axis: int
) -> ScalarValue:
    """Return the element of the first piece that ends after the position.

    Pieces that the position's bounds exclude need no comparison.
    """
    (value, start, end), *rest = pieces
    position = index[axis]
    low, high = body.bounds(position)

    def read() -> ScalarValue:
        return body.read(value, [*index[:axis], position - start, *index[axis + 1 :]])

    if not rest or (high is not None and high < end):
        return read()
    if low is not None and low >= end:
        return _read_piece(body, rest, index, axis)
    inside = body.compare_index(position, "slt", end)
    return body.where(inside, read, lambda: _read_piece(body, rest, index, axis))


def lower_slice(kernel: KernelBuilder, op: nn.SliceOp) -> None:
    """Define `y[i] = x[start + i * step]`."""
    starts, steps = nn.ints(op.starts), nn.ints(op.steps)
    kernel.define(
        op.result,
        lambda body, index: body.read(
            op.x, [i * step + start for i, step, start in zip(index, steps, starts, strict=True)]
        ),
    )


def lower_pad(kernel: KernelBuilder, op: nn.PadOp) -> None:
    """Define `y[i] = x[i - low]`, extended by the mode outside of x."""
    x_shape, low = nn.shape_of(op.x), nn.ints(op.low)
    value = 0 if op.value is None else nn.number(op.value)

    def element(body: Body, index: Sequence[Index]) -> ScalarValue:
        if op.mode.data is PadMode.CONSTANT:
            shifted = [i - before for i, before in zip(index, low, strict=True)]
            return body.read_or(op.x, shifted, x_shape, value)
        fold = _FOLD_BACK[op.mode.data]
        at = [fold(body, i, *sides) for i, *sides in zip(index, low, x_shape, strict=True)]
        return body.read(op.x, at)

    kernel.define(op.result, element)
    high = nn.ints(op.high)
    if op.mode.data is PadMode.CONSTANT and min((*low, *high), default=0) >= 0:
        borders = _borders(x_shape, low, high, value, nn.tensor_type(op.x).element_type)
        kernel.define_placement(op.result, OutputPlacement(op.x, _shifted(low), borders))


def _borders(
    shape: Sequence[int],
    low: Sequence[int],
    high: Sequence[int],
    value: Number,
    element_type: Attribute,
) -> list[TensorPiece]:
    """Return the disjoint slabs around a padded tensor.

    The slabs of a dimension include the padding of later dimensions, but not of earlier ones.
    """
    slabs: list[TensorPiece] = []
    for d, size in enumerate(shape):
        for start, thickness in ((0, low[d]), (low[d] + size, high[d])):
            if thickness == 0:
                continue
            offset = [*low[:d], start, *(0 for _ in shape[d + 1 :])]
            after = [n + a + b for n, a, b in zip(shape, low, high, strict=True)][d + 1 :]
            extents = (*shape[:d], thickness, *after)
            slabs.append(
                TensorPiece(
                    extents,
                    lambda body, index: body.constant(value, element_type),
                    _shifted(offset),
                )
            )
    return slabs


def _modulo(index: Index, before: int, period: int) -> Index:
    """Return `(index - before) mod period`, without negative intermediate values."""
    return (index + (-before) % period) % period


def _reflect(body: Body, index: Index, before: int, size: int) -> Index:
    """Return the position mirrored at the first and at the last element."""
    low, high = body.bounds(index - before)
    if low is not None and high is not None and low >= 0 and high < size:
        return index - before
    if size <= 1:
        return ZERO
    # A zigzag of period 2 (size - 1): the falling half mirrors the rising half.
    period = 2 * (size - 1)
    rising = _modulo(index, before, period)
    position = body.index_scalar(rising, i32).min(body.index_scalar(-rising + period, i32))
    return body.dynamic_index(position, size)


def _edge(body: Body, index: Index, before: int, size: int) -> Index:
    return body.clamp(index - before, size)


def _wrap(body: Body, index: Index, before: int, size: int) -> Index:
    del body
    return _modulo(index, before, max(size, 1))


_FOLD_BACK: dict[PadMode, Callable[[Body, Index, int, int], Index]] = {
    PadMode.REFLECT: _reflect,
    PadMode.EDGE: _edge,
    PadMode.WRAP: _wrap,
}


def lower_expand(kernel: KernelBuilder, op: nn.ExpandOp) -> None:
    """Define `y[i] = x[i]`, with index 0 where x has extent 1."""
    x_shape = nn.shape_of(op.x)
    kernel.define(op.result, lambda body, index: body.read(op.x, broadcast_index(index, x_shape)))


def lower_tile(kernel: KernelBuilder, op: nn.TileOp) -> None:
    """Define `y[i] = x[i mod size]`."""
    x_shape = nn.shape_of(op.x)
    kernel.define(
        op.result,
        lambda body, index: body.read(
            op.x, [i % max(size, 1) for i, size in zip(index, x_shape, strict=True)]
        ),
    )


def _to_space(op: nn.DepthToSpaceOp | nn.SpaceToDepthOp, channels: int) -> Place:
    """Return the map from [n, channel, y, x] of the deep tensor to the wide one.

    A channel is `(i b + j) C + c` (dcr) or `c b b + i b + j` (crd) for offset i, j in the block.
    """
    block = op.block.value.data

    def place(index: Sequence[Index]) -> list[Index]:
        n, channel, y, x = index
        if op.mode.data is BlockOrder.DCR:
            offset, c = channel // max(channels, 1), channel % max(channels, 1)
        else:
            offset, c = channel % (block * block), channel // (block * block)
        return [n, c, y * block + offset // block, x * block + offset % block]

    return place


def _to_depth(op: nn.DepthToSpaceOp | nn.SpaceToDepthOp, channels: int) -> Place:
    """Return the inverse of `_to_space`."""
    block = op.block.value.data

    def place(index: Sequence[Index]) -> list[Index]:
        n, c, y, x = index
        offset = (y % block) * block + x % block
        if op.mode.data is BlockOrder.DCR:
            channel = offset * channels + c
        else:
            channel = c * (block * block) + offset
        return [n, channel, y // block, x // block]

    return place


def lower_depth_to_space(kernel: KernelBuilder, op: nn.DepthToSpaceOp) -> None:
    """Define `y[n, c, h b + i, w b + j]` as x at the channel of c and the offset i, j."""
    channels = nn.shape_of(op.result)[1]
    to_depth = _to_depth(op, channels)
    kernel.define(op.result, lambda body, index: body.read(op.x, to_depth(index)))
    kernel.define_placement(op.result, OutputPlacement(op.x, _to_space(op, channels)))


def lower_space_to_depth(kernel: KernelBuilder, op: nn.SpaceToDepthOp) -> None:
    """Define the inverse of depth_to_space: the channel determines the offset in the block."""
    channels = nn.shape_of(op.x)[1]
    to_space = _to_space(op, channels)
    kernel.define(op.result, lambda body, index: body.read(op.x, to_space(index)))
    kernel.define_placement(op.result, OutputPlacement(op.x, _to_depth(op, channels)))
