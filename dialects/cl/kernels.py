"""The facts about kernels that launches depend on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from .. import nn, tir
from ..properties import ints
from .kernel_op import KernelOp


class Scalar(NamedTuple):
    """A scalar argument of a kernel."""

    position: int
    bytes: int
    """4 or 8"""
    value: int


class Turn(NamedTuple):
    """A kernel that runs within another one."""

    kernel: Kernel
    arguments: tuple[int, ...]
    """The parameter of the other kernel for each of its own."""


@dataclass(frozen=True)
class Kernel:
    """The facts about a kernel that a launch needs; its body may be elsewhere."""

    name: str
    arg_types: tuple[Attribute, ...]
    outputs: frozenset[int]
    global_size: tuple[int, ...] | None
    """None until the schedule determines the NDRange."""
    local_size: tuple[int, ...] | None
    constants: frozenset[int] = frozenset()
    """Arguments that are constants at every launch."""
    bounds: tuple[int, ...] = ()
    """Trip counts of its rolled loops: 32-bit integer arguments after the buffers."""
    rows: tuple[int, ...] = ()
    """Arguments that may be rows of a buffer (`cl.row`).

    The index of the first element of each is a 32-bit integer argument after the bounds.
    """
    in_place: frozenset[tuple[int, int]] = frozenset()
    """Pairs (input, output) of arguments that may be the same bytes."""
    function: str = ""
    """Its name in its source, if it differs: several kernels may share one function."""

    scalars: tuple[Scalar, ...] = ()
    """The scalar arguments, in order."""
    program: str = ""
    """The weight that holds its program, a binary; empty if it is built from source."""
    has_turns: bool = False
    """Whether kernels take turns in it (`tir.turn`), so that its arguments may share bytes."""
    turns: tuple[Turn, ...] = ()
    """These kernels, in order, unless the kernel is only declared."""

    def position(self, index: int) -> int:
        """Return the parameter of the buffer `index`, counting the scalars before it."""
        for scalar in self.scalars:
            index += scalar.position <= index
        return index

    @property
    def function_name(self) -> str:
        """Return its name in its source."""
        return self.function or self.name

    @classmethod
    def of(cls, op: tir.FuncOp | nn.KernelOp | KernelOp) -> Kernel:
        """Return the facts of one kernel."""
        if isinstance(op, nn.KernelOp):
            outputs, constants = frozenset(op.output_indices), frozenset(op.constant_indices)
            name, rows = op.sym_name.data, ints(op.rows)
            return cls(name, op.arg_types, outputs, None, None, constants, rows=rows)
        constants: frozenset[int] = frozenset()
        function = program = ""
        scalars: tuple[Scalar, ...] = ()
        if isinstance(op, KernelOp):
            arg_types = tuple(op.arg_types)
            bounds = ints(op.bounds)
            function = "" if op.function is None else op.function.data
            program = "" if op.program is None else op.program.data
            scalars = tuple(Scalar(*row) for row in op.scalar_rows)
        else:
            bounds = tir.rolled_bounds(op)
            arg_types = tuple(param.type for param in op.params)
            constants = frozenset(op.constant_indices)
        return cls(
            op.sym_name.data,
            arg_types,
            frozenset(ints(op.outputs)),
            None if op.global_size is None else ints(op.global_size),
            None if op.local_size is None else ints(op.local_size),
            constants,
            bounds,
            ints(op.rows),
            frozenset(tir.in_place_pairs(op.in_place)),
            function,
            scalars,
            program,
            isinstance(op, KernelOp) and op.turns is not None,
        )

    def accepts(self, types: Sequence[Attribute]) -> bool:
        """Return whether the kernel can be launched with arguments of `types`."""
        return tuple(types) == self.arg_types


def kernels_of(module: ModuleOp) -> dict[str, Kernel]:
    """Return every kernel of `module` that can be launched, by name.

    Raises VerifyException if a kernel takes turns that the module does not have.
    """
    kernels = {
        op.sym_name.data: Kernel.of(op)
        for op in module.body.block.ops
        if isinstance(op, tir.FuncOp | nn.KernelOp | KernelOp)
    }
    called: set[str] = set()
    for func, turns in tir.kernels_with_turns(module).items():
        number = {param: i for i, param in enumerate(func.params)}
        name = func.sym_name.data
        missing = next((t.kernel_name for t in turns if t.kernel_name not in kernels), None)
        if missing is not None:
            raise VerifyException(f"@{name} has a turn of @{missing}, which the module lacks")
        taken = tuple(
            Turn(kernels[turn.kernel_name], tuple(number[arg] for arg in turn.args))
            for turn in turns
        )
        kernels[name] = replace(kernels[name], has_turns=True, turns=taken)
        called |= {turn.kernel_name for turn in turns}
    return {name: kernel for name, kernel in kernels.items() if name not in called}
