"""Rearrange constants at compile time into the layouts that kernels ask for."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple, cast

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import AffineMapAttr, MemRefType, ModuleOp
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...context import weights_of
from ...dialects import cl, tir
from ...dialects.nn import Array
from ...errors import CloptError


def pack(array: Array, layout: AffineMap, shape: Sequence[int]) -> Array:
    """`packed[layout(i)] = array[i]`, zeros elsewhere; `shape` is the packed shape.

    Each result of the layout is a dimension, or a dimension `floordiv` or `mod` a constant, and the
    results of one dimension together number its elements: blocking, padding and permuting.
    CloptError for another map.
    """
    refusal = CloptError(f"{layout} does not lay {array.shape} out as {tuple(shape)}")
    if len(layout.results) != len(shape):
        raise refusal
    parts = [_part(expr, size) for expr, size in zip(layout.results, shape, strict=True)]
    order: list[int] = []
    blocks: list[int] = []
    padding: list[tuple[int, int]] = []
    for dim, size in enumerate(array.shape):
        # The outermost part of a dimension is the one whose steps hold the most elements.
        mine = sorted(
            (i for i, part in enumerate(parts) if part.dim == dim), key=lambda i: -parts[i].step
        )
        sizes = [shape[i] for i in mine]
        if any(parts[i].step != prod(sizes[n + 1 :]) for n, i in enumerate(mine)):
            raise refusal
        padding.append((0, prod(sizes) - size))
        order += mine
        blocks += sizes
    if len(order) != len(shape) or any(after < 0 for _, after in padding):
        raise refusal
    padded = np.pad(array, padding).reshape(blocks)
    return np.ascontiguousarray(padded.transpose(np.argsort(order)))


class _Part(NamedTuple):
    """One dimension of a packed array: a dimension of the original in steps of some elements."""

    dim: int
    step: int


def _part(expr: AffineExpr, size: int) -> _Part:
    """What a result of a layout takes; CloptError for more than blocking."""
    match expr:
        case AffineDimExpr(position=dim):
            return _Part(dim, 1)
        case AffineBinaryOpExpr(
            kind=AffineBinaryOpKind.FloorDiv,
            lhs=AffineDimExpr(position=dim),
            rhs=AffineConstantExpr(value=block),
        ):
            return _Part(dim, block)
        case AffineBinaryOpExpr(
            kind=AffineBinaryOpKind.Mod,
            lhs=AffineDimExpr(position=dim),
            rhs=AffineConstantExpr(value=block),
        ) if block == size:
            return _Part(dim, 1)
        case _:
            raise CloptError(f"a layout takes dimensions apart, {expr} does more")


class CLPackConstantsPass(ModulePass):
    """Give each launch the constants its kernel wants, packed once and stored in the weights.

    A kernel's `layouts` (see `tir.func`) say how a constant parameter is laid out; launches of
    kernels that ask for the same layout share the packed array. Constants that nothing reads any
    more are removed.
    """

    name = "cl-pack-constants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        weights = weights_of(ctx)
        kernels = {k.sym_name.data: k for k in op.ops if isinstance(k, tir.FuncOp) and k.layouts}
        packed: dict[tuple[SSAValue, AffineMap], SSAValue] = {}

        def packed_constant(
            constant: cl.ConstantOp, layout: AffineMap, to: MemRefType[Attribute]
        ) -> SSAValue:
            key = (constant.result, layout)
            if key not in packed:
                array = pack(weights.get(constant.key.data), layout, to.get_shape())
                new = cl.ConstantOp(weights.add(array), to)
                new.result.name_hint = constant.result.name_hint
                Rewriter.insert_op(new, InsertPoint.after(constant))
                packed[key] = new.result
            return packed[key]

        for launch in op.walk():
            if not isinstance(launch, cl.EnqueueKernelOp):
                continue
            kernel = kernels.get(launch.kernel_name)
            if kernel is None or kernel.layouts is None:
                continue
            for index, layout in kernel.layouts.data.items():
                i = int(index)
                constant = launch.args[i].owner
                assert isinstance(constant, cl.ConstantOp), "a layout is for a constant parameter"
                assert isinstance(layout, AffineMapAttr)
                to = cast("MemRefType[Attribute]", kernel.params[i].type)
                launch.operands[i] = packed_constant(constant, layout.data, to)
        _remove_unread(op)


def _remove_unread(module: ModuleOp) -> None:
    for op in list(module.walk()):
        if isinstance(op, cl.ConstantOp) and not op.result.uses:
            op.detach()
            op.erase()
