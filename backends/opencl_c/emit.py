"""The entry point: the kernels of a module as one source text."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ...dialects import tir
from ...dialects.cl.target import Target
from .printer import KernelPrinter

_EXTENSIONS = {"double": "cl_khr_fp64", "half": "cl_khr_fp16"}


def emit(module: ModuleOp, target: Target | None = None) -> str:
    """OpenCL C of all `tir.func` of a module in order; the same module gives the same bytes."""
    target = target or Target()
    kernels = [
        KernelPrinter(op, target).text()
        for op in module.body.block.ops
        if isinstance(op, tir.FuncOp)
    ]
    text = "\n".join(kernels)
    used = [name for ctype, name in _EXTENSIONS.items() if ctype in text]
    if not target.fp16 and "cl_khr_fp16" in used:
        used.remove("cl_khr_fp16")
    pragmas = [f"#pragma OPENCL EXTENSION {name} : enable\n" for name in used]
    return "".join(pragmas) + ("\n" if pragmas else "") + text
