"""The accesses of a lowered kernel to its parameters, with indices over the loops around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, cast

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ....dialects import tir
from ....dialects.tir.affine import Linear, bounds, linear
from ....dialects.walking import operations_in
from ..lowering.space import COMPARISONS
from ..schedule.analysis import index_expr, memref_of
from ..texture.indices import conjuncts


@dataclass(frozen=True)
class LoopContext:
    """A position in the code: its regions and loops, and the range of each dimension."""

    regions: tuple[Block, ...]
    loops: tuple[tir.ForOp, ...]
    """Outermost first, without those bound to OpenCL indices."""
    ranges: Mapping[int, tuple[int, int]]
    """The first value, and one past the last."""
    limits: Mapping[AffineExpr, tuple[int, int]] = field(default_factory=dict[Any, Any])
    """The same of quotients and remainders, where a condition restricts them."""

    def within(self, dim: int, first: int, end: int) -> LoopContext:
        """Return this context with a dimension restricted to `[first, end)`."""
        before = self.ranges.get(dim, (first, end))
        after = max(first, before[0]), min(end, before[1])
        return replace(self, ranges={**self.ranges, dim: after})

    def restricted(self, atom: AffineExpr, first: int, end: int) -> LoopContext:
        """Return this context with a dimension, a quotient or a remainder in `[first, end)`."""
        if isinstance(atom, AffineDimExpr):
            return self.within(atom.position, first, end)
        return replace(self, limits={**self.limits, atom: (first, end)})


@dataclass(frozen=True)
class ParameterAccess:
    """One load or store of a parameter, by element or by texel."""

    position: int
    """The number of the operation in program order."""
    place: LoopContext
    writes: bool
    shape: tuple[int, ...]
    indices: tuple[AffineExpr, ...]
    """One per axis of `shape`, over the dimensions of `ParameterAccesses`."""

    @property
    def strides(self) -> list[int]:
        """The number of all elements, then the stride of each axis in elements."""
        return [prod(self.shape[axis:]) for axis in range(len(self.shape) + 1)]


class ParameterAccesses:
    """The accesses of a kernel to its parameters.

    A dimension is a loop, or an OpenCL index. All loops bound to one index share its dimension,
    since the index has one value everywhere in a work-item.
    """

    def __init__(self, func: tir.FuncOp):
        self.items: dict[int, int] | None = None
        """The dimensions that identify a work-item, and their extents; None if several work-items
        run the same iterations."""
        self.dims: dict[SSAValue, int] = {}
        """The dimension of each loop variable."""
        self.count = 0
        """The number of dimensions."""
        self.of: dict[SSAValue, list[ParameterAccess] | None] = {param: [] for param in func.params}
        """The accesses to each parameter; None if the analysis cannot follow one of them."""
        self._kinds: dict[tir.LoopKind, int] = {}
        self._digits: dict[tuple[int, int, int], Linear] = {}
        self._bounds: dict[tuple[int, AffineExpr], tuple[int, int]] = {}
        self._position = 0
        for loop in operations_in(func.body):
            if isinstance(loop, tir.ForOp):
                self._number(loop)
        self.items = self._work_items(func)
        self._leaves: dict[SSAValue, AffineExpr] = {
            var: AffineDimExpr(dim) for var, dim in self.dims.items()
        }
        ranges = {dim: (0, extent) for dim, extent in (self.items or {}).items()}
        self._block(func.body.block, LoopContext((), (), ranges))

    def digit(self, access: ParameterAccess, low: int, high: int) -> Linear:
        """Return `number mod high floordiv low` of an accessed element.

        `low` and `high` must be strides of axes.
        """
        key = access.position, low, high
        if key not in self._digits:
            total: AffineExpr = AffineExpr.constant(0)
            strides = access.strides[1:]
            for index, size, stride in zip(access.indices, access.shape, strides, strict=True):
                if size > 1 and stride >= low and stride * size <= high:
                    total = total + index * (stride // low)
            self._digits[key] = linear(total, self._extents(access.place))
        return self._digits[key]

    def bounds(self, atom: AffineExpr, access: ParameterAccess) -> tuple[int, int]:
        """Return the least and the greatest value of an atom of a digit of `access`."""
        if isinstance(atom, AffineDimExpr):
            first, end = access.place.ranges[atom.position]
            return first, end - 1
        key = access.position, atom
        if key not in self._bounds:
            first, end = self._range(atom, access.place)
            self._bounds[key] = first, end - 1
        return self._bounds[key]

    def _range(self, atom: AffineExpr, place: LoopContext) -> tuple[int, int]:
        """Return the first value of an atom at a place, and one past the last."""
        if isinstance(atom, AffineDimExpr):
            return place.ranges[atom.position]
        if atom in place.limits:
            return place.limits[atom]
        low, high = bounds(atom, self._extents(place))
        assert low is not None and high is not None, "loops have an end"  # noqa: PT018
        return low, high + 1

    def _extents(self, place: LoopContext) -> Sequence[int | None]:
        ranges = place.ranges
        return [ranges[dim][1] if dim in ranges else None for dim in range(self.count)]

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

    def _block(self, block: Block, place: LoopContext) -> None:
        place = replace(place, regions=(*place.regions, block))
        for op in block.ops:
            self._position += 1
            self._access(op, place)
            for i, region in enumerate(op.regions):
                inner = place
                if isinstance(op, tir.ForOp):
                    inner = place.within(self.dims[op.var], 0, op.size)
                    if not op.kind.data.is_bound:
                        inner = replace(inner, loops=(*place.loops, op))
                elif isinstance(op, scf.IfOp):
                    inner = self._where(op.cond, place, holds=i == 0)
                for child in region.blocks:
                    self._block(child, inner)

    def _where(self, condition: SSAValue, place: LoopContext, *, holds: bool) -> LoopContext:
        """Return the context in which a condition holds, or does not, with narrowed ranges."""
        parts = conjuncts(condition)
        for part in parts if holds or len(parts) == 1 else ():
            compare = part.owner
            if not isinstance(compare, arith.CmpiOp):
                continue
            row = COMPARISONS.get(compare.predicate.value.data)
            sides = self.exprs((compare.lhs, compare.rhs))
            if row is None or sides is None:
                continue
            form = linear(sides[0] - sides[1], self._extents(place))
            if len(form.terms) != 1:
                continue
            ((atom, factor),) = form.terms.items()
            limit, below = row[0] - form.constant, row[1] is holds
            first, end = self._range(atom, place)
            # factor * atom < limit, or not
            if abs(factor) == 1:
                at = limit if factor > 0 else 1 - limit
                part = (first, min(at, end)) if below is (factor > 0) else (max(at, first), end)
                place = place.restricted(atom, *part)
        return place

    def _access(self, op: Operation, place: LoopContext) -> None:
        """Record an operation's accesses to parameters."""
        used = {operand for operand in op.operands if operand in self.of}
        for param in used:
            access = self._access_to(param, op, place)
            known = self.of[param]
            if access is None or known is None:
                self.of[param] = None
            else:
                known.append(access)

    def _access_to(
        self, param: SSAValue, op: Operation, place: LoopContext
    ) -> ParameterAccess | None:
        shape: tuple[int, ...] = memref_of(param).get_shape()
        match op:
            case memref.LoadOp() | memref.StoreOp():
                writes = isinstance(op, memref.StoreOp)
                indices = self.exprs(op.indices)
            case tir.TexelReadOp() | tir.TexelWriteOp():
                writes = isinstance(op, tir.TexelWriteOp)
                shape = (prod(shape) // tir.TEXEL, tir.TEXEL)
                indices = self.exprs((*op.coords, op.lane))
            case _:
                return None
        if indices is None or len(indices) != len(shape):
            return None
        return ParameterAccess(self._position, place, writes, shape, indices)

    def exprs(self, values: Sequence[SSAValue]) -> tuple[AffineExpr, ...] | None:
        """Return indices over the dimensions; None if one of them is not affine."""
        exprs = [index_expr(value, self._leaves) for value in values]
        known = tuple(expr for expr in exprs if expr is not None)
        return known if len(known) == len(exprs) else None


def _sizes(attribute: DenseArrayBase | None) -> tuple[int, int, int]:
    """Return the extents of an index space along x, y and z."""
    array = cast("DenseArrayBase[IntegerType] | None", attribute)
    sizes = () if array is None else tuple(array.iter_values())
    x, y, z = (*sizes, 1, 1, 1)[:3]
    return int(x), int(y), int(z)
