"""Buffers as tensors: the only module that maps logical indices to those of packed buffers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ....dialects.nn import LayoutAttr
from ....dialects.tir.affine import bounds, linear
from .body import Body, Index
from .scalar import ScalarValue


@dataclass(frozen=True)
class TensorBuffer:
    """A buffer that holds a tensor of `shape` in a layout.

    `extents` are the logical extents for which it has room: the shape with tails of packed axes.
    """

    buffer: SSAValue
    element_type: Attribute
    shape: Sequence[int]
    extents: Sequence[int]
    layout: LayoutAttr | None = None

    @property
    def undefined_axes(self) -> Sequence[int]:
        """Return the axes whose tails may hold any values."""
        if self.layout is None or not self.layout.undefined_tails:
            return ()
        return [axis for axis, _ in self.layout.blocks]

    def load(self, body: Body, index: Sequence[Index]) -> ScalarValue:
        """Return the element at a logical index, or 0 if a tail leads out of the buffer."""
        inside = body.within_memory(index, self.extents)
        if inside is None:
            return self._load(body, index)
        return body.where(inside, lambda: self._load(body, index), 0)

    def store(
        self, body: Body, value: ScalarValue, index: Sequence[Index], is_zero: Callable[[int], bool]
    ) -> None:
        """Write an element, and zero in the tails unless the value already `is_zero` there."""
        inside: ScalarValue | None = None
        for axis, (position, size) in enumerate(zip(index, self.shape, strict=True)):
            last = bounds(position, body.extents)[1]
            if self.extents[axis] == size or (last is not None and last < size) or is_zero(axis):
                continue
            this = body.compare_index(position, "slt", size)
            inside = this if inside is None else inside & this
        if inside is not None:
            value = inside.select(value, 0)
        body.store(value, self.buffer, self._physical(index))

    def _load(self, body: Body, index: Sequence[Index]) -> ScalarValue:
        return body.load(self.buffer, self._physical(index), self.element_type)

    def _physical(self, index: Sequence[Index]) -> Sequence[Index]:
        return index if self.layout is None else self.layout.physical_index(index)


def whole_blocks(
    shape: Sequence[int],
    place: Callable[[Sequence[Index]], Sequence[Index]],
    layout: LayoutAttr,
    result: Sequence[int],
) -> tuple[int, ...] | None:
    """Return the extents with which a piece of `shape` at `place` in `result` covers whole blocks.

    The last piece along a packed axis covers the tail. Return None if a block has parts of two
    pieces, since a kernel can write only whole texels.
    """
    # With an extent of one, `linear` would fold away the loop that must run over the tail.
    loops = [max(extent, 2) for extent in shape]
    index = [linear(i, loops) for i in place([AffineExpr.dimension(d) for d in range(len(shape))])]
    extents = list(shape)
    for axis, size in layout.blocks:
        first = index[axis].constant
        match list(index[axis].terms.items()):
            case [(AffineDimExpr(position=dim), 1)]:
                end = first + shape[dim]
            case _:
                return None
        others = [form for a, form in enumerate(index) if a != axis]
        if any(dim in atom.used_dims() for form in others for atom in form.terms):
            return None
        if first % size or (end % size and end != result[axis]):
            return None
        extents[dim] = -(-shape[dim] // size) * size
    return tuple(extents)
