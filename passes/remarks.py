"""What a pass has to say to the user although it succeeded; the module carries it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute

ATTRIBUTE_NAME = "clopt.remarks"


def remarks_of(module: ModuleOp) -> tuple[str, ...]:
    """The remarks of the passes that ran over `module`, in order."""
    found = module.attributes.get(ATTRIBUTE_NAME)
    if not isinstance(found, ArrayAttr):
        return ()
    texts = cast("ArrayAttr[Attribute]", found)
    return tuple(text.data for text in texts if isinstance(text, StringAttr))


def add_remarks(module: ModuleOp, texts: Iterable[str]) -> None:
    """Append sentences that `module` does not carry yet."""
    kept = dict.fromkeys((*remarks_of(module), *texts))
    if kept:
        module.attributes[ATTRIBUTE_NAME] = ArrayAttr([StringAttr(text) for text in kept])
