"""Tensors of a linalg function as views of nn values.

In linalg, transposes and broadcasts are free: they are indexing maps of the operation that reads.
The importer also keeps them out of the network. For each axis of a tensor it records the axis of an
nn value, and transposes the value only if an nn operation needs another order. A network of NHWC
convolutions thus becomes NCHW convolutions with a transpose at either end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from ...dialects.nn.types import Array, shape_of, tensor_type
from ..builder import Builder


class NotNamedError(Exception):
    """Raised when no named nn operation computes an operation, so that `nn.generic` has to."""


@dataclass(frozen=True)
class Dilated:
    """A tensor whose elements are spread in a larger one, `steps` apart from `starts` on."""

    part: TensorView
    starts: tuple[int, ...]
    steps: tuple[int, ...]


@dataclass(frozen=True)
class TensorView:
    """A tensor of `shape`: axis i is axis `axes[i]` of `value`, or a broadcast if that is None.

    Axes of the value that the tensor does not name have one element.
    """

    value: SSAValue
    shape: tuple[int, ...]
    axes: tuple[int | None, ...]
    dilated: Dilated | None = None
    """The source if this tensor spreads its elements, with zeros between and around them."""

    @classmethod
    def of(cls, value: SSAValue) -> TensorView:
        """Return the view of a whole value."""
        shape = shape_of(value)
        return cls(value, shape, tuple(range(len(shape))))

    @classmethod
    def splat(cls, value: SSAValue, shape: Sequence[int]) -> TensorView:
        """Return a tensor that repeats the one element of `value`."""
        return cls(value, tuple(shape), (None,) * len(shape))

    @property
    def element_type(self) -> Attribute:
        """Return the type of the elements."""
        return tensor_type(self.value).element_type

    def at(self, axes: Sequence[int | None], shape: Sequence[int]) -> TensorView:
        """Return a tensor with the given axes of this one; None broadcasts."""
        return TensorView(
            self.value, tuple(shape), tuple(None if i is None else self.axes[i] for i in axes)
        )


@dataclass(frozen=True)
class Operand:
    """A tensor and the loop that indexes each axis; None for an axis of one element."""

    view: TensorView
    loops: tuple[int | None, ...]

    @classmethod
    def of(cls, view: TensorView, indices: Sequence[AffineExpr]) -> Operand:
        """Return the operand of an indexing map; raise NotNamedError if an index is not a loop."""
        loops: list[int | None] = []
        for index, size in zip(indices, view.shape, strict=True):
            if isinstance(index, AffineDimExpr):
                loops.append(index.position)
            elif isinstance(index, AffineConstantExpr) and index.value == 0 and size == 1:
                loops.append(None)
            else:
                raise NotNamedError
        used = [loop for loop in loops if loop is not None]
        if len(set(used)) < len(used):
            raise NotNamedError
        return cls(view, tuple(loops))

    def places(self) -> dict[int, int]:
        """Return the axis of the value that each loop walks, without loops that broadcast it."""
        axes = zip(self.loops, self.view.axes, strict=True)
        return {loop: axis for loop, axis in axes if loop is not None and axis is not None}

    def frame(self) -> list[int | None]:
        """Return the loop that walks each axis of the value."""
        loops = {axis: loop for loop, axis in self.places().items()}
        return [loops.get(axis) for axis in range(len(shape_of(self.view.value)))]


def static_shape(type: Attribute) -> tuple[int, ...] | None:
    """Return the shape of a tensor type, or None for other types and dynamic shapes."""
    if not isinstance(type, TensorType):
        return None
    shape = cast("TensorType[Attribute]", type).get_shape()
    return None if DYNAMIC_INDEX in shape else shape


def has_open_shape(type: Attribute) -> bool:
    """Return whether a type is a tensor with dynamic dimensions."""
    return isinstance(type, TensorType) and static_shape(cast(Attribute, type)) is None


def one_number(builder: Builder, view: TensorView) -> Array | None:
    """Return the number that all elements are known to equal, as an array of rank 0, or None."""
    array = builder.known(view.value)
    if array is None or not array.size:
        return None
    first = array.reshape(-1)[:1].reshape(())
    return first if array.size == 1 or (array == first).all() else None


def ordered(builder: Builder, operand: Operand, order: Sequence[int], lead: int = 1) -> SSAValue:
    """Return the value with one axis per loop of `order`, after at most `lead` unit axes."""
    places, value = operand.places(), operand.view.value
    moved = [places[loop] for loop in order if loop in places]
    value = in_order(builder, value, moved, lead)
    if len(moved) == len(order):
        return value
    sizes = dict(zip(operand.loops, operand.view.shape, strict=True))
    value = builder.reshape(value, [sizes[loop] if loop in places else 1 for loop in order])
    return builder.expand(value, [sizes.get(loop, 1) for loop in order])


def in_order(builder: Builder, value: SSAValue, axes: Sequence[int], lead: int) -> SSAValue:
    """Transpose `axes` of a value, all others of size 1, after at most `lead` of the others.

    Unit axes are dropped before the transpose, so that it can cancel against another transpose.
    """
    shape = shape_of(value)
    rest = [axis for axis in range(len(shape)) if axis not in axes]
    kept = sorted([*rest[len(rest) - min(lead, len(rest)) :], *axes])
    value = builder.reshape(value, [shape[axis] for axis in kept])
    order = [axis for axis in kept if axis not in axes] + [*axes]
    return builder.transpose(value, [kept.index(axis) for axis in order])


def exactly(builder: Builder, operand: Operand, order: Sequence[int]) -> SSAValue:
    """Return the value with exactly one axis per loop of `order`."""
    return ordered(builder, operand, order, 0)


def dense(builder: Builder, view: TensorView) -> SSAValue:
    """Return a tensor as an nn value with its axes in order."""
    loops = tuple(range(len(view.shape)))
    return exactly(builder, Operand(view, loops), loops)


def aligned(builder: Builder, operand: Operand, frame: Sequence[int | None]) -> SSAValue:
    """Return the value with its axes in the order of `frame`, ready to broadcast."""
    places, value = operand.places(), operand.view.value
    shape = shape_of(value)
    moved = [places[loop] for loop in frame if loop is not None and loop in places]
    if moved != sorted(moved):
        rest = [axis for axis in range(len(shape)) if axis not in moved]
        value = builder.transpose(value, [*rest, *moved])
    sizes = [1 if loop is None else shape[places[loop]] if loop in places else 1 for loop in frame]
    if builder.known(value) is not None:
        while sizes and sizes[0] == 1:
            del sizes[0]
    above = len(sizes) - len(shape_of(value))
    is_aligned = above > 0 and sizes == [*[1] * above, *shape_of(value)]
    return value if is_aligned else builder.reshape(value, sizes)


def in_frame(
    value: SSAValue, frame: Sequence[int | None], loops: Sequence[int | None], shape: Sequence[int]
) -> TensorView:
    """Return the tensor that `loops` index in a value whose axes are the last ones of `frame`."""
    sizes = shape_of(value)
    missing = len(frame) - len(sizes)
    axes: list[int | None] = []
    for loop, size in zip(loops, shape, strict=True):
        axis = frame.index(loop) - missing if loop is not None and loop in frame else -1
        axes.append(axis if axis >= 0 and sizes[axis] == size else None)
    return TensorView(value, tuple(shape), tuple(axes))
