"""Texel coordinates, with their common parts hoisted out of loops.

Compilers of mobile GPUs do not hoist loop-invariant code, and they convert integer coordinates to
floats at every read through a sampler. Therefore sums become variables outside the loops in which
they are constant, and products with a loop variable are incremented along with it. Samplers get
float coordinates on targets with `float_coordinates`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ...dialects.tir.affine import Linear
from .expressions import Expressions
from .index import constant, constant_of
from .types import CType
from .values import Block, Node, Variable

_HINTS = ("column", "row", "layer")
_FLOAT = CType("float")
_UINT = CType("uint")


class Coordinates:
    """A factory of texel coordinates for reads and writes in the current block."""

    def __init__(self, expressions: Expressions):
        self.ex = expressions
        self.graph = expressions.graph
        self.space = expressions.space

    def __call__(self, forms: Sequence[Linear]) -> list[Node]:
        """Return one integer per coordinate, sharing the parts that differ by a constant."""
        hints = _HINTS if len(forms) > 1 else ("at",)
        return [self.integer(form, hint) for form, hint in zip(forms, hints, strict=False)]

    def floats(self, forms: Sequence[Linear]) -> list[Node]:
        """Return coordinates for a sampler: the centres of texels, and the layer number."""
        pairs = zip(forms, _HINTS, strict=False)
        return [self._float(form, hint, 0.0 if hint == "layer" else 0.5) for form, hint in pairs]

    def integer(self, form: Linear, hint: str) -> Node:
        """Return one coordinate or memory index as an integer expression."""
        variable = Linear(form.terms, 0)
        here = _loops(self.graph.block)
        form = (self._stepped(variable, hint) or self._hoisted(variable, hint, here)) + constant(
            form.constant
        )
        if len(form.terms) > 1:
            total = self._sum("sum", Linear(form.terms, 0), hint)
            form = self.space.of_node(total) + constant(form.constant)
        return self.ex.index(form)

    def _float(self, form: Linear, hint: str, centre: float) -> Node:
        variable = Linear(form.terms, 0)
        variable = self._hoisted(variable, hint, self._loops_around(variable))
        number = self.ex.convert(self.ex.index(variable), _FLOAT)
        number.hint, number.numbered = hint, False
        shift = form.constant + centre
        if shift == 0 or number.kind == "constant":
            return self.ex.constant(shift, _FLOAT) if number.kind == "constant" else number
        amount = self.ex.constant(abs(shift), _FLOAT)
        moved = self.ex.binary("-" if shift < 0 else "+", number, amount)
        moved.hint, moved.numbered = hint, False
        return moved

    def select(self, condition: Node, then: Linear, other: Linear, hint: str) -> Node:
        """Return a coordinate chosen by a condition; both alternatives are uniform across lanes."""
        sides = [self.ex.index(self._side(side, hint)) for side in (then, other)]
        chosen = self.ex.select(self.shortened(condition), *sides)
        if chosen.kind == "select":
            chosen.hint, chosen.numbered = hint, False
        return chosen

    def _side(self, form: Linear, hint: str) -> Linear:
        stepped = self._stepped(Linear(form.terms, 0), hint)
        if stepped is not None:
            return stepped + constant(form.constant)
        return self._hoisted(form, hint, _loops(self.graph.block))

    # Loops

    def _hoisted(self, form: Linear, hint: str, here: int) -> Linear:
        """Return `form`, for use inside `here` loops, with its loop-invariant parts as variables.

        Terms are grouped by the depth of the loop that changes them. From the outermost group
        inwards, each partial sum that is invariant in the innermost loop becomes a variable.
        """
        levels: dict[int, Linear] = {}
        for atom, coefficient in form.terms.items():
            term = Linear({atom: coefficient}, 0)
            level = self._loops_around(term)
            levels[level] = levels.get(level, constant(0)) + term
        total = constant(form.constant)
        for level in sorted(levels):
            total = total + levels[level]
            if level < here:
                total = self._named(total, hint)
        return total

    def _named(self, form: Linear, hint: str) -> Linear:
        """Return the form as a variable."""
        if len(form.terms) != 1 or form.constant or set(form.terms.values()) != {1}:
            return self.space.of_node(self._sum("hoisted", form, hint))
        for quotient in self.ex.atoms(form):
            quotient.is_variable = True
        return form

    def _stepped(self, form: Linear, hint: str) -> Linear | None:
        """Return the form as a variable that the innermost loop increments.

        Return None unless the form has exactly one term in that loop's variable, with a factor
        other than 1 and -1, and the rest is invariant in the loop.
        """
        loop = next((block for block in self.graph.block.chain() if block.is_loop), None)
        inner = [atom for atom in form.terms if loop is not None and self._home(atom) is loop]
        if loop is None or len(inner) != 1 or abs(form.terms[inner[0]]) == 1:
            return None
        (atom,) = inner
        start = Linear({a: k for a, k in form.terms.items() if a != atom}, form.constant)
        if self._loops_around(start) >= _loops(loop):
            return None
        start = self._hoisted(start, hint, _loops(loop) - 1)
        step = form.terms[atom]
        node = self.graph.node(
            "stepped", self.ex.index_type, self.ex.atoms(start), (start, step),
            key=(frozenset(start.terms.items()), start.constant, step), hint=hint, needs=[loop],
            is_safe=True,
        )  # fmt: skip
        node.numbered = False
        return self.space.of_node(node)

    def _home(self, atom: AffineExpr) -> Block | None:
        """Return the loop whose variable `atom` is, or None."""
        if not isinstance(atom, AffineDimExpr):
            return None
        dimension = self.space.dimensions[atom.position]
        return dimension.home if isinstance(dimension, Variable) else None

    def _sum(self, kind: str, form: Linear, hint: str) -> Node:
        terms = frozenset(form.terms.items())
        key = (terms, form.constant) if form.constant else terms
        node = self.graph.node(
            kind, self.ex.index_type, self.ex.atoms(form), form, key=key, hint=hint,
            needs=self.space.blocks_of(form), is_safe=True,
        )  # fmt: skip
        node.numbered = False
        return node

    def _loops_around(self, form: Linear) -> int:
        """Return the number of loops that change the value of `form`."""
        homes = [*self.space.blocks_of(form), *(node.block for node in self.ex.atoms(form))]
        return max(map(_loops, homes), default=0)

    # Conditions

    def shortened(self, condition: Node) -> Node:
        """Return the condition with a range check as one unsigned comparison."""
        if condition.ctype.width > 1:
            return condition
        parts = list(_conjuncts(condition))
        for i, low in enumerate(parts):
            for j, high in enumerate(parts):
                inside = self._inside(low, high)
                if inside is not None:
                    rest = [part for n, part in enumerate(parts) if n not in (i, j)]
                    for part in rest:
                        inside = self.ex.logic("&&", inside, part)
                    return self.shortened(inside) if rest else inside
        return condition

    def _inside(self, low: Node, high: Node) -> Node | None:
        """Return `a <= x && x < b` as the unsigned comparison `x - a < b - a`, or None."""
        first, last = _bound(low), _bound(high)
        if first is None or last is None or first[0] != ">=" or last[0] != "<":
            return None
        (_, form, least), (_, other, end) = first, last
        if form.terms != other.terms:
            return None
        size = (end - other.constant) - (least - form.constant)
        if size <= 0:
            return None
        shifted = Linear(form.terms, form.constant - least)
        shifted = self._hoisted(shifted, "row", _loops(self.graph.block))
        number = self.ex.convert(self.ex.index(shifted), _UINT)
        return self.ex.compare("<", number, self.ex.constant(size, _UINT))


def _conjuncts(condition: Node) -> Iterator[Node]:
    if condition.kind == "binary" and condition.payload == "&&":
        for operand in condition.operands:
            yield from _conjuncts(operand)
    else:
        yield condition


def _bound(node: Node) -> tuple[str, Linear, int] | None:
    """Return a comparison of an index with a constant, normalised to `<` or `>=`, or None."""
    if node.kind != "binary" or node.payload not in ("<", "<=", ">", ">="):
        return None
    left, right = node.operands
    if left.kind != "index" or right.kind != "index":
        return None
    limit = constant_of(right.payload)
    if limit is None:
        return None
    more = node.payload in ("<=", ">")
    return ("<" if "<" in node.payload else ">="), left.payload, limit + more


def _loops(block: Block) -> int:
    """Return the number of loops around a block, including itself."""
    return sum(around.is_loop for around in block.chain())
