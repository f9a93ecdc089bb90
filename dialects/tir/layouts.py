"""Layouts that a kernel requests for its constants: divided, padded, permuted dimensions.

`layouts = {"1" = affine_map<(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)>}` on a `tir.func` says where
its parameter 1 wants the element (d0, d1). `cl-pack-constants` packs the constant of every launch;
until then the parameter keeps its unpacked type.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple, cast

from xdsl.dialects.builtin import AffineMapAttr, DictionaryAttr, MemRefType
from xdsl.ir import Attribute
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)
from xdsl.utils.exceptions import VerifyException


class Part(NamedTuple):
    """One axis of a packed array: it counts a dimension of the original in steps."""

    dim: int
    step: int
    block: int | None = None
    """The size of the axis if the layout states it, by `mod`."""


def layout_part(expr: AffineExpr) -> Part | None:
    """The part that a result of a layout takes: a dimension, its `floordiv` or its `mod`."""
    match expr:
        case AffineDimExpr(position=dim):
            return Part(dim, 1)
        case AffineBinaryOpExpr(
            kind=AffineBinaryOpKind.FloorDiv | AffineBinaryOpKind.Mod as kind,
            lhs=AffineDimExpr(position=dim),
            rhs=AffineConstantExpr(value=block),
        ) if block > 0:
            return Part(dim, block) if kind is AffineBinaryOpKind.FloorDiv else Part(dim, 1, block)
        case _:
            return None


def packed_shape(layout: AffineMap, shape: Sequence[int]) -> tuple[int, ...]:
    """The shape of the smallest array that holds an array of `shape` in `layout`.

    VerifyException unless each result of the layout is a dimension, or a dimension `floordiv` or
    `mod` a constant, and the results of one dimension together number its elements.
    """
    refusal = VerifyException(f"{layout} is no layout of {'x'.join(map(str, shape))} elements")
    if layout.num_dims != len(shape) or layout.num_symbols:
        raise refusal
    parts: list[Part] = []
    sizes: list[int] = []
    for expr in layout.results:
        part = layout_part(expr)
        if part is None:
            raise refusal
        parts.append(part)
        sizes.append(-(-shape[part.dim] // part.step) if part.block is None else part.block)
    for dim in range(len(shape)):
        mine = coarsest_first(parts, dim)
        inner = [sizes[i] for i in mine]
        if not mine or any(parts[i].step != prod(inner[n + 1 :]) for n, i in enumerate(mine)):
            raise refusal
    return tuple(sizes)


def coarsest_first(parts: Sequence[Part], dim: int) -> list[int]:
    """The positions of the parts of dimension `dim`, in the order of falling steps."""
    return sorted((i for i, p in enumerate(parts) if p.dim == dim), key=lambda i: -parts[i].step)


def packed_type(layout: AffineMap, type_: MemRefType[Attribute]) -> MemRefType[Attribute]:
    """The type of a parameter in `layout`; VerifyException as `packed_shape`."""
    shape = packed_shape(layout, type_.get_shape())
    return MemRefType(type_.element_type, shape, memory_space=type_.memory_space)


def verify_layouts(
    layouts: DictionaryAttr | None, types: Sequence[Attribute], constants: Sequence[int]
) -> None:
    """VerifyException unless each key is the number of a constant, and each value its layout."""
    if layouts is None:
        return
    for key, layout in layouts.data.items():
        if key not in map(str, constants):
            raise VerifyException(
                f"layouts names parameter {key}, which is none of the constants {list(constants)}"
            )
        if not isinstance(layout, AffineMapAttr):
            raise VerifyException(f"the layout of parameter {key} is an affine map, not {layout}")
        packed_type(layout.data, cast("MemRefType[Attribute]", types[int(key)]))
