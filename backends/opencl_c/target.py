"""`clopt -t opencl-c`: the kernels of a module as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from ...dialects.cl.target import target_of
from .emit import emit


@dataclass(frozen=True)
class OpenCLCTarget(Target):
    """Prints OpenCL C for the module's `cl.target`, or for a generic device."""

    name = "opencl-c"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(emit(module, target_of(module)))
