"""Operations of `tensor` that move elements."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.ir import SSAValue

from ...dialects.nn import PadOp, SliceOp
from ...dialects.nn.types import shape_of
from ..builder import Builder
from .views import Dilated, NotNamedError, Operand, TensorView, aligned, dense, in_frame, one_number


def reshape(
    builder: Builder, view: TensorView, groups: Sequence[tuple[range, range]], shape: Sequence[int]
) -> TensorView:
    """Reshape a tensor; each pair in `groups` maps a range of old axes to a range of new ones."""
    axes: list[int | None] = [None] * len(shape)
    value = view.value
    for old, new in groups:
        before = [axis for axis in old if view.shape[axis] != 1]
        after = [axis for axis in new if shape[axis] != 1]
        repeated = [view.axes[axis] is None for axis in before]
        if all(repeated):
            continue
        if len(before) == len(after) == 1:
            axes[after[0]] = view.axes[before[0]]
        else:
            return TensorView.of(builder.reshape(dense(builder, view), shape))
    return TensorView(value, tuple(shape), tuple(axes))


def extract_slice(
    builder: Builder,
    view: TensorView,
    starts: Sequence[int],
    sizes: Sequence[int],
    steps: Sequence[int],
    shape: Sequence[int],
) -> TensorView:
    """Slice a tensor, and drop axes of one element that `shape` lacks."""
    value = view.value
    rank = len(shape_of(value))
    low, step, size = [0] * rank, [1] * rank, [*shape_of(value)]
    for axis, at in enumerate(view.axes):
        if at is not None:
            low[at], step[at], size[at] = starts[axis], steps[axis], sizes[axis]
    if tuple(size) != shape_of(value):
        value = builder.add(SliceOp(value, low, size, step))
    part = TensorView(value, tuple(sizes), view.axes)
    return part.at(_kept(sizes, shape), shape)


def _kept(sizes: Sequence[int], shape: Sequence[int]) -> list[int]:
    """Return the axes that remain when axes of one element are dropped to get `shape`."""
    kept: list[int] = []
    for axis, size in enumerate(sizes):
        rest = len(sizes) - axis
        if len(kept) < len(shape) and size == shape[len(kept)]:
            if size != 1 or rest > 0:
                kept.append(axis)
    return kept


def pad(
    builder: Builder, view: TensorView, low: Sequence[int], high: Sequence[int], value: float
) -> TensorView:
    """Pad a tensor with `value` by `low` elements before and `high` after each axis."""
    shape = tuple(n + a + b for n, a, b in zip(view.shape, low, high, strict=True))
    padded = [axis for axis in range(len(shape)) if low[axis] or high[axis]]
    if any(view.axes[axis] is None for axis in padded):
        view = TensorView.of(dense(builder, view))
    before, after = ([0] * len(shape_of(view.value)) for _ in range(2))
    for axis in padded:
        at = view.axes[axis]
        assert at is not None
        before[at], after[at] = low[axis], high[axis]
    if not padded:
        return view
    return TensorView(builder.add(PadOp(view.value, before, after, value=value)), shape, view.axes)


def concat(builder: Builder, views: Sequence[TensorView], axis: int) -> TensorView:
    """Concatenate tensors along an axis, in the axis order of the largest."""
    shape = [*views[0].shape]
    shape[axis] = sum(view.shape[axis] for view in views)
    loops = tuple(range(len(shape)))
    first = max(views, key=lambda view: (builder.known(view.value) is None, prod(view.shape)))
    frame = Operand(first, loops).frame()
    if any(loop not in frame for loop in loops):
        values = [dense(builder, view) for view in views]
        return TensorView.of(builder.concat(values, axis))
    values: list[SSAValue] = []
    for view in views:
        value = aligned(builder, Operand(view, loops), frame)
        sizes = [1 if loop is None else view.shape[loop] for loop in frame]
        values.append(
            builder.expand(
                builder.reshape(
                    value, [*[1] * (len(sizes) - len(shape_of(value))), *shape_of(value)]
                ),
                sizes,
            )
        )
    return in_frame(builder.concat(values, frame.index(axis)), frame, loops, shape)


def insert_slice(
    builder: Builder,
    part: TensorView,
    into: TensorView,
    starts: Sequence[int],
    sizes: Sequence[int],
    steps: Sequence[int],
) -> TensorView:
    """Replace a slice of a tensor; raise NotNamedError if nn cannot express it."""
    kept = _kept(sizes, part.shape)
    axes: list[int | None] = [None] * len(sizes)
    for position, axis in enumerate(kept):
        axes[axis] = part.axes[position]
    box = TensorView(part.value, tuple(sizes), tuple(axes))
    if any(step != 1 for step, size in zip(steps, sizes, strict=True) if size > 1):
        return _dilate(builder, box, into, starts, steps)
    low = [*starts]
    high = [n - a - s for n, a, s in zip(into.shape, starts, sizes, strict=True)]
    number = one_number(builder, into)
    if number is not None:
        return pad(builder, box, low, high, number.item())
    moved = [axis for axis in range(len(low)) if low[axis] or high[axis]]
    if not moved:
        return box
    if len(moved) > 1:
        raise NotNamedError
    (axis,) = moved
    pieces = [box]
    for start, size in ((0, low[axis]), (starts[axis] + sizes[axis], high[axis])):
        if not size:
            continue
        at, extents = [0] * len(sizes), [*into.shape]
        at[axis], extents[axis] = start, size
        piece = extract_slice(builder, into, at, extents, [1] * len(sizes), extents)
        pieces.insert(0 if start == 0 and pieces[0] is box else len(pieces), piece)
    return concat(builder, pieces, axis)


def _dilate(
    builder: Builder,
    part: TensorView,
    into: TensorView,
    starts: Sequence[int],
    steps: Sequence[int],
) -> TensorView:
    """Return a tensor of zeros that contains the elements of `part` spaced by `steps`."""
    zero = one_number(builder, into)
    if zero is None or zero != 0:
        raise NotNamedError
    value, shape = dense(builder, part), part.shape
    # Each element is the first of a cell that is as large as a step.
    cells = [n for size in shape for n in (size, 1)]
    high = [n for step in steps for n in (0, step - 1)]
    value = builder.add(PadOp(builder.reshape(value, cells), [0] * len(cells), high))
    spread = [size * step for size, step in zip(shape, steps, strict=True)]
    value = builder.reshape(value, spread)
    above = [n - a - s for n, a, s in zip(into.shape, starts, spread, strict=True)]
    value = builder.add(PadOp(value, starts, above))
    dilated = Dilated(part, tuple(starts), tuple(steps))
    return TensorView(value, into.shape, tuple(range(len(shape))), dilated)
