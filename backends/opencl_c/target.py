"""`clopt -t opencl-c`: the kernels of a module as OpenCL C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.utils.target import Target

from ...dialects import nn, tir
from ...dialects.walking import operations_in
from ...errors import CloptError
from ..offload import source_of


@dataclass(frozen=True)
class OpenCLCTarget(Target):
    """Target that prints OpenCL C for the module's `cl.target`, or for a generic device.

    Raises CloptError for a module that is not lowered to scheduled kernels.
    """

    name = "opencl-c"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        _check_lowered(module)
        output.write(source_of(module))


def _check_lowered(module: ModuleOp) -> None:
    for op in module.body.block.ops:
        # A function without nn operations belongs to another compiler and is left out.
        if isinstance(op, FuncOp) and nn.has_operations(op):
            raise CloptError(
                f"@{op.sym_name.data} is not lowered to kernels: run the pipeline opencl first, "
                "as in -p opencl -t opencl-c."
            )
        if isinstance(op, tir.FuncOp) and any(
            isinstance(o, tir.BlockOp) for o in operations_in(op.body)
        ):
            raise CloptError(
                f"the kernel @{op.sym_name.data} has no schedule: run the pipeline schedule first, "
                "as in -p schedule -t opencl-c."
            )
