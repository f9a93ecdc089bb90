"""Entry point of the printer: the kernels of a module as one source text."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ...dialects import nn, tir
from ...errors import CloptError
from ...machine.target import Target
from .functions import definition
from .functions.dots import KHR_DOT
from .functions.trigonometric import COS, SIN, TAN
from .printer import FETCH, KernelPrinter
from .turns import FUNCTIONS, print_turns

_EXTENSIONS = {
    "double": "cl_khr_fp64",
    "half": "cl_khr_fp16",
    KHR_DOT: "cl_khr_integer_dot_product",
    **dict.fromkeys((SIN, COS, TAN), "cl_khr_fp64"),
}
"""The extension that a C type or one of our functions needs."""


_FETCH = f"""\
// OpenCL's prefetch() does nothing or takes longer than the loads on the CPUs that were tried.
// NVIDIA's compiler has the builtin function, but takes no pointer to global memory for it.
#if defined(__has_builtin) && !defined(__NV_CL_C_VERSION)
#if __has_builtin(__builtin_prefetch)
#define {FETCH}(pointer) __builtin_prefetch(pointer)
#endif
#endif
#ifndef {FETCH}
#define {FETCH}(pointer)
#endif
"""


def emit(module: ModuleOp, target: Target | None = None) -> str:
    """Return the OpenCL C of all `tir.func` of a module, in order and deterministically.

    The text enables exactly the extensions that the kernels need; the runtime reads these pragmas
    to check the device. Raises CloptError for a kernel that has no loops yet.
    """
    target = target or Target()
    _check_loops(module)
    kernels_of_module = [op for op in module.body.block.ops if isinstance(op, tir.FuncOp)]
    joint, called = tir.kernels_with_turns(module), tir.called_kernels(module)
    printers = {
        name: KernelPrinter(op, target, is_called=name in called)
        for op in kernels_of_module
        if op not in joint and (name := op.sym_name.data)
    }
    kernels = list(printers.values())
    # Functions precede the kernels that call them.
    texts = [printers[name].text() for name in printers if name in called]
    texts += [FUNCTIONS] if joint else []
    texts += [
        print_turns(op, printers) if op in joint else printers[op.sym_name.data].text()
        for op in kernels_of_module
        if op.sym_name.data not in called
    ]
    functions = frozenset[tuple[str, int]]().union(*(kernel.functions() for kernel in kernels))
    parts = [_FETCH] if any(kernel.fetches for kernel in kernels) else []
    parts += [definition(*function) for function in sorted(functions)]
    text = "\n".join([*parts, *texts])
    types = frozenset[str]().union(*(kernel.types() for kernel in kernels))
    needed = types | {name for name, _ in functions}
    extensions = dict.fromkeys(name for what, name in _EXTENSIONS.items() if what in needed)
    pragmas = [f"#pragma OPENCL EXTENSION {name} : enable\n" for name in extensions]
    return "".join(pragmas) + ("\n" if pragmas else "") + text


def _check_loops(module: ModuleOp) -> None:
    for op in module.body.block.ops:
        if isinstance(op, nn.KernelOp):
            raise CloptError(
                f"the kernel @{op.sym_name.data} has no loops: run the pass nn-to-tir and the "
                "pipeline schedule first."
            )
