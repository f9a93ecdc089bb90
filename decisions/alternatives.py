"""Alternatives to the choices of a module that take less memory and more time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, FloatAttr, IntegerAttr, ModuleOp, StringAttr, f64, i64
from xdsl.ir import Attribute

from ..dialects.cl import AlternativeAttr, ChoiceAttr
from ..dialects.properties import text
from .sites import Site

ATTRIBUTE_NAME = "cl.alternatives"
"""The attribute of a module whose passes should tell alternatives; it collects them."""


@dataclass(frozen=True)
class Saving:
    """Estimated bytes saved while some results are live, and the extra time that this takes."""

    bytes: int
    microseconds: float
    needed: int = 0
    """Bytes of an arena that replace the saved ones, if these are an image outside of arenas."""


@dataclass(frozen=True)
class Alternative:
    """Another choice for a site, compared with the one that a pass made."""

    site: Site
    choice: Attribute
    bytes: int
    """Estimated bytes saved while results of `operations` are live."""
    microseconds: float
    """Estimated extra time."""
    needed: int
    """Bytes of an arena that replace the saved ones, if these are an image outside of arenas."""
    operations: frozenset[int]
    """Numbers of operations (`operation_number`)."""
    nodes: str

    @property
    def demand(self) -> ChoiceAttr:
        """Return the demand for this choice."""
        kind = StringAttr(self.site.kind.value)
        others = ArrayAttr[Attribute]([])
        return ChoiceAttr(kind, StringAttr(self.site.text), self.choice, StringAttr(""), others)


def request_alternatives(module: ModuleOp) -> None:
    """Ask the passes that follow to tell alternatives."""
    module.attributes[ATTRIBUTE_NAME] = ArrayAttr([])


def alternatives_of(module: ModuleOp) -> list[Alternative] | None:
    """Return the alternatives that passes told; None if they need not."""
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
        Site.parse(attr.kind.data, attr.digest.data),
        attr.choice,
        attr.bytes.value.data,
        attr.microseconds.value.data,
        attr.needed.value.data,
        frozenset(number.value.data for number in attr.operations),
        text(attr.nodes) or "",
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
