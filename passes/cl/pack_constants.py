"""Rearrange constants at compile time into the layouts that kernels ask for."""

from __future__ import annotations

from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import AffineMapAttr, MemRefType, ModuleOp
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...context import weights_of
from ...dialects import cl, tir
from ..packing import pack


class CLPackConstantsPass(ModulePass):
    """Give each launch the constants its kernel wants, packed once and stored in the weights.

    A kernel's `layouts` (see `tir.func`) say how a constant parameter is laid out; launches of
    kernels that ask for the same layout share the packed array. Constants that nothing reads any
    more are removed.
    """

    name = "cl-pack-constants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        weights = weights_of(ctx)
        kernels = {k.sym_name.data: k for k in op.ops if isinstance(k, tir.FuncOp) and k.layouts}
        packed: dict[tuple[SSAValue, AffineMap], SSAValue] = {}

        def packed_constant(
            constant: cl.ConstantOp, layout: AffineMap, to: MemRefType[Attribute]
        ) -> SSAValue:
            key = (constant.result, layout)
            if key not in packed:
                array = pack(weights.get(constant.key.data), layout, to.get_shape())
                new = cl.ConstantOp(weights.add(array), to)
                new.result.name_hint = constant.result.name_hint
                Rewriter.insert_op(new, InsertPoint.after(constant))
                packed[key] = new.result
            return packed[key]

        for launch in op.walk():
            if not isinstance(launch, cl.EnqueueKernelOp):
                continue
            kernel = kernels.get(launch.kernel_name)
            if kernel is None or kernel.layouts is None:
                continue
            for index, layout in kernel.layouts.data.items():
                i = int(index)
                constant = launch.args[i].owner
                assert isinstance(constant, cl.ConstantOp), "a layout is for a constant parameter"
                assert isinstance(layout, AffineMapAttr)
                to = cast("MemRefType[Attribute]", kernel.params[i].type)
                launch.operands[i] = packed_constant(constant, layout.data, to)
        _remove_unread(op)


def _remove_unread(module: ModuleOp) -> None:
    for op in list(module.walk()):
        if isinstance(op, cl.ConstantOp) and not op.result.uses:
            op.detach()
            op.erase()
