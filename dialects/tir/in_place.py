"""Pairs of an input and an output that a launch may bind to the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import I64, ArrayAttr, DenseArrayBase, i64
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from .texture import is_texture


def in_place_attribute(pairs: Sequence[tuple[int, int]]) -> ArrayAttr | None:
    """Return `[array<i64: input, output>, ...]` in ascending order, or None without pairs."""
    if not pairs:
        return None
    return ArrayAttr(DenseArrayBase.from_list(i64, pair) for pair in sorted(set(pairs)))


def in_place_pairs(attribute: ArrayAttr | None) -> tuple[tuple[int, int], ...]:
    """Return the pairs (position of an input, position of an output) of an attribute."""
    if attribute is None:
        return ()
    arrays = cast("Sequence[DenseArrayBase[I64]]", attribute.data)
    return tuple((input_, output) for input_, output in (a.iter_values() for a in arrays))


def verify_in_place(
    attribute: ArrayAttr | None, types: Sequence[Attribute], outputs: set[int]
) -> None:
    """Raise VerifyException unless each pair is an input and an output, and both are buffers."""
    if attribute is None:
        return
    for array in attribute.data:
        if not isinstance(array, DenseArrayBase) or len(cast("DenseArrayBase[I64]", array)) != 2:
            raise VerifyException(
                f"in_place must list pairs, array<i64: input, output>, not {array}"
            )
    for pair in in_place_pairs(attribute):
        inputs = set(range(len(types))) - outputs
        if pair[0] not in inputs or pair[1] not in outputs:
            raise VerifyException(
                f"in_place {list(pair)} must be an input and an output of {len(types)} parameters"
            )
        for i in pair:
            if is_texture(types[i]):
                raise VerifyException(
                    f"in_place {list(pair)}: parameter {i} is an image, which a kernel cannot "
                    "both read "
                    "and write"
                )
