"""Layouts that a kernel requests for its constants: divided, padded, permuted dimensions.

`layouts = {"1" = affine_map<(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)>}` on a `tir.func` is the
location of element (d0, d1) of parameter 1. `cl-pack-constants` packs the constant of every launch;
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
    """Return the part that a result of a layout takes, or None.

    A result is a dimension, its `floordiv` or its `mod`.
    """
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
    """Return the shape of the smallest array that contains an array of `shape` in `layout`.

    Raises VerifyException unless each result of the layout is a dimension, or a dimension
    `floordiv` or `mod` a constant, and the results of each dimension together enumerate its
    elements.
    """
    error = VerifyException(f"{layout} is not a layout of {'x'.join(map(str, shape))} elements")
    if layout.num_dims != len(shape) or layout.num_symbols:
        raise error
    parts: list[Part] = []
    sizes: list[int] = []
    for expr in layout.results:
        part = layout_part(expr)
        if part is None:
            raise error
        parts.append(part)
        sizes.append(-(-shape[part.dim] // part.step) if part.block is None else part.block)
    for dim in range(len(shape)):
        axes = coarsest_first(parts, dim)
        inner = [sizes[i] for i in axes]
        if not axes or any(parts[i].step != prod(inner[n + 1 :]) for n, i in enumerate(axes)):
            raise error
    return tuple(sizes)


def coarsest_first(parts: Sequence[Part], dim: int) -> list[int]:
    """Return the positions of the parts of dimension `dim`, by descending step."""
    return sorted((i for i, p in enumerate(parts) if p.dim == dim), key=lambda i: -parts[i].step)


def packed_type(layout: AffineMap, type_: MemRefType[Attribute]) -> MemRefType[Attribute]:
    """Return the type of a parameter in `layout`; raise VerifyException as `packed_shape`."""
    shape = packed_shape(layout, type_.get_shape())
    return MemRefType(type_.element_type, shape, memory_space=type_.memory_space)


def verify_layouts(
    layouts: DictionaryAttr | None, types: Sequence[Attribute], constants: Sequence[int]
) -> None:
    """Raise VerifyException unless keys are numbers of constants, and values layouts of them."""
    if layouts is None:
        return
    for key, layout in layouts.data.items():
        if key not in map(str, constants):
            raise VerifyException(
                f"layouts must name constants, but parameter {key} is not one of {list(constants)}"
            )
        if not isinstance(layout, AffineMapAttr):
            raise VerifyException(
                f"the layout of parameter {key} must be an affine map, not {layout}"
            )
        packed_type(layout.data, cast("MemRefType[Attribute]", types[int(key)]))
