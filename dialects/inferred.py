"""Base class of operations with inferred result types: operations of nn and of accelerators."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from typing import TypeAlias

from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, ParsePropInAttrDict, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

Properties: TypeAlias = Mapping[str, Attribute]
"""The properties of an operation, including defaults."""

FORMAT = "operands attr-dict `:` functional-type(operands, results)"
"""The assembly format of most such operations."""


class InferredOp(IRDLOperation, ABC):
    """A pure operation whose result types follow from one rule, `infer`."""

    traits = traits_def(Pure())
    irdl_options = (ParsePropInAttrDict(),)

    @classmethod
    def with_defaults(cls, properties: Properties) -> Properties:
        """Return the properties with defaults filled in."""
        definitions = cls.get_irdl_definition().properties
        defaults = {
            name: definition.default_value
            for name, definition in definitions.items()
            if definition.default_value is not None
        }
        return {**defaults, **properties}


def require(condition: bool, message: str) -> None:
    """Raise VerifyException with `message` unless the condition holds."""
    if not condition:
        raise VerifyException(message)
