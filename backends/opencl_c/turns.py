"""Printer of kernels in which other kernels take turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from textwrap import indent

from ...dialects import tir
from .names import NameScopes
from .printer import KernelPrinter
from .signature import LINE_LENGTH, check_kernel, comment_lines, parameter_list
from .storage import sizes_of
from .values import Array

WAIT = "wait_for_items"
"""The function in which a work-group waits for others."""

WAITING = f"""\
// Wait until so many items are finished, which work-groups hold that are already running.
static void {WAIT}(volatile __global int *finished, const int items) {{
    while (*finished < items) {{
    }}
    // mem_fence does nothing in PoCL 3.1, but no access moves across an atomic operation.
    atomic_add(finished, 0);
    mem_fence(CLK_GLOBAL_MEM_FENCE);
}}
"""

_FINISHED = tir.COUNTERS.get_shape()[1]
"""The position of the counter of finished items; that of items taken is the first."""


def print_turns(func: tir.FuncOp, printers: Mapping[str, KernelPrinter]) -> str:
    """Return the source text of a kernel with turns; `printers` have the kernels, by name.

    Its work-groups take items from one counter and add what they have finished to another.
    """
    name = check_kernel(func, len(func.params))
    names = NameScopes()
    hints = [param.name_hint or "t" for param in func.params]
    arguments = dict(zip(func.params, map(names.new, hints), strict=True))
    turns = tir.turns_of(func)
    types = {
        param: buffer
        for turn in turns
        for param, buffer in zip(
            turn.args, printers[turn.kernel_name].builder.parameters, strict=True
        )
    }
    counters = arguments.pop(func.params[0])
    parameters = [f"volatile __global int *{counters}"]
    for position, (param, argument) in enumerate(arguments.items(), 1):
        buffer = types[param]
        assert isinstance(buffer, Array), "kernels with images take no turns"
        parameters.append(f"{buffer.pointer(position in func.output_indices)}{argument}")
    item, finished = names.new("item"), f"{counters} + {_FINISHED}"
    calls: list[str] = []
    start = 0
    for turn in turns:
        printer = printers[turn.kernel_name]
        sizes = sizes_of(printer.func.global_size)
        end = start + prod(sizes)
        values = [arguments[arg] for arg in turn.args]
        call = _call(turn.kernel_name, [*values, *_indices(item, start, sizes)])
        wait = f"    {WAIT}({finished}, {start});\n" if start else ""
        calls.append(f"if ({item} < {end}) {{\n{wait}{indent(call, '    ')}}}")
        start = end
    body = " else ".join(calls) + "\n"
    return (
        "\n".join(comment_lines(func))
        + "\n__attribute__((reqd_work_group_size(1, 1, 1)))\n"
        + "\n".join(parameter_list(f"__kernel void {name}", parameters))
        + "\n    // Items are taken in order, so the items that one waits for are running.\n"
        + f"    for (int {item}; ({item} = atomic_inc({counters})) < {start};) {{\n"
        + indent(body, " " * 8)
        + "        mem_fence(CLK_GLOBAL_MEM_FENCE);\n"
        + f"        atomic_inc({finished});\n"
        + "    }\n}\n"
    )


def _call(name: str, arguments: Sequence[str]) -> str:
    """Return the lines of a call, three levels deep at least."""
    line = f"{name}({', '.join(arguments)});"
    if len(line) <= LINE_LENGTH - 12:
        return f"{line}\n"
    lines = [f"{name}("]
    for argument in arguments:
        if len(lines) > 1 and len(lines[-1]) + len(argument) + 2 <= LINE_LENGTH - 12:
            lines[-1] += f" {argument},"
        else:
            lines.append(f"    {argument},")
    return "\n".join(lines).removesuffix(",") + ");\n"


def _indices(item: str, start: int, sizes: Sequence[int]) -> list[str]:
    """Return the work-item index of each dimension for an item of a turn."""
    if prod(sizes) in sizes:  # a row of items
        number = f"{item} - {start}" if start else item
        return [number if size == prod(sizes) else "0" for size in sizes]
    number = f"({item} - {start})" if start else item
    found: list[str] = []
    below = 1
    for size in sizes:
        index = number if below == 1 else f"{number} / {below}"
        is_last = below * size == prod(sizes)
        found.append("0" if size == 1 else index if is_last else f"{index} % {size}")
        below *= size
    return found
