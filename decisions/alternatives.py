"""Alternatives to the choices of a module that take less memory and more time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, FloatAttr, IntegerAttr, ModuleOp, StringAttr, f64, i64
from xdsl.ir import Attribute

from ..dialects.cl import AlternativeAttr
from ..dialects.properties import text
from .sites import Site

ATTRIBUTE_NAME = "cl.alternatives"
"""The module attribute that asks passes to offer alternatives, and that collects them."""


@dataclass(frozen=True)
class Saving:
    """Estimated bytes saved while some results are live, and the extra time that this takes."""

    bytes: int
    microseconds: float
    needed: int = 0
    """Bytes of an arena that replace the saved ones, if these are an image outside of arenas."""


@dataclass(frozen=True, kw_only=True)
class Alternative(Saving):
    """Another choice for a site, and what it saves compared with the choice of a pass."""

    site: Site
    choice: Attribute
    operations: frozenset[int]
    """Numbers of operations (`operation_number`); it saves memory while their results are live."""
    nodes: str


def request_alternatives(module: ModuleOp) -> None:
    """Ask later passes to offer alternatives."""
    module.attributes[ATTRIBUTE_NAME] = ArrayAttr([])


def alternatives_of(module: ModuleOp) -> list[Alternative] | None:
    """Return the alternatives that passes offered; None if nobody asked for them."""
    found = module.attributes.get(ATTRIBUTE_NAME)
    if not isinstance(found, ArrayAttr):
        return None
    several = cast("ArrayAttr[Attribute]", found)
    return [_read(each) for each in several if isinstance(each, AlternativeAttr)]


def write_alternatives(module: ModuleOp, alternatives: Iterable[Alternative]) -> None:
    """Replace the alternatives of a module."""
    module.attributes[ATTRIBUTE_NAME] = ArrayAttr(map(_written, alternatives))


def _read(attr: AlternativeAttr) -> Alternative:
    return Alternative(
        attr.bytes.value.data,
        attr.microseconds.value.data,
        attr.needed.value.data,
        site=Site.parse(attr.kind.data, attr.digest.data),
        choice=attr.choice,
        operations=frozenset(number.value.data for number in attr.operations),
        nodes=text(attr.nodes) or "",
    )


def _written(each: Alternative) -> AlternativeAttr:
    numbers = [IntegerAttr(number, i64) for number in sorted(each.operations)]
    return AlternativeAttr(
        StringAttr(each.site.kind.value),
        StringAttr(each.site.text),
        each.choice,
        IntegerAttr(each.bytes, i64),
        IntegerAttr(each.needed, i64),
        FloatAttr(each.microseconds, f64),
        ArrayAttr(numbers),
        StringAttr(each.nodes),
    )
