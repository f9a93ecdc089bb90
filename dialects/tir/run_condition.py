"""The conditions on which a kernel runs: parameters with one element, read by every work-item."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod
from typing import NamedTuple, cast

from xdsl.dialects.builtin import I64, ArrayAttr, DenseArrayBase, MemRefType, i1, i64
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException


class RunCondition(NamedTuple):
    """A parameter of a kernel, whose work-items return at once unless it has the value `wanted`."""

    parameter: int
    wanted: bool


def run_conditions_attribute(conditions: Sequence[RunCondition]) -> ArrayAttr | None:
    """Return `[array<i64: parameter, wanted>, ...]`, or None without conditions."""
    if not conditions:
        return None
    return ArrayAttr(DenseArrayBase.from_list(i64, condition) for condition in conditions)


def run_conditions_of(attribute: ArrayAttr | None) -> tuple[RunCondition, ...]:
    """Return the conditions that an attribute lists."""
    if attribute is None:
        return ()
    arrays = cast("Sequence[DenseArrayBase[I64]]", attribute.data)
    pairs = (array.iter_values() for array in arrays)
    return tuple(RunCondition(parameter, bool(wanted)) for parameter, wanted in pairs)


def verify_run_conditions(
    attribute: ArrayAttr | None, types: Sequence[Attribute], outputs: Collection[int]
) -> None:
    """Raise VerifyException unless each condition is an input with one element of i1."""
    for array in () if attribute is None else attribute.data:
        values = (
            list(cast("DenseArrayBase[I64]", array).iter_values())
            if isinstance(array, DenseArrayBase)
            else []
        )
        if len(values) != 2 or values[1] not in (0, 1):
            raise VerifyException(
                f"runs_if must list pairs, array<i64: parameter, 0 or 1>, not {array}"
            )
        at = values[0]
        if not 0 <= at < len(types) or at in outputs:
            raise VerifyException(f"runs_if {at} is not one of the kernel's inputs")
        type_ = cast("MemRefType", types[at])
        if type_.element_type != i1 or prod(type_.get_shape()) != 1:
            raise VerifyException(f"runs_if {at} must have one element of i1, not be {type_}")
