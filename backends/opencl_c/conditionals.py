"""Conditionals of a kernel: a constant branch, a select, a `?:` expression or an `if` statement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects import scf
from xdsl.ir import SSAValue

from .builtins import Sign
from .guards import Guards
from .values import Assign, Block, Declare, If, Node, Register, Statement

if TYPE_CHECKING:
    from .build import KernelTextBuilder

_TERNARY_NODES = 6
"""Most expressions in the branches of a conditional that is printed as `?:` instead of `if`."""


class Conditionals:
    """A builder of the `scf.if` operations of one kernel."""

    def __init__(self, builder: KernelTextBuilder, guards: Guards | None):
        self.builder = builder
        self.graph = builder.graph
        self.ex = builder.ex
        self.memory = builder.memory
        self.storages = builder.storages
        self.guards = guards

    def __call__(self, op: scf.IfOp) -> None:
        """Build one `scf.if`."""
        condition = self.builder.node(op.cond)
        if condition.ctype.width > 1:
            self.builder.execute_lanes(op)
            return
        if condition.kind == "constant":
            self._inline_branch(op, 0 if condition.payload else 1)
            return
        then, then_values = self._branch(op, 0)
        other, other_values = self._branch(op, 1)
        if self.guards is not None and len(op.results) == 1:
            chosen = self.guards.load(condition, then, then_values[0], other_values[0])
            if chosen is not None:
                self.builder.set_result(op, chosen)
                return
        if self._fits_expression(op, (then, other), (then_values, other_values)):
            chosen = self.ex.guarded(condition, then_values[0], other_values[0], (then, other))
            self.builder.set_result(op, chosen)
            return
        self._if_statement(op, condition, (then, other), (then_values, other_values))

    def _inline_branch(self, op: scf.IfOp, which: int) -> None:
        region = op.regions[which]
        if region.blocks:
            self.builder.execute_all(region.block)
            for result, yielded in zip(op.results, _yielded(op, which), strict=True):
                self.builder.values[result] = self.builder.value(yielded)

    def _branch(self, op: scf.IfOp, which: int) -> tuple[Block, list[Node]]:
        outer = self.graph.block
        block = Block(outer)
        self.graph.block = block
        values: list[Node] = []
        if op.regions[which].blocks:
            self.builder.execute_all(op.regions[which].block)
            yielded = [self.builder.node(value) for value in _yielded(op, which)]
            values = [self.ex.with_sign(value, Sign.SIGNED) for value in yielded]
            self.builder.texels.finish()
        self.graph.block = outer
        return block, values

    def _fits_expression(
        self, op: scf.IfOp, blocks: tuple[Block, Block], values: tuple[list[Node], list[Node]]
    ) -> bool:
        items = [item for block in blocks for item in block.items]
        return (
            len(op.results) == 1
            and values[0][0].ctype == values[1][0].ctype
            and len(items) <= _TERNARY_NODES
            and not any(isinstance(item, Statement) for item in items)
        )

    def _if_statement(
        self,
        op: scf.IfOp,
        condition: Node,
        blocks: tuple[Block, Block],
        values: tuple[list[Node], list[Node]],
    ) -> None:
        outer = self.graph.block
        registers: list[Register] = []
        for result, sides in zip(op.results, zip(*values, strict=True), strict=True):
            ctype = max((side.ctype for side in sides), key=lambda ctype: ctype.width)
            lane = "" if self.builder.lane is None else f"_{self.builder.lane}"
            register = Register((result.name_hint or "chosen") + lane, ctype)
            registers.append(register)
            for block, value in zip(blocks, sides, strict=True):
                self.graph.block = block
                value = self.ex.as_type(value, ctype)
                block.items.append(Assign(block, (value,), frozenset((register,)), register))
        self.graph.block = outer
        if registers:
            self.graph.add(Declare(self.graph.block, (), frozenset(), tuple(registers)))
        written = self.memory.storages_of(self.storages.written_in(op)) | frozenset(registers)
        other_block = blocks[1] if blocks[1].items else None
        self.graph.add(If(self.graph.block, (condition,), written, blocks[0], other_block))
        for result, register in zip(op.results, registers, strict=True):
            self.builder.values[result] = self.graph.read(register)


def _yielded(op: scf.IfOp, which: int) -> Sequence[SSAValue]:
    last = op.regions[which].block.last_op
    return last.operands if isinstance(last, scf.YieldOp) else ()
