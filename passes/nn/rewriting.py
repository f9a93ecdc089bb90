"""Helpers for rewrite patterns over nn."""

from __future__ import annotations

import math
from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern

from ...dialects import nn


def rewrite_networks(module: ModuleOp, pattern: RewritePattern) -> None:
    """Offer each operation of a module's networks to `pattern`, but not those that it creates."""
    walker = PatternRewriteWalker(pattern, apply_recursively=False)
    for network in nn.networks_of(module):
        walker.rewrite_region(network.body)


def replace(
    rewriter: PatternRewriter, op: Operation, *new_ops: Operation, named: Operation | None = None
) -> None:
    """Replace an operation by new ones; the last one's results replace its results.

    They get the location of `op`, or of `named` if they mostly stem from that node.
    """
    for new_op in new_ops:
        new_op.location = (named or op).location
    rewriter.replace(op, new_ops)


def forward(rewriter: PatternRewriter, op: Operation, value: SSAValue) -> None:
    """Replace an operation with one result by an existing value."""
    rewriter.replace(op, (), (value,))


def in_kernel(op: Operation) -> bool:
    """Return whether an operation is in a region: its kernel is final, so patterns skip it."""
    return isinstance(op.parent_op(), nn.FusedOp)


def splat_of(value: SSAValue) -> int | float | None:
    """Return the value of an inline constant whose elements are all equal, else None."""
    array = nn.constant_value(value)
    if array is None or not array.size:
        return None
    first = array.flat[0]
    return first.item() if (array == first).all() else None


def is_near(value: SSAValue, expected: float) -> bool:
    """Return whether a value is the constant `expected`, up to an exporter's rounding."""
    splat = splat_of(value)
    return splat is not None and math.isclose(splat, expected, rel_tol=1e-3)


def factors(value: SSAValue, stop: SSAValue | None = None) -> Iterable[SSAValue]:
    """Yield the leaves of a tree of products; pow(x, 3) is three factors, `stop` is a leaf."""
    owner = value.owner
    if value is not stop and isinstance(owner, nn.BinaryOp):
        exponent = splat_of(owner.b) if owner.kind.data is nn.BinaryKind.POW else None
        if owner.kind.data is nn.BinaryKind.MUL:
            yield from factors(owner.a, stop)
            yield from factors(owner.b, stop)
            return
        if exponent in (2, 3):
            for _ in range(int(exponent)):
                yield from factors(owner.a, stop)
            return
    yield value
