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

FUNCTIONS = """\
// Wait until so many shares are finished. Work-groups hold them that are already running.
static void wait_for_shares(volatile __global int *finished, const int shares) {
    while (*finished < shares) {
    }
    // mem_fence does nothing in PoCL 3.1, but no access moves across an atomic operation.
    atomic_add(finished, 0);
    mem_fence(CLK_GLOBAL_MEM_FENCE);
}

// Return the first item of a share: a large share for each core, a small one, then single items.
static int first_item(const int share, const int cores, const int large, const int small) {
    return min(share, cores) * large + clamp(share - cores, 0, cores) * small
        + max(share - 2 * cores, 0);
}
"""
"""The functions that kernels with turns call."""

_FINISHED = tir.COUNTERS.get_shape()[1]
"""The position of the counter of finished shares; the first one counts shares that were taken."""


def print_turns(func: tir.FuncOp, printers: Mapping[str, KernelPrinter]) -> str:
    """Return the source text of a kernel with turns; `printers` have the kernels, by name.

    Its work-groups take shares of the items from one counter and add up finished shares in another.
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
    share, item, finished = names.new("share"), names.new("item"), f"{counters} + {_FINISHED}"
    cores = sizes_of(func.global_size)[0]
    branches: list[str] = []
    start = 0
    for turn in turns:
        sizes = sizes_of(printers[turn.kernel_name].func.global_size)
        shares = _Shares(prod(sizes), cores)
        number = f"{share} - {start}" if start else share
        values = [arguments[arg] for arg in turn.args]
        call = _call(turn.kernel_name, [*values, *_indices(item, sizes)])
        wait = f"    wait_for_shares({finished}, {start});\n" if start else ""
        body = shares.text(number, item, call)
        branches.append(f"if ({share} < {start + shares.count}) {{\n{wait}{indent(body, '    ')}}}")
        start += shares.count
    return (
        "\n".join(comment_lines(func))
        + "\n__attribute__((reqd_work_group_size(1, 1, 1)))\n"
        + "\n".join(parameter_list(f"__kernel void {name}", parameters))
        + "\n    // Shares are taken in order, so the shares that one waits for are running.\n"
        + f"    for (int {share}; ({share} = atomic_inc({counters})) < {start};) {{\n"
        + indent(" else ".join(branches) + "\n", " " * 8)
        + "        mem_fence(CLK_GLOBAL_MEM_FENCE);\n"
        + f"        atomic_inc({finished});\n"
        + "    }\n}\n"
    )


class _Shares:
    """The shares of a turn's items.

    Large ones hold neighbouring items, which have operands in common: half of what each core would
    get, then a quarter. Single items at the end let all cores finish together.
    """

    def __init__(self, items: int, cores: int) -> None:
        self._items, self._cores = items, cores
        self._large, self._small = items // (2 * cores), items // (4 * cores)
        rest = items - cores * (self._large + self._small)
        self._are_single = self._small == 0
        self.count = items if self._are_single else 2 * cores + rest

    def text(self, share: str, item: str, call: str) -> str:
        """Return the text that calls the kernel for the items of a share, by number."""
        if self._are_single:
            return f"const int {item} = {share};\n{call}"
        sizes = f"{self._cores}, {self._large}, {self._small}"
        return (
            f"const int end = first_item({share} + 1, {sizes});\n"
            f"for (int {item} = first_item({share}, {sizes}); {item} < end; {item}++) {{\n"
            f"{indent(call, '    ')}}}\n"
        )


def _call(name: str, arguments: Sequence[str]) -> str:
    """Return the lines of a call that is four levels deep."""
    line, length = f"{name}({', '.join(arguments)});", LINE_LENGTH - 16
    if len(line) <= length:
        return f"{line}\n"
    lines = [f"{name}("]
    for argument in arguments:
        if len(lines) > 1 and len(lines[-1]) + len(argument) + 2 <= length:
            lines[-1] += f" {argument},"
        else:
            lines.append(f"    {argument},")
    return "\n".join(lines).removesuffix(",") + ");\n"


def _indices(item: str, sizes: Sequence[int]) -> list[str]:
    """Return the work-item index of each dimension for an item."""
    found: list[str] = []
    below = 1
    for size in sizes:
        index = item if below == 1 else f"{item} / {below}"
        is_last = below * size == prod(sizes)
        found.append("0" if size == 1 else index if is_last else f"{index} % {size}")
        below *= size
    return found
