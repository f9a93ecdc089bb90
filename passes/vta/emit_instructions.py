"""Turns operations on tiles into instructions, and tokens into dependence bits.

An instruction can wait for one token per queue and send one. Further tokens are awaited by
no-operations before it, or sent by no-operations after it. They run in the same stage, so the order
of tokens in a queue is kept. FINISH carries no bits, so that all cores treat it alike; a
no-operation before it waits instead.

The micro-ops of all loads form one table, in which equal lists are shared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ...dialects.vta import (
    INSN_OPS,
    FinishOp,
    InsnOp,
    Instruction,
    LoadUopsOp,
    ProgramOp,
    Queue,
    StreamOp,
    SymbolicOp,
    TileOp,
    Uop,
    UopsOp,
    UopTableOp,
)
from ...dialects.vta.isa import Load, nop, token_bits
from ...errors import CloptError


@dataclass(frozen=True)
class VTAEmitInstructionsPass(ModulePass):
    """Replace each `vta.program` by the `vta.stream` of its instructions.

    Runs after `vta-place-uops`.
    """

    name = "vta-emit-instructions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in [*op.body.block.ops]:
            if isinstance(program, ProgramOp):
                stream = emit_instructions(program)
                op.body.block.insert_op_before(stream, program)
                program.detach()
                program.erase()


def emit_instructions(program: ProgramOp) -> StreamOp:
    """Return the instructions of a program. Raise CloptError if micro-ops have no address."""
    if program.is_serial and len({op.stage for op in program.steps}) > 1:
        raise CloptError(
            f"The program @{program.sym_name.data} has several stages and no tokens: run "
            "vta-assign-tokens before vta-emit-instructions."
        )
    symbols: dict[SSAValue, SymbolicOp] = {op.result: op.clone() for op in program.symbols}
    table = _UopTable(program)
    insns: list[Operation] = []
    for op in program.steps:
        if isinstance(op, UopsOp) and op.base is None:
            raise CloptError(
                f"In the program @{program.sym_name.data}, {op.name} has no address of its "
                "micro-ops: run vta-place-uops before vta-emit-instructions."
            )
        buffer = None if op.buffer is None else symbols[op.buffer].result
        instruction = op.instruction
        if isinstance(op, LoadUopsOp) and isinstance(instruction, Load):
            buffer = table.value
            instruction = replace(instruction, dram_base=table.offsets[op.uops])
        before, instruction, behind = _with_tokens(op, instruction)
        group = [
            *map(_insn, before),
            _insn(instruction, buffer),
            *map(_insn, behind),
        ]
        for insn in group:
            insn.location = op.location
        insns += group
    block = Block([*symbols.values(), *table.ops, *insns])
    stream = StreamOp(program.sym_name.data, program.config, Region(block))
    stream.location = program.location
    stream.attributes |= program.attributes
    return stream


def _insn(instruction: Instruction, buffer: SSAValue | None = None) -> InsnOp:
    return INSN_OPS[type(instruction)](instruction, buffer)


class _UopTable:
    """The micro-ops of a program's loads; equal lists are shared."""

    def __init__(self, program: ProgramOp):
        self.offsets: dict[tuple[Uop, ...], int] = {}
        uops: list[Uop] = []
        for op in program.steps:
            if isinstance(op, LoadUopsOp) and op.uops not in self.offsets:
                self.offsets[op.uops] = len(uops)
                uops += op.uops
        self.ops = [UopTableOp(uops)] if uops else []
        for op in self.ops:
            op.result.name_hint = "uops"

    @property
    def value(self) -> SSAValue | None:
        return self.ops[0].result if self.ops else None


def _with_tokens(
    op: TileOp, instruction: Instruction
) -> tuple[list[Instruction], Instruction, list[Instruction]]:
    """Return the instruction with its tokens, and the no-operations before and after it."""
    waits, signals = _turns(op.waited_queues), _turns(op.signalled_queues)
    own_waits = waits.pop() if waits and not isinstance(op, FinishOp) else ()
    own_signals = signals.pop(0) if signals else ()
    stage = op.stage
    return (
        [nop(stage, queues) for queues in waits],
        replace(instruction, **token_bits(own_waits, own_signals)),
        [nop(stage, (), queues) for queues in signals],
    )


def _turns(queues: Sequence[Queue]) -> list[list[Queue]]:
    """Group tokens by instruction, where each instruction takes the next one of every queue."""
    turns: list[list[Queue]] = []
    taken: Counter[Queue] = Counter()
    for queue in queues:
        if taken[queue] == len(turns):
            turns.append([])
        turns[taken[queue]].append(queue)
        taken[queue] += 1
    return turns
