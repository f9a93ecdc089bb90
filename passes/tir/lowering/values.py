"""Index values at a place of the new kernel: expressions over dimensions become operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from ....dialects.tir import building
from ....dialects.tir.expressions import used_dims, with_dims
from ..flat import compose, tidy
from .space import IterationDomain


@dataclass(frozen=True)
class IndexEnvironment:
    """The loop variables and ranges at a place of the new kernel.

    A dimension with several values is `variable + offset`; any other has its only value in
    `domain`.
    """

    domain: IterationDomain
    variables: Mapping[int, tuple[SSAValue, int]] = field(
        default_factory=dict[int, tuple[SSAValue, int]]
    )

    def with_domain(self, domain: IterationDomain) -> IndexEnvironment:
        """Return the same place with narrower ranges."""
        return IndexEnvironment(domain, self.variables)

    def inside(self, dim: int, variable: SSAValue, first: int, end: int) -> IndexEnvironment:
        """Return the place inside a loop over `dim` from `first` to `end`."""
        return IndexEnvironment(
            self.domain.narrow(dim, first, end), {**self.variables, dim: (variable, first)}
        )

    def index(self, expr: AffineExpr, out: Block) -> SSAValue:
        """Return the value of `expr`, appending the operations that it needs to `out`."""
        # A kernel with many nests has many dimensions, but an index uses few of them.
        values: list[AffineExpr] = [AffineExpr.constant(0)] * len(self.domain.ranges)
        operands: list[SSAValue] = []
        extents: list[int] = []
        for dim in sorted(used_dims(expr)):
            first, end = self.domain.ranges[dim]
            if end - first == 1:
                values[dim] = AffineExpr.constant(first)
                continue
            variable, offset = self.variables[dim]
            values[dim] = AffineExpr.dimension(len(operands)) + offset
            operands.append(variable)
            extents.append(end - offset)
        return _apply(tidy(compose(expr, values), extents), operands, out)


def _apply(expr: AffineExpr, operands: list[SSAValue], out: Block) -> SSAValue:
    if isinstance(expr, AffineDimExpr):
        return operands[expr.position]
    if isinstance(expr, AffineConstantExpr):
        return constant(expr.value, out)
    used = sorted(used_dims(expr))
    renumber = [AffineExpr.constant(0)] * len(operands)
    for new, old in enumerate(used):
        renumber[old] = AffineExpr.dimension(new)
    op = building.apply([operands[d] for d in used], with_dims(expr, renumber))
    out.add_op(op)
    return op.result


def constant(value: int, out: Block) -> SSAValue:
    """Append an index constant to `out`."""
    op = building.index_constant(value)
    out.add_op(op)
    return op.result
