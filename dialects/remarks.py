"""Remarks: messages to the user from passes that succeed, stored on the module."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute

from .properties import text

ATTRIBUTE_NAME = "clopt.remarks"


def remarks_of(module: ModuleOp) -> tuple[str, ...]:
    """Return the remarks of the passes that ran over `module`, in order."""
    found = module.attributes.get(ATTRIBUTE_NAME)
    if not isinstance(found, ArrayAttr):
        return ()
    texts = map(text, cast("ArrayAttr[Attribute]", found))
    return tuple(sentence for sentence in texts if sentence is not None)


def add_remarks(module: ModuleOp, texts: Iterable[str]) -> None:
    """Append remarks that `module` does not have yet."""
    kept = dict.fromkeys((*remarks_of(module), *texts))
    if kept:
        module.attributes[ATTRIBUTE_NAME] = ArrayAttr([StringAttr(text) for text in kept])
