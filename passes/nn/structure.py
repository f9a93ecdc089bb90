"""Structural keys: equal for sequences of operations that compute the same."""

from __future__ import annotations

from collections.abc import Iterable

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
