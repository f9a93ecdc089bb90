"""A check that outputs may overwrite the inputs whose memory they share."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ...dialects import cl
from ...errors import CloptError
from ..locations import node_name


class CLCheckInPlacePass(ModulePass):
    """Refuse programs that read an input after they have written the output in its memory.

    A launch may read the input and write the output if `tir-mark-in-place` has marked the pair.
    """

    name = "cl-check-in-place"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels = cl.kernels_of(op)
        for program in op.ops:
            if isinstance(program, cl.ProgramOp):
                for result, source in program.overwritten().items():
                    _check(program, source, result, kernels)


def _check(
    program: cl.ProgramOp, source: SSAValue, result: SSAValue, kernels: Mapping[str, cl.Kernel]
) -> None:
    memory = cl.roots(program)
    is_written = False
    for op in cl.commands(program):
        done = cl.access(op, kernels)
        reads = [i for i in done.reads if memory[op.operands[i]] is source]
        writes = [i for i in done.writes if memory[op.operands[i]] is result]
        pairs = {(i, o) for i in reads for o in writes}
        if (reads and is_written) or not pairs <= done.in_place:
            ports = zip(program.body.block.args, program.ports, strict=True)
            names: dict[SSAValue, str] = {arg: port.name for arg, port in ports}
            raise CloptError(
                f'{node_name(op)} reads the input "{names[source]}" after the output '
                f'"{names[result]}" has overwritten it; leave "{names[result]}" out of in_place.'
            )
        is_written = is_written or bool(writes)
