"""Decisions of a compilation, written on the module."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, FloatAttr, IntegerAttr, StringAttr
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


@irdl_attr_definition
class AlternativeAttr(ParametrizedAttribute):
    """Another choice for a site that takes less memory.

    `#cl.alternative<"form", "45e56ecf52fec923#1", "direct", 65536, 0, 12.5 : f64, [3], "conv_3">`
    saves 65536 bytes while the results of operation 3 are live, and takes 12.5 microseconds longer.
    """

    name = "cl.alternative"

    kind: StringAttr
    digest: StringAttr
    choice: Attribute
    bytes: IntegerAttr
    needed: IntegerAttr
    """Bytes of an arena that it takes instead of an image outside of the arenas, else 0."""
    microseconds: FloatAttr
    operations: ArrayAttr[IntegerAttr]
    """Numbers of operations (`dialects/node_names.py`)."""
    nodes: Attribute
    """A string, as in `ChoiceAttr`."""
