"""Attributes of network results that overwrite an input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.ir import Attribute

from ..properties import int_array, ints, text
from .types import Tensor

_IN_PLACE = "nn.in_place"
"""The name of the input whose memory the result overwrites."""

_SHAPE = "nn.shape"
"""The shape of the leading box that callers see of a result that has room for more elements."""


def mark_in_place(
    function: func.FuncOp, position: int, input: str, seen: Sequence[int] | None = None
) -> None:
    """Mark a result that overwrites an input; callers see the box of shape `seen`, or all."""
    assert function.res_attrs is not None
    entries = list(function.res_attrs)
    marks: dict[str, Attribute] = {_IN_PLACE: StringAttr(input)}
    if seen is not None:
        marks[_SHAPE] = int_array(seen)
    entries[position] = DictionaryAttr({**entries[position].data, **marks})
    function.res_attrs = ArrayAttr(entries)


def overwritten_input(attributes: DictionaryAttr) -> str:
    """Return the name of the input that a result with these attributes overwrites; "" for none."""
    return text(attributes.data.get(_IN_PLACE)) or ""


def seen_shapes(function: func.FuncOp) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of the results as callers see them, without the room of caches."""
    attributes = function.res_attrs or [DictionaryAttr({})] * len(function.function_type.outputs)
    return tuple(
        whole if (seen := entries.data.get(_SHAPE)) is None else ints(seen)
        for whole, entries in zip(result_shapes(function), attributes, strict=True)
    )


def result_shapes(function: func.FuncOp) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of the results."""
    types = cast("Sequence[Tensor]", function.function_type.outputs.data)
    return tuple(type_.get_shape() for type_ in types)
