"""Loops that a CPU's compiler is asked to unroll."""

from __future__ import annotations

from collections import Counter
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
_STEPS_OF_PAIRS = 4
"""Copies of a step whose sums share elements in pairs. In a longer text, Intel's compiler loads
such an element early and spills it: tiles of 2 x 7 to 2 x 13 sums took 1.1 to 1.7 times as long
(Zen 4)."""
_LEAST_PAIRS = 4
"""Fewest such elements in a step."""


def unrolled_steps(loop: CountedLoop) -> int:
    """Return how many copies of a loop's body the text asks a CPU's compiler for, or 1.

    The innermost loop of a reduction ends every few steps, and processors mispredict many of these
    exits: unrolled, 1x1 convolutions take .7 to .85 of the time (PoCL 3.1, Zen 3). A loop stays
    rolled if it tests a loop-invariant condition, as at a border: compilers unswitch it.
    """
    if loop.bound is not None or loop.extent > _MOST_STEPS:
        return 1
    steps = list(_statements(loop.body))
    if any(isinstance(step, CountedLoop) for step in steps):
        return 1
    is_alone = sum(isinstance(item, CountedLoop) for item in loop.block.items) == 1
    most = _MOST_ALONE if is_alone else _MOST_STATEMENTS
    if not _LEAST_STATEMENTS <= loop.extent * len(steps) <= most:
        return 1
    if any(_chooses_once(item, loop.body) for item in loop.body.items):
        return 1
    return _STEPS_OF_PAIRS if _pairs(loop.body) >= _LEAST_PAIRS else loop.extent


def _pairs(block: Block) -> int:
    """Return how many scalars a block loads for two uses each."""
    uses = Counter(operand for item in block.items for operand in item.operands)
    return sum(
        count == 2 and node.block is block and node.reads is not None and node.ctype.width == 1
        for node, count in uses.items()
    )


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
