"""Rearrange constants at compile time into the layouts that kernels request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import AffineMapAttr, MemRefType, ModuleOp
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...context import weights_of
from ...dialects import cl, tir
from ...weights import Weights
from ..packing import pack
from ..tir.schedule.transform_layout import access_in_layout


class CLPackConstantsPass(ModulePass):
    """Pack constants once into the layouts that kernels request.

    A kernel's `layouts` (see `tir.func`) are the layouts that it requests for constant parameters.
    The pass changes the parameter's type, the kernel's loads and the constants of all launches
    together, and removes `layouts`. Launches that request the same layout of a constant share the
    packed array. Unused constants are removed.
    """

    name = "cl-pack-constants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels = [k for k in op.ops if isinstance(k, tir.FuncOp) and k.layouts]
        layouts = {kernel.sym_name.data: _layouts(kernel) for kernel in kernels}
        packed = _Packed(weights_of(ctx, op))
        for program in op.ops:
            if isinstance(program, cl.ProgramOp):
                for launch in cl.commands(program):
                    if isinstance(launch, cl.EnqueueKernelOp):
                        packed.replace(launch, layouts.get(launch.kernel_name, {}))
                _remove_unread(program)
        for kernel in kernels:
            for i, layout in _layouts(kernel).items():
                _read_packed(kernel.params[i], layout)
            kernel.layouts = None


class _Packed:
    """The packed arrays of a module, one for each pair of a constant and a layout."""

    def __init__(self, weights: Weights):
        self.weights = weights
        self.constants: dict[tuple[SSAValue, AffineMap], SSAValue] = {}

    def replace(self, launch: cl.EnqueueKernelOp, layouts: Mapping[int, AffineMap]) -> None:
        """Replace constants of a launch by packed arrays, at the argument indices in `layouts`."""
        for i, layout in layouts.items():
            constant = launch.args[i]
            if (constant, layout) not in self.constants:
                self.constants[constant, layout] = self._pack(constant, layout)
            launch.operands[i] = self.constants[constant, layout]

    def _pack(self, constant: SSAValue, layout: AffineMap) -> SSAValue:
        op = constant.owner
        assert isinstance(op, cl.ConstantOp), "checked by the verifier of programs"
        packed = tir.packed_type(layout, cast("MemRefType[Attribute]", constant.type))
        array = pack(self.weights.get(op.key.data), layout, packed.get_shape())
        new = cl.ConstantOp(self.weights.add(array), packed)
        new.result.name_hint = constant.name_hint
        Rewriter.insert_op(new, InsertPoint.after(op))
        return new.result


def _layouts(kernel: tir.FuncOp) -> dict[int, AffineMap]:
    """Return the layouts that a kernel requests, keyed by the parameter's index."""
    if kernel.layouts is None:
        return {}
    maps = cast("Mapping[str, AffineMapAttr]", kernel.layouts.data)
    return {int(key): layout.data for key, layout in maps.items()}


def _read_packed(param: SSAValue, layout: AffineMap) -> None:
    """Change the type of a parameter, and load its elements at the indices that `layout` gives."""
    packed = tir.packed_type(layout, cast("MemRefType[Attribute]", param.type))
    access_in_layout(Rewriter.replace_value_with_new_type(param, packed), layout)


def _remove_unread(program: cl.ProgramOp) -> None:
    """Remove constants without uses from `program`."""
    for op in list(program.body.block.ops):
        if isinstance(op, cl.ConstantOp) and not op.result.uses:
            op.detach()
            op.erase()
