"""Lowering of the region of each kernel to naive loop nests."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...dialects import cl, nn, tir
from ...errors import CloptError
from ..locations import node_name
from .lowering import KernelBuilder, lowering_of


class NNToTIRPass(ModulePass):
    """Turn each `nn.kernel` into a `tir.func` of naive loop nests, which are easy to review.

    Operations without a lowering are refused.
    """

    name = "nn-to-tir"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = cl.target_of(op)
        for kernel in list(op.ops):
            if isinstance(kernel, nn.KernelOp):
                _check_accumulators(kernel, target)
                Rewriter.replace_op(kernel, lower_kernel(kernel), [])


def lower_kernel(kernel: nn.KernelOp) -> tir.FuncOp:
    """Return the naive loops of a kernel; raise CloptError for an operation without a lowering."""
    block = kernel.body.block
    lowering = KernelBuilder(kernel.sym_name.data, block.args, kernel.yielded, kernel.layouts)
    for op in block.ops:
        if isinstance(op, nn.YieldOp):
            continue
        lower = lowering_of(op)
        if lower is None:
            raise CloptError(
                f"{node_name(op)}: {op.name} has no lowering to OpenCL, so it cannot be compiled"
            )
        lower(lowering, op)
    function = lowering.finish()
    function.constants, function.comment = kernel.constants, kernel.comment
    function.rows, function.runs_if = kernel.rows, kernel.runs_if
    return function


def _check_accumulators(kernel: nn.KernelOp, target: cl.Target) -> None:
    """Raise CloptError for sums of halves if the target has no half arithmetic."""
    if target.device.fp16:
        return
    for op in kernel.body.block.ops:
        if isinstance(op, nn.NNOp) and "accumulate" in op.properties:
            raise CloptError(
                f"{node_name(op)}: accumulate = f16 needs half arithmetic, which the target "
                f"{target.name} lacks; leave it out to accumulate halves in float"
            )
