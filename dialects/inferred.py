"""The base of operations whose results follow from a rule: those of nn and of accelerators."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from typing import TypeAlias

from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, ParsePropInAttrDict, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

Properties: TypeAlias = Mapping[str, Attribute]
"""The properties of an operation, with defaults filled in."""

FORMAT = "operands attr-dict `:` functional-type(operands, results)"
"""The text form of most such operations."""


class InferredOp(IRDLOperation, ABC):
    """A pure operation with one rule for its results, which its dialect calls `infer`."""

    traits = traits_def(Pure())
    irdl_options = (ParsePropInAttrDict(),)

    @classmethod
    def with_defaults(cls, properties: Properties) -> Properties:
        """The given properties, and the defaults of the others."""
        definitions = cls.get_irdl_definition().properties
        defaults = {
            name: definition.default_value
            for name, definition in definitions.items()
            if definition.default_value is not None
        }
        return {**defaults, **properties}


def require(condition: bool, message: str) -> None:
    """Raise a VerifyException unless the condition holds."""
    if not condition:
        raise VerifyException(message)
