"""Index expressions of one kernel as normalised linear forms.

A dimension is a value on which an index can depend: a loop variable, the lane of the vectorized
loop, or a number computed by the kernel, such as an index loaded from memory. A form is a `Linear`
over these dimensions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from ...dialects.tir.affine import (
    Bounds,
    Linear,
    bounds_of,
    combine,
    linear,
    normal,
    substitute,
)
from ...dialects.tir.expressions import with_dims
from .values import Block, Node, Variable


def constant(value: int) -> Linear:
    """Return a form without terms."""
    return Linear({}, value)


class Lane:
    """The lane number of a vectorized loop."""


Dimension = Variable | Lane | Node


def dimensions_of(expr: AffineExpr) -> Iterator[int]:
    """Yield the positions of the dimensions in `expr`, with repetitions."""
    # Comparing the type is faster: isinstance with an abstract class is slow when it is False.
    if type(expr) is AffineDimExpr:
        yield expr.position
    elif isinstance(expr, AffineBinaryOpExpr):
        yield from dimensions_of(expr.lhs)
        yield from dimensions_of(expr.rhs)


class IndexSpace:
    """The dimensions of a kernel, and arithmetic on forms over them."""

    def __init__(self) -> None:
        self.dimensions: list[Dimension] = []
        self.extents: list[int | None] = []
        self._varying: set[int] = set()
        self._lanes: set[int] = set()
        self._exprs: list[AffineExpr] = []
        self._of_node: dict[Node, AffineExpr] = {}
        self._of_lane: dict[int, Linear] = {}

    def add(self, dimension: Dimension, extent: int | None) -> Linear:
        """Add a dimension with the values [0, extent) and return its form."""
        expr = AffineExpr.dimension(len(self.dimensions))
        if isinstance(dimension, Lane) or (
            isinstance(dimension, Node) and dimension.ctype.width > 1
        ):
            self._varying.add(len(self.dimensions))
        if isinstance(dimension, Lane):
            self._lanes.add(len(self.dimensions))
        self._exprs.append(expr)
        self.dimensions.append(dimension)
        self.extents.append(extent)
        return linear(expr, self.extents)

    def lane(self, width: int) -> Linear:
        """Return the form of the lane number in a vectorized loop of this width."""
        if width not in self._of_lane:
            self._of_lane[width] = self.add(Lane(), width)
        return self._of_lane[width]

    def of_node(self, node: Node, extent: int | None = None) -> Linear:
        """Return the form of a number that the kernel computes."""
        if node not in self._of_node:
            self._of_node[node] = self.add(node, None).expr()
            self.extents[-1] = extent
        return linear(self._of_node[node], self.extents)

    def apply(self, map: AffineMap, operands: Sequence[Linear]) -> Linear:
        """Apply a map with a single result to forms."""
        dims, symbols = operands[: map.num_dims], operands[map.num_dims :]
        return substitute(map.results[0], dims, symbols, self.extents)

    def normal(self, form: Linear) -> Linear:
        """Return the form with matching quotients and remainders combined."""
        return normal(form, self.extents)

    def binary(self, kind: AffineBinaryOpKind, lhs: Linear, rhs: Linear) -> Linear:
        """Return a sum of forms, or a product, quotient or remainder by a constant."""
        return combine(kind, lhs, rhs, self.extents)

    def bounds(self, form: Linear) -> Bounds:
        """Return the least and the greatest value of a form."""
        return bounds_of(self.normal(form), self.extents)

    def is_varying(self, form: Linear) -> bool:
        """Return whether the value differs between lanes of the vectorized loop."""
        return bool(form.terms and self._varying) and any(map(self._varies, form.terms))

    def _varies(self, atom: AffineExpr) -> bool:
        if type(atom) is AffineDimExpr:
            return atom.position in self._varying
        return not self._varying.isdisjoint(dimensions_of(atom))

    def at_lane(self, form: Linear, lane: int, take: Callable[[Node, int], Node]) -> Linear:
        """Return the form for one lane; `take` extracts that lane of a vector."""
        if not self.is_varying(form):
            return form
        if (stride := self.lane_stride(form)) is not None:
            rest = {atom: k for atom, k in form.terms.items() if not self._is_lane(atom)}
            return Linear(rest, form.constant + stride * lane)
        used = {position for atom in form.terms for position in dimensions_of(atom)}
        exprs = self._exprs[: max(used) + 1]
        for position in used:
            dimension = self.dimensions[position]
            if isinstance(dimension, Lane):
                exprs[position] = AffineExpr.constant(lane)
            elif isinstance(dimension, Node):
                exprs[position] = self.of_node(take(dimension, lane), self.extents[position]).expr()
        return linear(with_dims(form.expr(), exprs), self.extents)

    def _is_lane(self, atom: AffineExpr) -> bool:
        return type(atom) is AffineDimExpr and atom.position in self._lanes

    def lane_stride(self, form: Linear) -> int | None:
        """Return the constant difference between neighbouring lanes, or None if it varies."""
        stride = 0
        for atom, coefficient in form.terms.items():
            if self._is_lane(atom):
                stride += coefficient
            elif self._varies(atom):
                return None
        return stride

    def blocks_of(self, form: Linear) -> list[Block]:
        """Return the blocks that declare the variables of a form."""
        positions = {position for atom in form.terms for position in dimensions_of(atom)}
        dimensions = [self.dimensions[position] for position in positions]
        return [dimension.home for dimension in dimensions if isinstance(dimension, Variable)]


def constant_of(form: Linear) -> int | None:
    """Return the value of a form without terms, or None if it has terms."""
    return None if form.terms else form.constant


def divisor_of(atom: AffineBinaryOpExpr) -> int:
    """Return the constant divisor of a floordiv or mod atom."""
    assert isinstance(atom.rhs, AffineConstantExpr), "division is by a constant"
    return atom.rhs.value


def is_multiple(form: Linear, of: int) -> bool:
    """Return whether an index is provably a multiple of `of`."""
    return form.constant % of == 0 and all(factor % of == 0 for factor in form.terms.values())
