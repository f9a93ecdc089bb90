"""Let a program serve smaller values of a symbol with fewer work-items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import AffineMapAttr, MemRefType, ModuleOp
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass

from ...dialects import cl, tir
from ...dialects.cl.ops import byte_count
from .ranges.flow import KernelFlow, UnknownFlowError
from .ranges.units import UnitNeeds, Units, needs_of
from .ranges.work_items import ranged_sizes


class CLRangeLaunchesPass(ModulePass):
    """Add the global sizes for smaller values of the symbol of `cl.range` to launches.

    For a value s, only the first s parts of the inputs and outputs that the range lists matter. The
    pass walks through each program backwards. Of each buffer it knows whether commands need all of
    it, the first s of its parts, or nothing. The parts may be on any axis. The pass follows each
    element that a kernel stores back to the elements of the inputs that it depends on, and finds
    the work-items that write what is needed. Kernels and buffers stay as they are; what is not
    needed of intermediate values and outputs then holds anything.

    An element that a kernel selects where a guard of the range is true, such as a key of attention,
    is needed only for the first s parts.

    Where an access is not an affine function of the loops, a launch keeps its whole NDRange or
    needs its input whole. Values that select an address are needed whole. Copies and commands of
    accelerators stay whole.
    """

    name = "cl-range-launches"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        range_ = cl.range_of(op)
        if range_ is None:
            return
        kernels = _Kernels(op, range_.largest)
        for program in op.ops:
            if isinstance(program, cl.ProgramOp):
                _Restriction(program, range_, kernels).run()


_WHOLE = 0
"""The need for all of a value; any other number is a need for parts of so many bytes.

Of each run of as many parts as the range has, the first s are needed.
"""


class _Kernels:
    """The kernels of a module, each analysed once for each way in which launches use it."""

    def __init__(self, module: ModuleOp, largest: int) -> None:
        self.facts = cl.kernels_of(module)
        self._largest = largest
        self._funcs = {op.sym_name.data: op for op in module.ops if isinstance(op, tir.FuncOp)}
        self._flows: dict[str, KernelFlow | None] = {}
        self._found: dict[object, tuple[UnitNeeds, AffineMapAttr | None] | None] = {}

    def uses(
        self, name: str, results: Mapping[int, int | None], guards: tuple[int, ...]
    ) -> tuple[UnitNeeds, AffineMapAttr | None] | None:
        """Return what a kernel needs for `results`, and its global sizes; None if it is unknown.

        `needs_of` explains the results and guards.
        """
        key = name, guards, *results.items()
        if key not in self._found:
            self._found[key] = self._analysed(name, results, guards)
        return self._found[key]

    def _analysed(
        self, name: str, results: Mapping[int, int | None], guards: tuple[int, ...]
    ) -> tuple[UnitNeeds, AffineMapAttr | None] | None:
        func, flow = self._funcs.get(name), self._flow(name)
        if func is None or flow is None:
            return None
        units, sizes = Units(self._largest, flow.extents), None
        needs = needs_of(func, flow, results, guards, units)
        if needs.written:
            sizes = ranged_sizes(flow, needs.written, self._largest)
        return needs, None if sizes is None else AffineMapAttr(cl.sizes_map(sizes))

    def _flow(self, name: str) -> KernelFlow | None:
        if name not in self._flows:
            func = self._funcs.get(name)
            try:
                known = func is not None and func.global_size is not None
                self._flows[name] = KernelFlow(func) if known and func else None
            except UnknownFlowError:
                self._flows[name] = None
        return self._flows[name]


class _Restriction:
    """A backward walk over one program."""

    def __init__(self, program: cl.ProgramOp, range_: cl.RangeAttr, kernels: _Kernels) -> None:
        self.program = program
        self.kernels = kernels
        self.largest = range_.largest
        self.parts = cl.parts(program)
        self.needs: dict[SSAValue, tuple[int, ...]] = {}
        """The bytes that a part of each root may have; empty if all of its memory is needed."""
        names = set(range_.port_names)
        inputs = program.body.block.args[: program.input_count]
        guards = set(range_.guard_names)
        self.guards = {
            arg
            for port, arg in zip(program.input_ports, inputs, strict=True)
            if port.name in guards
        }
        outputs = program.body.block.args[program.input_count :]
        for port, arg in zip(program.output_ports, outputs, strict=True):
            part, rest = divmod(byte_count(arg.type), self.largest)
            self.needs[arg] = () if rest or not part or port.name not in names else (part,)

    def run(self) -> None:
        """Set the sizes of the launches."""
        queue = cl.commands(self.program)
        if cl.repetitions(queue):
            return  # what an iteration needs of the last one is not analysed
        for op in reversed(queue):
            match op:
                case cl.EnqueueKernelOp():
                    self._launch(op)
                case cl.EnqueueCopyOp():
                    if (need := self._need(op.destination)) is not None:
                        self._require(op.source, (need,))
                case cl.EnqueueOffloadOp():
                    for value in op.operands:
                        self._require(value)

    def _launch(self, op: cl.EnqueueKernelOp) -> None:
        results: dict[int, int | None] = {}
        for i in sorted(self.kernels.facts[op.kernel_name].outputs):
            if (need := self._need(op.args[i])) is not None:
                elements, rest = divmod(need, _element_bytes(op.args[i]))
                results[i] = None if rest else elements or None
        guards = tuple(i for i, arg in enumerate(op.args) if self._is_guard(arg))
        found = self.kernels.uses(op.kernel_name, results, guards) if results else None
        if found is None:
            for value in op.args:
                self._require(value)
            return
        needs, op.sizes = found
        for i, elements in needs.equal.items():
            size = _element_bytes(op.args[i])
            self._require(op.args[i], [each * size for each in elements])
        for i in needs.whole:
            self._require(op.args[i])

    def _is_guard(self, value: SSAValue) -> bool:
        """Return whether a value is all of a guard."""
        root = self.parts[value].root
        return root in self.guards and byte_count(value.type) == byte_count(root.type)

    def _need(self, value: SSAValue) -> int | None:
        """Return the need of later commands for a value; None if they do not read it."""
        parts = self.needs.get(self.parts[value].root)
        return None if parts is None else next(iter(self._whole_runs(value, parts)), _WHOLE)

    def _require(self, value: SSAValue, parts: Sequence[int] = ()) -> None:
        """Add a need for parts of a value that may have these bytes; for all of it if none."""
        root = self.parts[value].root
        parts = self._whole_runs(value, parts)
        first, rest = divmod(byte_count(root.type), self.largest)
        if not rest and self.parts[value].offset + byte_count(value.type) <= first:
            parts = [first]  # all of the first part, which is always needed
        self.needs[root] = tuple(part for part in self.needs.get(root, parts) if part in parts)

    def _whole_runs(self, value: SSAValue, parts: Sequence[int]) -> list[int]:
        """Return the parts of which a value begins and ends with a run."""
        ends = self.parts[value].offset, byte_count(value.type)
        return [
            part for part in parts if part and not any(end % (part * self.largest) for end in ends)
        ]


def _element_bytes(value: SSAValue) -> int:
    type_ = cast("MemRefType[Attribute]", value.type)
    return byte_count(type_) // max(type_.element_count(), 1)
