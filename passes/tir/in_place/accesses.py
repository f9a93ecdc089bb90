"""Where a lowered kernel reads and writes its parameters: indices over the loops around."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ....dialects import tir
from ....dialects.tir.affine import Linear, bounds, linear
from ..schedule.analysis import index_expr, memref_of


@dataclass(frozen=True)
class Place:
    """A place in the text: what is around it, and how many values each dimension takes there."""

    regions: tuple[Block, ...]
    loops: tuple[tir.ForOp, ...]
    """Outermost first, without those bound to OpenCL indices."""
    extents: Mapping[int, int]


@dataclass(frozen=True)
class Access:
    """One load or store of a parameter, by elements or by texels."""

    position: int
    """In the text."""
    place: Place
    writes: bool
    shape: tuple[int, ...]
    indices: tuple[AffineExpr, ...]
    """One per axis of `shape`, over the dimensions of `Accesses`."""

    @property
    def strides(self) -> list[int]:
        """How many elements there are, and how many lie behind an index of each axis."""
        return [prod(self.shape[axis:]) for axis in range(len(self.shape) + 1)]


class Accesses:
    """The accesses of a kernel to its parameters.

    A dimension is a loop, or an OpenCL index, which all loops bound to it share: it has one value
    wherever a work-item asks for it.
    """

    def __init__(self, func: tir.FuncOp):
        self.items: dict[int, int] | None = None
        """The dimensions that tell work-items apart, and how many values each takes; None where
        several work-items do the same."""
        self.dims: dict[SSAValue, int] = {}
        """The dimension of each loop variable."""
        self.count = 0
        """How many dimensions there are."""
        self.of: dict[SSAValue, list[Access] | None] = {param: [] for param in func.params}
        """Of each parameter; None where one of its uses is not understood."""
        self._kinds: dict[tir.LoopKind, int] = {}
        self._digits: dict[tuple[int, int, int], Linear] = {}
        self._bounds: dict[tuple[int, AffineExpr], tuple[int, int]] = {}
        self._position = 0
        for loop in func.walk():
            if isinstance(loop, tir.ForOp):
                self._number(loop)
        self.items = self._work_items(func)
        self._leaves: dict[SSAValue, AffineExpr] = {
            var: AffineDimExpr(dim) for var, dim in self.dims.items()
        }
        self._block(func.body.block, Place((), (), self.items or {}))

    def digit(self, access: Access, low: int, high: int) -> Linear:
        """`number mod high floordiv low` of the element that is accessed, where axes end there."""
        key = access.position, low, high
        if key not in self._digits:
            total: AffineExpr = AffineExpr.constant(0)
            strides = access.strides[1:]
            for index, size, stride in zip(access.indices, access.shape, strides, strict=True):
                if size > 1 and stride >= low and stride * size <= high:
                    total = total + index * (stride // low)
            self._digits[key] = linear(total, self._extents(access))
        return self._digits[key]

    def bounds(self, atom: AffineExpr, access: Access) -> tuple[int, int]:
        """The least and the greatest value of an atom of a digit of `access`."""
        key = access.position, atom
        if key not in self._bounds:
            low, high = bounds(atom, self._extents(access))
            assert low is not None and high is not None, "loops have an end"  # noqa: PT018
            self._bounds[key] = low, high
        return self._bounds[key]

    def _extents(self, access: Access) -> Sequence[int | None]:
        return [access.place.extents.get(dim) for dim in range(self.count)]

    def _number(self, loop: tir.ForOp) -> None:
        kind = loop.kind.data
        dim = self._kinds.setdefault(kind, self.count) if kind.is_bound else self.count
        self.count = max(self.count, dim + 1)
        self.dims[loop.var] = dim

    def _work_items(self, func: tir.FuncOp) -> dict[int, int] | None:
        total, group = _sizes(func.global_size), _sizes(func.local_size)
        items: dict[int, int] = {}
        for letter, count, size in zip("xyz", total, group, strict=True):
            parts = {f"global_{letter}": count}
            if tir.LoopKind(f"global_{letter}") not in self._kinds:
                parts = {f"group_{letter}": count // size, f"local_{letter}": size}
            for name, extent in parts.items():
                dim = self._kinds.get(tir.LoopKind(name))
                if dim is not None:
                    items[dim] = extent
                elif extent > 1:
                    return None
        return items

    def _block(self, block: Block, place: Place) -> None:
        place = replace(place, regions=(*place.regions, block))
        for op in block.ops:
            self._position += 1
            self._access(op, place)
            inner = place
            if isinstance(op, tir.ForOp):
                extents = {**place.extents, self.dims[op.var]: op.size}
                bound = op.kind.data.is_bound
                inner = replace(
                    place, loops=place.loops if bound else (*place.loops, op), extents=extents
                )
            for region in op.regions:
                for child in region.blocks:
                    self._block(child, inner)

    def _access(self, op: Operation, place: Place) -> None:
        """Note what an operation does with parameters."""
        used = {operand for operand in op.operands if operand in self.of}
        for param in used:
            access = self._access_to(param, op, place)
            known = self.of[param]
            if access is None or known is None:
                self.of[param] = None
            else:
                known.append(access)

    def _access_to(self, param: SSAValue, op: Operation, place: Place) -> Access | None:
        shape: tuple[int, ...] = memref_of(param).get_shape()
        match op:
            case memref.LoadOp() | memref.StoreOp():
                writes = isinstance(op, memref.StoreOp)
                indices = self._exprs(op.indices)
            case tir.TexelReadOp() | tir.TexelWriteOp():
                writes = isinstance(op, tir.TexelWriteOp)
                shape = (prod(shape[:-1]), tir.TEXEL)
                indices = self._exprs((*op.coords, op.lane))
            case _:
                return None
        if indices is None or len(indices) != len(shape):
            return None
        return Access(self._position, place, writes, shape, indices)

    def _exprs(self, values: Sequence[SSAValue]) -> tuple[AffineExpr, ...] | None:
        exprs = [index_expr(value, self._leaves) for value in values]
        known = tuple(expr for expr in exprs if expr is not None)
        return known if len(known) == len(exprs) else None


def _sizes(attribute: DenseArrayBase | None) -> tuple[int, int, int]:
    """The extents of an index space along x, y and z."""
    array = cast("DenseArrayBase[IntegerType] | None", attribute)
    sizes = () if array is None else tuple(array.iter_values())
    x, y, z = (*sizes, 1, 1, 1)[:3]
    return int(x), int(y), int(z)
