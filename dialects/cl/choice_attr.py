"""Decisions of a compilation, written on the module."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition

from ..properties import text


@irdl_attr_definition
class ChoiceAttr(ParametrizedAttribute):
    """A decision: `#cl.choice<"form", "45e56ecf52fec923", "winograd 4", "conv_3", ["direct"]>`.

    The kind and the digest name the site: what is decided, and for which computation
    (`decisions/sites.py`). The nodes are empty until a pass has taken the decision. The list has
    the other choices of the site, if these are few.
    """

    name = "cl.choice"

    kind: StringAttr
    digest: StringAttr
    choice: Attribute
    nodes: Attribute
    """A string. Names may contain any character, so that the parser may read it as bytes."""
    others: ArrayAttr[Attribute]

    @property
    def is_taken(self) -> bool:
        """Whether a pass has taken the decision."""
        return bool(text(self.nodes))
