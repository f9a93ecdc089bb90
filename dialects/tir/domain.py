"""Checks that the loops around a block cover its iteration domain.

A reduction must count each point once. A block that writes to memory or an image outside the kernel
must compute all points. A block that fills a temporary may omit points, since `compute_at`
restricts it to the points that its consumer reads. The checks are cheap: they reject loops that
provably break these rules, but do not prove that all other loops obey them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects import memref
from xdsl.ir import Block, OpResult, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr
from xdsl.utils.exceptions import VerifyException

from .affine import bounds, linear
from .attributes import IterKind, LoopKind
from .ops import ForOp, enclosing_loops

if TYPE_CHECKING:
    from .block import BlockOp

_ACCUMULATING = (LoopKind.Serial, LoopKind.Rolled, LoopKind.Unrolled)
"""The kinds whose iterations run sequentially."""


def verify_domain(block: BlockOp) -> None:
    """Raise VerifyException if the loops provably miss or repeat points of the block's domain."""
    loops = [_loop_of(var) for var in block.loops]
    sizes = [loop.size for loop in loops]
    if 0 in block.iter_extents or 0 in sizes:
        return
    variables = [
        _Variable(var.name_hint or f"{i}", kind, extent, expr, sizes)
        for i, (var, kind, extent, expr) in enumerate(
            zip(block.iter_vars, block.iter_kinds, block.iter_extents, block.exprs, strict=True)
        )
    ]
    covers_all = not all(_is_temporary(store.memref) for store in block.stores())
    for variable in variables:
        if variable.is_outside:
            raise VerifyException(
                f"'{variable.name}' runs from {variable.low} to {variable.high}, outside its "
                f"{variable.extent} values"
            )
        if covers_all or variable.kind is IterKind.Reduce:
            variable.verify_cover()
    for group in _entangled(variables):
        if covers_all or all(v.kind is IterKind.Reduce for v in group):
            _verify_enough(group, sizes)
    if block.is_reduction:
        _verify_once(block, variables, loops)


@dataclass(frozen=True)
class _Variable:
    """An iteration variable and its values in the loops."""

    name: str
    kind: IterKind
    extent: int
    expr: AffineExpr
    sizes: Sequence[int]

    @property
    def dims(self) -> set[int]:
        """Return the loops that drive it, without loops that run once."""
        return {dim for dim in self.expr.used_dims() if self.sizes[dim] > 1}

    @property
    def is_whole_loop(self) -> bool:
        """Return whether it is the variable of one loop of equal extent, the usual case."""
        expr = self.expr
        return isinstance(expr, AffineDimExpr) and self.sizes[expr.position] == self.extent

    @property
    def low(self) -> int:
        """Return its minimum."""
        return self._bound(0)

    @property
    def high(self) -> int:
        """Return its maximum."""
        return self._bound(1)

    def _bound(self, side: int) -> int:
        value = bounds(self.expr, self.sizes)[side]
        assert value is not None, "loops have static extents"
        return value

    @property
    def is_outside(self) -> bool:
        """Return whether all iterations are outside the domain."""
        return not self.is_whole_loop and (self.high < 0 or self.low >= self.extent)

    @property
    def is_inside(self) -> bool:
        """Return whether all iterations are inside the domain."""
        return self.is_whole_loop or (self.low >= 0 and self.high < self.extent)

    def verify_cover(self) -> None:
        """Raise VerifyException if a value of the variable is provably missed."""
        if self.is_whole_loop:
            return
        low, high = self.low, self.high
        missing = 0 if low > 0 else high + 1 if high < self.extent - 1 else self._first_gap()
        if missing is not None and 0 <= missing < self.extent:
            raise VerifyException(
                f"the loops miss {missing}, one of the {self.extent} values of '{self.name}'"
            )

    def _first_gap(self) -> int | None:
        """Return the least value in the bounds that a sum of independent loops misses, or None."""
        form = linear(self.expr, self.sizes)
        if any(not isinstance(atom, AffineDimExpr) for atom in form.terms):
            return None
        reach = 0
        for step, dim in sorted(
            (abs(k), atom.position)
            for atom, k in form.terms.items()
            if isinstance(atom, AffineDimExpr)
        ):
            if step > reach + 1:
                return self.low + reach + 1
            reach += step * (self.sizes[dim] - 1)
        return None


def _entangled(variables: Sequence[_Variable]) -> list[list[_Variable]]:
    """Partition the variables into groups that share no loop."""
    groups: list[tuple[set[int], list[_Variable]]] = []
    for variable in variables:
        dims, members = variable.dims, [variable]
        apart: list[tuple[set[int], list[_Variable]]] = []
        for other_dims, others in groups:
            if dims & other_dims:
                dims, members = dims | other_dims, others + members
            else:
                apart.append((other_dims, others))
        groups = [*apart, (dims, members)]
    return [members for _, members in groups]


def _verify_enough(group: Sequence[_Variable], sizes: Sequence[int]) -> None:
    if len(group) < 2:
        return
    dims = set[int]().union(*(variable.dims for variable in group))
    points, runs = prod(v.extent for v in group), prod(sizes[dim] for dim in dims)
    if runs < points:
        names = ", ".join(f"'{variable.name}'" for variable in group)
        raise VerifyException(f"the loops run {runs} times, but {names} have {points} points")


def _verify_once(block: BlockOp, variables: Sequence[_Variable], loops: Sequence[ForOp]) -> None:
    """Raise VerifyException if a reduction counts a point twice, or points in parallel."""
    roles: dict[int, set[IterKind]] = {}
    for variable in variables:
        for dim in variable.dims:
            roles.setdefault(dim, set()).add(variable.kind)
    reduced = [dim for dim, kinds in roles.items() if IterKind.Reduce in kinds]
    for dim in reduced:
        loop, kind = loops[dim], loops[dim].kind.data
        name = loop.var.name_hint
        if kind not in _ACCUMULATING:
            raise VerifyException(
                f"loop '{name}' is {kind.value} but drives a reduction, whose iterations must "
                "run one "
                "after the other"
            )
    for group in _entangled([v for v in variables if v.kind is IterKind.Reduce]):
        dims = set[int]().union(*(variable.dims for variable in group))
        if any(len(roles[dim]) > 1 for dim in dims):
            continue  # a loop that also drives a spatial variable covers several results
        points, runs = prod(v.extent for v in group), prod(loops[dim].size for dim in dims)
        if runs > points and all(variable.is_inside for variable in group):
            names = ", ".join(f"'{variable.name}'" for variable in group)
            raise VerifyException(
                f"the loops run {runs} times, so the reduction counts some of the {points} points "
                f"of {names} twice"
            )
    path = enclosing_loops(block)
    first = min((path.index(loops[dim]) for dim in reduced), default=len(path))
    for loop in path[first:]:
        if loop.size > 1 and loop.var not in block.loops:
            raise VerifyException(
                f"loop '{loop.var.name_hint}' is inside the reduction but drives none of its "
                f"variables, so each point counts {loop.size} times"
            )


def _loop_of(var: SSAValue) -> ForOp:
    owner = var.owner
    loop = owner.parent_op() if isinstance(owner, Block) else None
    if not isinstance(loop, ForOp):
        raise VerifyException("a block must be driven by the variables of loops around it")
    return loop


def _is_temporary(buffer: SSAValue) -> bool:
    return isinstance(buffer, OpResult) and isinstance(buffer.op, memref.AllocaOp)
