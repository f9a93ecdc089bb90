"""Einsum as a sequence of diagonals, sums, products and matrix products."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xdsl.ir import SSAValue

from ....dialects.nn.types import shape_of
from ....messages.printable import printable
from ...builder import Builder
from ..node import NodeContext, Table


class Term(NamedTuple):
    """A value and the label of each of its dimensions, without repeats."""

    value: SSAValue
    labels: str

    def sizes(self) -> Mapping[str, int]:
        """Return the size of each label."""
        return dict(zip(self.labels, shape_of(self.value), strict=True))


def import_einsum(node: NodeContext) -> SSAValue:
    """Import Einsum: contract the operands from left to right.

    A label is summed as soon as neither a later operand nor the result contains it.
    """
    builder, values = node.builder, node.present()
    inputs, output = parse(node, node.text("equation"), [len(shape_of(v)) for v in values])
    terms = [_without_repeats(builder, v, s) for v, s in zip(values, inputs, strict=True)]
    result = terms[0]
    for i, term in enumerate(terms[1:], 1):
        kept = set(output).union(*(t.labels for t in terms[i + 1 :]))
        result = _contract(builder, result, term, kept)
    result = _sum_all_but(builder, result, set(output))
    if set(result.labels) != set(output):
        node.refuse("its result has an index that no operand has.")
    return builder.transpose(result.value, [result.labels.index(c) for c in output])


def parse(node: NodeContext, equation: str, ranks: Sequence[int]) -> tuple[Sequence[str], str]:
    """Return the labels of each operand and of the result; an ellipsis becomes digits."""
    shown = printable(equation)
    left, arrow, output = equation.replace(" ", "").partition("->")
    inputs = left.split(",")
    if len(inputs) != len(ranks):
        node.refuse(f"'{shown}' has {len(inputs)} terms for {len(ranks)} inputs.")
    extra = {r - len(s.replace("...", "")) for s, r in zip(inputs, ranks, strict=True) if "." in s}
    if len(extra) > 1 or not extra <= set(range(10)):
        node.refuse(f"the ellipses of '{shown}' have different ranks.")
    digits = "0123456789"[: max(extra, default=0)]
    inputs = [s.replace("...", digits) for s in inputs]
    if not arrow:
        everything = "".join(inputs)
        single = sorted(c for c in set(everything) if everything.count(c) == 1 and c.isalpha())
        output = "..." + "".join(single)
    output = output.replace("...", digits)
    for labels, rank in zip(inputs, ranks, strict=True):
        if len(labels) != rank or not all(c.isalpha() or c in digits for c in labels):
            node.refuse(f"the term '{printable(labels)}' of '{shown}' does not fit rank {rank}.")
    if len(set(output)) != len(output):
        node.refuse(f"the result of '{shown}' repeats an index.")
    return inputs, output


def _without_repeats(builder: Builder, value: SSAValue, labels: str) -> Term:
    """Take the diagonal of dimensions that share a label."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first, second = labels.index(label), labels.rindex(label)
            rest = [i for i in range(len(labels)) if i not in (first, second)]
            value = builder.transpose(value, [*rest, first, second])
            *others, n, _ = shape_of(value)
            square = builder.reshape(value, (*others, n * n))
            value = builder.slice(square, len(others), 0, n, n + 1)
            labels = "".join(labels[i] for i in rest) + label
    return Term(value, labels)


def _sum_all_but(builder: Builder, term: Term, kept: set[str]) -> Term:
    axes = [i for i, label in enumerate(term.labels) if label not in kept]
    if not axes:
        return term
    value = builder.reduce("sum", term.value, axes, keepdims=False)
    return Term(value, "".join(c for c in term.labels if c in kept))


def _drop_broadcast(builder: Builder, term: Term, other: Term) -> Term:
    """Drop dimensions of size 1 that are larger in the other operand."""
    sizes, wider = term.sizes(), other.sizes()
    labels = "".join(c for c in term.labels if not (sizes[c] == 1 and wider.get(c, 1) != 1))
    return Term(builder.reshape(term.value, [sizes[c] for c in labels]), labels)


def _contract(builder: Builder, a: Term, b: Term, kept: set[str]) -> Term:
    """Multiply two terms and sum over the labels not in `kept`, as a batched matrix product."""
    a, b = _drop_broadcast(builder, a, b), _drop_broadcast(builder, b, a)
    a = _sum_all_but(builder, a, kept | set(b.labels))
    b = _sum_all_but(builder, b, kept | set(a.labels))
    sizes = {**a.sizes(), **b.sizes()}
    batch = [c for c in a.labels if c in b.labels and c in kept]
    inner = [c for c in a.labels if c in b.labels and c not in kept]
    rows = [c for c in a.labels if c not in b.labels]
    columns = [c for c in b.labels if c not in a.labels]

    def arranged(term: Term, *groups: Sequence[str]) -> SSAValue:
        perm = [term.labels.index(c) for group in groups for c in group]
        shape = [math.prod(sizes[c] for c in group) for group in groups[1:]]
        moved = builder.transpose(term.value, perm)
        return builder.reshape(moved, [*(sizes[c] for c in groups[0]), *shape])

    if inner:
        left, right = arranged(a, batch, rows, inner), arranged(b, batch, inner, columns)
        product = builder.matmul(left, right)
    else:
        left, right = arranged(a, batch, rows, []), arranged(b, batch, [], columns)
        product = builder.binary("mul", left, right)
    labels = [*batch, *rows, *columns]
    return Term(builder.reshape(product, [sizes[c] for c in labels]), "".join(labels))


TABLE: Table = {"Einsum": {12: import_einsum}}
