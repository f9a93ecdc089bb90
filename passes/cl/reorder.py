"""Reorder independent commands to minimize memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects import cl
from ...dialects.cl.ops import byte_count
from .intermediates import chains
from .memory import QueueStep, order
from .plan_memory import is_planned


class CLReorderPass(ModulePass):
    """Reorder independent commands if that lowers the peak of live bytes.

    Every command still runs after the commands that write its inputs, and after those that read or
    write the memory that it overwrites. A repetition moves as a whole. The order is kept if no
    order has a lower peak, or if the program's memory is already planned.
    """

    name = "cl-reorder"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = cl.target_of(op)
        kernels = cl.kernels_of(op)
        for program in op.ops:
            if isinstance(program, cl.ProgramOp) and not is_planned(program):
                before = _steps_of(program)
                after = order(*_steps(program, kernels, target))
                if after != sorted(after):
                    _rearrange(program, [before[i] for i in after])


def _steps(
    program: cl.ProgramOp, kernels: Mapping[str, cl.Kernel], target: cl.Target
) -> tuple[list[QueueStep], list[int]]:
    """Return the memories that each command reads and writes as numbers, and the bytes of each.

    A result computed in place has the number of its input, so that other readers of the input stay
    before the command.
    """
    root_of = cl.roots(program)
    numbers: dict[SSAValue, int] = {}
    sizes: list[int] = []
    for chain in chains(program, kernels, target):
        numbers |= dict.fromkeys((item.value for item in chain), len(sizes))
        sizes.append(chain[0].bytes)
    inputs = set(program.body.block.args[: program.input_count])

    def numbered(values: Iterable[SSAValue]) -> tuple[int, ...]:
        distinct: dict[int, None] = {}
        for value in values:
            root = root_of[value]
            if root in inputs or isinstance(root.owner, cl.ConstantOp):
                continue  # these are never written
            if root not in numbers:
                numbers[root] = len(sizes)
                allocated = isinstance(root.owner, cl.AllocOp)
                sizes.append(byte_count(root.type) if allocated else 0)
            distinct[numbers[root]] = None
        return tuple(distinct)

    def step(op: cl.Command | cl.RepeatOp) -> QueueStep:
        reads: dict[int, None] = {}
        writes: dict[int, None] = {}
        for command in op.body.block.ops if isinstance(op, cl.RepeatOp) else [op]:
            assert isinstance(command, cl.Command)
            done = cl.access(command, kernels)
            given = numbered(command.operands[i] for i in done.reads)
            reads |= dict.fromkeys(number for number in given if number not in writes)
            writes |= dict.fromkeys(numbered(command.operands[i] for i in done.writes))
        return QueueStep(tuple(reads), tuple(writes))

    return [step(op) for op in _steps_of(program)], sizes


def _steps_of(program: cl.ProgramOp) -> list[cl.Command | cl.RepeatOp]:
    """Return the commands and repetitions of a program; a repetition is moved as a whole."""
    return [op for op in program.body.block.ops if isinstance(op, cl.Command | cl.RepeatOp)]


def _rearrange(program: cl.ProgramOp, ordered: Sequence[Operation]) -> None:
    """Put the commands into the order `ordered`, each after the definitions of its operands."""
    block = program.body.block
    before = list(block.ops)
    for op in before:
        op.detach()
    placed: set[Operation] = set()

    def place(op: Operation) -> None:
        if op in placed:
            return
        placed.add(op)
        for operand in (value for each in op.walk() for value in each.operands):
            if isinstance(operand.owner, Operation):
                place(operand.owner)
        block.add_op(op)

    for op in ordered:
        place(op)
    for op in before:
        place(op)
