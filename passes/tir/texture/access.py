"""Loads and stores of packed memory as texels, coordinates and lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ....dialects import tir
from ....errors import CloptError
from ..schedule.analysis import memref_of
from .indices import Indices, Knowledge

# The sampler clamps the layer of an array (OpenCL 1.2, section 8.4), and an `image1d_buffer` is
# read without a sampler.
SAMPLED = 2
"""The coordinates that have a border: x and y."""


@dataclass(frozen=True)
class PackedAccess:
    """A load or store of packed memory."""

    op: memref.LoadOp | memref.StoreOp
    indices: tuple[AffineExpr, ...]
    """One per axis before the texel."""
    coords: tuple[AffineExpr, ...]
    """The coordinates, x first; in global memory, the index of the texel."""
    extents: tuple[int, ...]
    """The extent of the memory along each coordinate."""
    lane: AffineExpr
    in_row: bool = False
    """Whether the memory is a plain buffer whose rows are read by texels."""

    @property
    def type(self) -> MemRefType[Attribute]:
        """The type of the memory."""
        return memref_of(self.op.memref)

    @property
    def is_texture(self) -> bool:
        """Whether the memory is an image."""
        return tir.is_texture(self.type)

    @property
    def sampled(self) -> int:
        """The number of coordinates that may leave the image, where reads return zero."""
        return SAMPLED if self.is_texture and len(self.coords) >= SAMPLED else 0

    def is_inside(self, coord: int, known: Knowledge) -> bool:
        """Return whether a coordinate is provably inside the image.

        The proof uses its bounds, or the bounds of every index that it consists of. Memory without
        elements is never accessed.
        """
        if 0 in self.extents:
            return True
        if known.within(self.coords[coord], self.extents[coord]):
            return True
        shape = self.type.get_shape()
        return all(known.within(self.indices[axis], shape[axis]) for axis in self._axes(coord))

    def _axes(self, coord: int) -> range:
        space = self.type.memory_space
        cuts = space.separators if isinstance(space, tir.ScopeAttr) else ()
        ends = (0, *cuts, len(self.indices))
        position = len(self.coords) - 1 - coord
        return range(ends[position], ends[position + 1])


def access_of(
    op: memref.LoadOp | memref.StoreOp, known: Knowledge, packed: bool
) -> PackedAccess | None:
    """Return the access if its memory is a texture or, if `packed`, is accessed by texels.

    An access is by texels if its last index is the variable of an expanded loop over the lanes of a
    texel, and the other indices do not depend on it.
    """
    type_ = memref_of(op.memref)
    exprs = [known.simplify(known.indices.expr(index)) for index in op.indices]
    *indices, lane = exprs or [AffineExpr.constant(0)]
    if tir.is_texture(type_):
        coords = tir.coordinates(type_, exprs)
        extents = tir.image_of(type_).extents
    elif packed and is_global_parameter(op.memref) and type_.get_shape()[-1:] == (tir.TEXEL,):
        if lane_loop(known.indices, lane, indices) is None:
            return None
        shape = type_.get_shape()[:-1]
        coords = (row_major(shape, indices),)
        extents = (prod(shape),)
    else:
        return None
    coords = tuple(known.simplify(coord) for coord in coords)
    return PackedAccess(op, tuple(indices), coords, extents, lane)


def lane_loop(indices: Indices, lane: AffineExpr, others: Sequence[AffineExpr]) -> tir.ForOp | None:
    """Return the expanded loop over four lanes with variable `lane`, or None.

    None as well if the variable also selects the texel.
    """
    if not isinstance(lane, AffineDimExpr):
        return None
    owner = indices.leaves[lane.position].owner
    loop = owner.parent_op() if isinstance(owner, Block) else None
    if (
        not isinstance(loop, tir.ForOp)
        or loop.kind.data not in tir.EXPANDED
        or loop.size != tir.TEXEL
    ):
        return None
    return None if any(lane.position in other.used_dims() for other in others) else loop


def writes_whole_texels(access: PackedAccess, indices: Indices) -> bool:
    """Return whether all lanes of the texel are stored, without a condition on some of them."""
    loop = lane_loop(indices, access.lane, access.indices)
    if loop is None:
        return False
    parent = access.op.parent_op()
    while parent is not None and parent is not loop:
        if isinstance(parent, scf.IfOp) and _depends(parent.cond, loop.var):
            return False
        parent = parent.parent_op()
    return parent is loop


def refuse(access: PackedAccess, rule: str) -> CloptError:
    """Return an error for an access that `rule` forbids."""
    func: Operation | None = access.op
    while not isinstance(func, tir.FuncOp):
        assert func is not None
        func = func.parent_op()
    comment = f" ({func.comment.data})" if func.comment else ""
    verb = "read" if isinstance(access.op, memref.LoadOp) else "write"
    name = access.op.memref.name_hint or "a parameter"
    return CloptError(
        f"@{func.sym_name.data}{comment}: cannot {verb} the texture {name}, {rule}; give the value "
        'another layout, or compile for a target with texture = "off"'
    )


def is_global_parameter(buffer: SSAValue) -> bool:
    """Return whether a buffer is a parameter of a kernel in global memory."""
    owner = buffer.owner
    space = memref_of(buffer).memory_space
    scope = space.scope if isinstance(space, tir.ScopeAttr) else tir.Scope.Global
    return (
        isinstance(owner, Block)
        and isinstance(owner.parent_op(), tir.FuncOp)
        and scope is tir.Scope.Global
    )


def row_major(shape: Sequence[int], indices: Sequence[AffineExpr]) -> AffineExpr:
    """Return the row-major index of an element."""
    position: AffineExpr = AffineExpr.constant(0)
    for size, index in zip(shape, indices, strict=True):
        position = position * size + index
    return position


def _depends(value: SSAValue, variable: SSAValue) -> bool:
    if value is variable:
        return True
    owner = value.owner
    return isinstance(owner, Operation) and (
        any(_depends(operand, variable) for operand in owner.operands)
        or any(
            _depends(operand, variable)
            for region in owner.regions
            for op in region.walk()
            for operand in op.operands
        )
    )
