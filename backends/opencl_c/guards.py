"""Conditional loads without branches.

Compilers of mobile GPUs turn `inside ? x[i] : 0` into a branch. It is faster to load from an index
that is always valid and to select afterwards.
"""

from __future__ import annotations

from .coordinates import Coordinates
from .expressions import Expressions
from .index import constant
from .memory import form_key
from .values import Array, Block, Node

_LOADS = ("load", "quads")


class Guards:
    """A transformation that makes the conditional loads of one kernel unconditional."""

    def __init__(self, expressions: Expressions, coordinates: Coordinates):
        self.ex = expressions
        self.coordinates = coordinates

    def load(self, condition: Node, branch: Block, value: Node, other: Node) -> Node | None:
        """Return `condition ? value : other` without a branch, or None.

        `value` must be a load, alone in its branch, from a buffer that the kernel only reads;
        `other` must be a constant.
        """
        load = value.operands[0] if value.kind == "convert" else value
        if load.kind not in _LOADS or other.kind != "constant" or set(branch.items) - {load, value}:
            return None
        array, form, width = load.payload
        assert isinstance(array, Array)
        if array.written or array.space not in ("global", "constant"):
            return None
        hint = condition.hint
        condition = self._strict(self.coordinates.shortened(condition))
        condition.hint = condition.hint or hint
        at = self.ex.select(
            condition, self.coordinates.integer(form, "at"), self.ex.index(constant(0))
        )
        form = self.ex.to_form(at)
        anywhere = self.ex.graph.node(
            load.kind, load.ctype, self.ex.address(form), (array, form, width),
            key=form_key(form), hint=load.hint, reads=array,
        )  # fmt: skip
        anywhere.is_variable = True
        if load is not value:
            anywhere = self.ex.convert(anywhere, value.ctype)
        other = self.ex.constant(other.payload, other.ctype)
        return self.ex.select(condition, anywhere, other)

    def _strict(self, condition: Node) -> Node:
        """Return the condition with `&` for `&&`, since both sides are evaluated anyway."""
        if condition.kind != "binary" or condition.payload != "&&":
            return condition
        sides = [self._strict(side) for side in condition.operands]
        return self.ex.graph.node("binary", condition.ctype, sides, "&")
