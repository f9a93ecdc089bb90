"""Loops that a CPU's compiler is asked to unroll."""

from __future__ import annotations

from collections.abc import Iterator

from .values import Block, CountedLoop, Node, Statement

_MOST_STEPS = 16
"""Limit on the steps of an unrolled loop: a block has at most 16 channels."""
_LEAST_STATEMENTS = 16
"""Compilers unroll a loop with fewer statements on their own."""
_MOST_STATEMENTS = 128
"""Limit on the statements of an unrolled loop that shares its block with other loops.

It admits 12 sums in 8 steps. With 14 sums in 16 steps, PoCL's compiler hoists loads across the
loops of a window and spills the sums: 3x3 convolutions take twice as long (AVX-512).
"""
_MOST_ALONE = 450
"""Limit on the statements of an unrolled loop that is alone in its block.

It admits 28 sums in 16 steps. A limit of 128 makes networks 3 % slower (Intel's runtime, AVX-512).
"""


def is_unrolled(loop: CountedLoop) -> bool:
    """Return whether the text asks a CPU's compiler to unroll a loop, even if it is long for it.

    The innermost loop of a reduction ends every few steps, and processors mispredict many of these
    exits: unrolled, 1x1 convolutions take .7 to .85 of the time (PoCL 3.1, Zen 3). A loop stays
    rolled if it tests a loop-invariant condition, as at a border: compilers unswitch it.
    """
    if loop.bound is not None or loop.extent > _MOST_STEPS:
        return False
    steps = list(_statements(loop.body))
    if any(isinstance(step, CountedLoop) for step in steps):
        return False
    is_alone = sum(isinstance(item, CountedLoop) for item in loop.block.items) == 1
    most = _MOST_ALONE if is_alone else _MOST_STATEMENTS
    if not _LEAST_STATEMENTS <= loop.extent * len(steps) <= most:
        return False
    return not any(_chooses_once(item, loop.body) for item in loop.body.items)


def _statements(block: Block) -> Iterator[Statement]:
    """Yield the statements of a block and of the blocks within it."""
    for item in block.items:
        if isinstance(item, Statement):
            yield item
            for inner in item.blocks():
                yield from _statements(inner)


def _chooses_once(item: Node | Statement, loop: Block) -> bool:
    """Return whether a node of a loop selects by a loop-invariant condition."""
    return isinstance(item, Node) and item.kind == "select" and item.operands[0].block is not loop
