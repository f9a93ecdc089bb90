"""Structural keys: equal for sequences of operations that compute the same."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import cast

from xdsl.ir import Operation, SSAValue


def structure(
    inputs: Iterable[SSAValue], ops: Iterable[Operation]
) -> tuple[tuple[object, ...], dict[SSAValue, int]]:
    """Return a key that is equal for operations that differ only in their values and names.

    Values are numbered in order: inputs, then further operands and results. The numbers are
    returned, too, so that a key can refer to one of them.
    """
    number = {value: i for i, value in enumerate(inputs)}
    rows: list[object] = [value.type for value in number]
    for op in ops:
        operands = tuple(number.setdefault(value, len(number)) for value in op.operands)
        for result in op.results:
            number[result] = len(number)
        properties = tuple(sorted(op.properties.items(), key=lambda item: item[0]))
        types = tuple(value.type for value in (*op.operands, *op.results))
        bodies = (
            structure(block.args, block.ops)[0] for body in op.regions for block in body.blocks
        )
        rows.append((op.name, operands, properties, types, *bodies))
    return tuple(rows), number


def structure_digest(inputs: Iterable[SSAValue], ops: Iterable[Operation]) -> str:
    """Return a digest of `structure` that is the same in every process."""
    rows, _ = structure(inputs, ops)
    return digest(map(structure_text, rows))


def digest(words: Iterable[str]) -> str:
    """Return a hash of a sequence of words."""
    return sha256("\n".join(words).encode()).hexdigest()[:16]


def structure_text(part: object) -> str:
    """Return a part of a structure as text that is the same in every process."""
    if isinstance(part, tuple):
        return f"({', '.join(map(structure_text, cast('tuple[object, ...]', part)))})"
    return str(part)
