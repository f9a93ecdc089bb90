"""Construction of the body of one `tir.block`: indices, loads, guards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar, cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, MemRefType, f16, f32, i1, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr
from xdsl.irdl import IRDLOperation

from ....dialects.tir import building
from ....dialects.tir.affine import bounds, simplify
from ....dialects.tir.expressions import used_dims, with_dims
from .scalar import Number, ScalarValue, compute_type, constant_attr

if TYPE_CHECKING:
    from .kernel import KernelBuilder

Index = AffineExpr
"""A position along one dimension, over the iteration variables (and loaded integers) of a body."""

_INDEX = IndexType()
_T = TypeVar("_T")


class Body:
    """Appends scalar code to a block; `d0, d1, …` in an index are the block's iteration variables.

    A loop may run over the tail of a packed axis: `extents` are the loops' extents with tails,
    `shape` those without. Lowerings use `bounds`, which ignores tails, so that their code does not
    depend on layouts. `TensorBuffer` guards accesses that a tail would move out of the buffer.

    Computed values are remembered (`_known`), so that a producer inlined into several consumers is
    computed once.
    """

    def __init__(
        self,
        kernel: KernelBuilder,
        block: Block,
        dims: Sequence[SSAValue],
        extents: Sequence[int],
        shape: Sequence[int],
        half: Attribute = f32,
    ):
        self.kernel = kernel
        self.half = half
        """The type in which halves are computed: f32, or f16 inside of a sum of halves."""
        self.dims: list[SSAValue] = list(dims)
        self.extents: list[int | None] = list(extents)
        self._shape: list[int | None] = list(shape)
        self._block = block
        self._known: list[dict[object, object]] = [{}]

    @property
    def is_conditional(self) -> bool:
        """Return whether code that is appended now runs under a condition."""
        return len(self._known) > 1

    def add(self, op: Operation) -> Operation:
        """Append an operation and return it."""
        self._block.add_op(op)
        return op

    def constant(self, value: Number, element_type: Attribute) -> ScalarValue:
        """Return a number of the given element type."""
        attr = constant_attr(value, element_type, self.half)
        ssa = self._once(("constant", attr), lambda: building.constant(attr))
        return ScalarValue(self, ssa, element_type)

    def simplify(self, index: Index) -> Index:
        """Return the index, folding divisions whose results follow from the extents."""
        return simplify(index, self.extents)

    def bounds(self, index: Index) -> tuple[int | None, int | None]:
        """Return the least and greatest value of the index, ignoring tails."""
        return bounds(index, self._shape)

    def runs_over(self, index: Index) -> bool:
        """Return whether the index depends on a loop with a tail."""
        return any(self.extents[dim] != self._shape[dim] for dim in used_dims(index))

    def combined(
        self, kind: type[IRDLOperation], a: ScalarValue, b: ScalarValue | Number
    ) -> ScalarValue:
        """Return the result of an operation of `arith` or `math` on two numbers of one type."""
        op = self.add(building.binary(kind, a.ssa, a.lift(b).ssa))
        return ScalarValue(self, op.results[0], a.element_type)

    def index_value(self, index: Index) -> SSAValue:
        """Return the index as an SSA value."""
        index = self.simplify(index)
        match index:
            case AffineDimExpr():
                return self.dims[index.position]
            case AffineConstantExpr():
                attr = building.index_attribute(index.value)
                return self._once(("constant", attr), lambda: building.constant(attr))
            case _:
                return self._once(("apply", index), lambda: self._apply(index))

    def _apply(self, index: Index) -> Operation:
        used = sorted(used_dims(index))
        renumbered: list[AffineExpr] = [AffineExpr.constant(0)] * len(self.dims)
        for new, old in enumerate(used):
            renumbered[old] = AffineExpr.dimension(new)
        expr = with_dims(index, renumbered)
        operands = [self.dims[i] for i in used]
        return building.apply(operands, expr)

    def dynamic_index(self, value: ScalarValue, extent: int | None = None) -> Index:
        """Return a computed integer as an index; `extent` promises that it is in [0, extent)."""
        ssa = self._once(("index_cast", value.ssa), lambda: arith.IndexCastOp(value.ssa, _INDEX))
        if ssa in self.dims:
            return AffineExpr.dimension(self.dims.index(ssa))
        self.dims.append(ssa)
        self.extents.append(extent)
        self._shape.append(extent)
        return AffineExpr.dimension(len(self.dims) - 1)

    def index_scalar(self, index: Index, element_type: Attribute) -> ScalarValue:
        """Return an index as a number of an integer element type."""
        ssa = self.index_value(index)
        type_ = compute_type(element_type)
        cast = self._once(("from_index", ssa, type_), lambda: arith.IndexCastOp(ssa, type_))
        return ScalarValue(self, cast, element_type)

    def load(
        self, buffer: SSAValue, index: Sequence[Index], element_type: Attribute
    ) -> ScalarValue:
        """Return an element of a buffer; a half is widened to this body's compute type."""
        indices = [self.index_value(i) for i in index]
        ssa = self._once(("load", buffer, *indices), lambda: building.load(buffer, indices))
        if ssa.type == f16 and self.half == f32:
            half = ssa
            ssa = self._once(("extf", half), lambda: arith.ExtFOp(half, f32))
        return ScalarValue(self, ssa, element_type)

    def store(self, value: ScalarValue, buffer: SSAValue, index: Sequence[Index]) -> None:
        """Write an element of a buffer, rounded to half if the buffer holds halves."""
        ssa = value.ssa
        held = cast("MemRefType[Attribute]", buffer.type).element_type
        if held == f16 and ssa.type != f16:
            wide = ssa.owner
            # A half that is only moved is stored without widening and rounding.
            if isinstance(wide, arith.ExtFOp):
                ssa = wide.input
            else:
                ssa = self.add(arith.TruncFOp(ssa, f16)).results[0]
        self.add(building.store(ssa, buffer, [self.index_value(i) for i in index]))

    def read(self, value: SSAValue, index: Sequence[Index]) -> ScalarValue:
        """Return the element of an nn tensor at `index`, loaded or computed by its producer."""
        return self.kernel.element(self, value, tuple(self.simplify(i) for i in index))

    def read_or(
        self, value: SSAValue, index: Sequence[Index], shape: Sequence[int], otherwise: Number
    ) -> ScalarValue:
        """Return the element at `index`, or `otherwise` if the index is outside of the shape."""
        inside = self.inside(index, shape)
        if inside is None:
            return self.read(value, index)
        return self.where(inside, lambda: self.read(value, index), otherwise)

    def inside(self, index: Sequence[Index], shape: Sequence[int]) -> ScalarValue | None:
        """Return whether the index is within the shape, ignoring tails; None if it always is."""
        return self._within(index, shape, self._shape)

    def within(self, index: Sequence[Index], shape: Sequence[int]) -> ScalarValue | None:
        """Return whether the index is within the shape despite tails; None if it always is."""
        if self.extents == self._shape:
            return None
        moved = [(i, size) for i, size in zip(index, shape, strict=True) if self.runs_over(i)]
        return self._within([i for i, _ in moved], [size for _, size in moved], self.extents)

    def within_memory(self, index: Sequence[Index], extents: Sequence[int]) -> ScalarValue | None:
        """Return whether memory of these extents has the index despite tails; None if always."""
        return self.within(index, extents)

    def _within(
        self, index: Sequence[Index], shape: Sequence[int], extents: Sequence[int | None]
    ) -> ScalarValue | None:
        condition: ScalarValue | None = None
        for position, size in zip(index, shape, strict=True):
            below, above = _outside(bounds(position, extents), size)
            for needed, predicate, limit in ((below, "sge", 0), (above, "slt", size)):
                if needed:
                    this = self.compare_index(position, predicate, limit)
                    condition = this if condition is None else condition & this
        return condition

    def compare_index(self, index: Index, predicate: str, limit: int) -> ScalarValue:
        """Return a comparison of an index with a number, by a predicate of `arith.cmpi`."""
        lhs = self.index_value(index)
        rhs = self.index_value(AffineExpr.constant(limit))
        ssa = self._once(("cmpi", predicate, lhs, rhs), lambda: arith.CmpiOp(lhs, rhs, predicate))
        return ScalarValue(self, ssa, i1)

    def clamp(self, index: Index, size: int) -> Index:
        """Return the position in [0, size) nearest to the index."""
        if not any(_outside(self.bounds(index), size)):
            return index
        # Consider tails, too: the new index promises to be in [0, size).
        below, above = _outside(bounds(index, self.extents), size)
        position = self.index_scalar(index, i32)
        if below:
            position = position.max(0)
        if above:
            position = position.min(size - 1)
        return self.dynamic_index(position, size)

    def where(
        self,
        condition: ScalarValue,
        then: Callable[[], ScalarValue],
        otherwise: Number | Callable[[], ScalarValue],
    ) -> ScalarValue:
        """Return `then()` if the condition holds, else `otherwise`; only one is evaluated."""
        with self._nested() as then_block:
            value = then()
            self.add(scf.YieldOp(value.ssa))
        with self._nested() as else_block:
            if callable(otherwise):
                other = otherwise()
            else:
                other = self.constant(otherwise, value.element_type)
            self.add(scf.YieldOp(other.ssa))
        op = scf.IfOp(condition.ssa, [value.ssa.type], Region(then_block), Region(else_block))
        self.add(op)
        return ScalarValue(self, op.results[0], value.element_type)

    @contextmanager
    def _nested(self):
        outer, self._block = self._block, Block()
        self._known.append({})
        try:
            yield self._block
        finally:
            self._block = outer
            self._known.pop()

    def _once(self, key: object, make: Callable[[], Operation]) -> SSAValue:
        return self.remember(key, lambda: self.add(make()).results[0])

    def remember(self, key: object, make: Callable[[], _T]) -> _T:
        """Return `make()`, or its earlier value for the same key if that is still visible."""
        for scope in reversed(self._known):
            if key in scope:
                return cast("_T", scope[key])
        value = make()
        self._known[-1][key] = value
        return value


def _outside(limits: tuple[int | None, int | None], size: int) -> tuple[bool, bool]:
    """Return whether a position within the limits may be negative, and `size` or more."""
    low, high = limits
    return low is None or low < 0, high is None or high >= size
