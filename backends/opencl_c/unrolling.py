"""Loops that a CPU's compiler is asked to unroll."""

from __future__ import annotations

from collections.abc import Iterator

from .values import Block, CountedLoop, Node, Statement

_MOST_STEPS = 16
"""Steps of an unrolled loop: the channels of a block."""
_STATEMENTS = range(16, 421)
"""Statements of an unrolled loop, at most 24 sums in 16 steps and some more.

Compilers unroll shorter loops without being asked. With a limit of 128, networks take 1.03 of the
time (Intel's runtime, AVX-512).
"""


def is_unrolled(loop: CountedLoop) -> bool:
    """Return whether the text asks a CPU's compiler to unroll a loop, even if it is long for it.

    The innermost loop of a reduction ends every few steps, and processors predict many of these
    ends wrongly: 1x1 convolutions take .7 to .85 of the time (PoCL 3.1, Zen 3). Where the loop has
    a choice that does not change in it, as at a border, compilers make a loop for each case
    instead.
    """
    if loop.bound is not None or loop.extent > _MOST_STEPS:
        return False
    steps = list(_statements(loop.body))
    if any(isinstance(step, CountedLoop) for step in steps):
        return False
    if loop.extent * len(steps) not in _STATEMENTS:
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
    """Return whether a node of a loop selects by a condition from outside."""
    return isinstance(item, Node) and item.kind == "select" and item.operands[0].block is not loop
