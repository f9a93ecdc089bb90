"""C text of index expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineDimExpr, AffineExpr

from ...dialects.tir.affine import Linear
from .builtins import PRECEDENCE, PRIMARY, UNARY, Text, atom
from .index import IndexSpace, divisor_of
from .values import Node, Variable


class IndexTexts:
    """A renderer of the index expressions of one kernel; `text_of` renders any node."""

    def __init__(self, space: IndexSpace, text_of: Callable[[Node], Text]):
        self._space = space
        self._text_of = text_of

    def linear(self, form: Linear, nodes: Sequence[Node]) -> Text:
        """Return a sum of products; subtracted terms and the constant come last.

        `nodes` come from `Expressions.atoms` or `Expressions.address`.
        """
        if len(nodes) == 1 and nodes[0].kind == "sum":
            if nodes[0].name:
                return self._sum([("+", self._text_of(nodes[0]))], form.constant, leads=False)
            nodes = nodes[0].operands
        terms = sorted(form.terms.items(), key=lambda term: term[1] < 0)
        leads = form.constant > 0 and bool(terms) and terms[0][1] < 0
        parts: list[tuple[str, Text]] = []
        for expr, k in terms:
            text = self._atom(expr, nodes)
            if abs(k) != 1:
                text = f"{atom(text, UNARY)} * {abs(k)}", PRECEDENCE["*"]
            parts.append(("-" if k < 0 else "+", text))
        return self._sum(parts, form.constant, leads)

    def _sum(self, parts: list[tuple[str, Text]], constant: int, leads: bool) -> Text:
        """Return the sum of signed parts and a constant, which comes first if `leads`."""
        if constant or not parts:
            place = 0 if leads else len(parts)
            number = str(abs(constant)), PRIMARY
            parts = [*parts[:place], ("-" if constant < 0 else "+", number), *parts[place:]]
        sign, first = parts[0]
        if len(parts) == 1 and sign == "+":
            return first
        out = atom(first, PRECEDENCE["+"]) if sign == "+" else f"-{atom(first, UNARY)}"
        for sign, text in parts[1:]:
            out += f" {sign} {atom(text, PRECEDENCE['*'])}"
        return out, PRECEDENCE["+"] if len(parts) > 1 else UNARY

    def _atom(self, expr: AffineExpr, nodes: Sequence[Node]) -> Text:
        if isinstance(expr, AffineDimExpr):
            dimension = self._space.dimensions[expr.position]
            if isinstance(dimension, Variable):
                return dimension.name, PRIMARY
            assert isinstance(dimension, Node), "text has no lanes"
            return self._text_of(dimension)
        return self._text_of(
            next(node for node in nodes if node.kind == "division" and node.payload[0] == expr)
        )

    def division(self, node: Node) -> Text:
        """Return a quotient or remainder, rounded down."""
        expr, form, low = node.payload
        assert isinstance(expr, AffineBinaryOpExpr)
        divisor, is_mod = divisor_of(expr), expr.kind is AffineBinaryOpKind.Mod
        symbol = "%" if is_mod else "/"
        if divisor & (divisor - 1) == 0:
            # Compilers do not know that indices are positive, and correct a division's rounding.
            value = atom(self.linear(form, node.operands), UNARY)
            if is_mod:
                return f"{value} & {divisor - 1}", PRECEDENCE["&"]
            return f"{value} >> {divisor.bit_length() - 1}", PRECEDENCE[">>"]
        if low is None:
            return self._division_of_unknown(node, form, divisor, is_mod)
        # C rounds towards zero, so a multiple of the divisor makes the dividend positive first.
        shift = max(0, -(low // divisor))
        dividend = self.linear(form + Linear({}, shift * divisor), node.operands)
        text = f"{atom(dividend, PRECEDENCE[symbol])} {symbol} {divisor}"
        if is_mod or not shift:
            return text, PRECEDENCE[symbol]
        return f"{text} - {shift}", PRECEDENCE["-"]

    def _division_of_unknown(self, node: Node, form: Linear, divisor: int, is_mod: bool) -> Text:
        value = atom(self.linear(form, node.operands), UNARY)
        if is_mod:
            return f"({value} % {divisor} + {divisor}) % {divisor}", PRECEDENCE["%"]
        return f"({value} - ({value} < 0 ? {divisor - 1} : 0)) / {divisor}", PRECEDENCE["/"]

    def lanes(self, node: Node) -> Text:
        """Return a number for each lane, equally far apart."""
        base, stride = node.payload
        lanes = ", ".join(str(i * stride) for i in range(node.ctype.width))
        vector = f"({node.ctype.text})({lanes})"
        if not base.terms and not base.constant:
            return vector, UNARY
        return f"{atom(self.linear(base, node.operands), PRECEDENCE['+'])} + {vector}", PRECEDENCE[
            "+"
        ]
