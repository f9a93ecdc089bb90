"""`tir-split-kernels`: cuts kernels at their temporaries in global memory.

Work-items cannot wait for other work-groups of their launch, but the launches of a queue run in
order. So partial results computed by several groups go into a buffer between two kernels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DictionaryAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import cl, tir
from ...dialects.cl.ops import byte_count
from ..free_names import free_name
from .schedule.analysis import blocks_in, memref_of, temporary, written
from .schedule.errors import refuse
from .straighten import straighten

_GLOBAL = tir.ScopeAttr(tir.Scope.Global)


@dataclass(frozen=True)
class TIRSplitKernelsPass(ModulePass):
    """Split each kernel that has temporaries in global memory.

    Each stage that writes such a temporary becomes a kernel, with copies of the stages that it
    needs. The stages that compute the outputs form the last kernel, which keeps the name. A program
    that launches the kernel launches all parts in order, with a buffer for each temporary.

    A part that has no schedule yet is a naive kernel again. It gets a plan from the plan of the
    whole kernel, or is planned later.
    """

    name: ClassVar[str] = "tir-split-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        names = {func.sym_name.data for func in op.ops if isinstance(func, tir.FuncOp)}
        parts: dict[str, Sequence[_KernelPart]] = {}
        for func in list(op.ops):
            if isinstance(func, tir.FuncOp) and (cuts := _global_temporaries(func)):
                parts[func.sym_name.data] = _split(func, cuts, names)
        if not parts:
            return
        for program in op.ops:
            if isinstance(program, cl.ProgramOp):
                for launch in cl.commands(program):
                    if isinstance(launch, cl.EnqueueKernelOp) and launch.kernel_name in parts:
                        _launch_all(launch, parts[launch.kernel_name])


@dataclass(frozen=True)
class _KernelPart:
    """A kernel cut out of a larger one, with the sources of its arguments."""

    name: str
    func: tir.FuncOp
    arguments: Sequence[int | str]
    """Positions of the whole kernel's arguments, or names of new buffers."""
    buffers: Mapping[str, MemRefType[Attribute]]
    """The new buffers that the kernel writes."""


def _global_temporaries(func: tir.FuncOp) -> list[SSAValue]:
    return [
        op.memref
        for op in func.body.block.ops
        if isinstance(op, memref.AllocaOp) and memref_of(op.memref).memory_space == _GLOBAL
    ]


def bytes_between(func: tir.FuncOp) -> int:
    """Return the bytes of the temporaries at which a scheduled kernel is split."""
    return sum(byte_count(value.type) for value in _global_temporaries(func))


def split_kernel(func: tir.FuncOp) -> None:
    """Replace `func` by its parts, in a module without programs."""
    _split(func, _global_temporaries(func), {func.sym_name.data})


def _split(func: tir.FuncOp, cuts: Sequence[SSAValue], names: set[str]) -> list[_KernelPart]:
    """Replace `func` by its parts and return them."""
    nests = _Nests(func, cuts)
    taken = {hint: number for number, hint in enumerate(_unique_hints(cuts))}
    buffers = dict(zip(cuts, taken, strict=True))
    made: list[_KernelPart] = []
    for root in nests.cut:
        name = free_name(f"{func.sym_name.data}_parts", names)
        names.add(name)
        made.append(_make(func, name, nests.needed_by([root]), buffers))
    made.append(_make(func, func.sym_name.data, nests.needed_by(nests.last), buffers))
    _give_plans(func, made)
    Rewriter.erase_op(func)
    return made


def _give_plans(func: tir.FuncOp, parts: Sequence[_KernelPart]) -> None:
    """Attach to each part its plan from the plan of the whole kernel."""
    plans = () if func.plan is None else func.plan.data.parts
    if plans and len(plans) != len(parts):
        raise refuse(func, f"its plan has plans for {len(plans)} parts, but it has {len(parts)}")
    for part, plan in zip(parts, plans, strict=False):
        part.func.plan = tir.PlanAttr(plan)


def _unique_hints(values: Iterable[SSAValue]) -> Iterator[str]:
    """Yield a unique name for each value, made from its hint."""
    seen: set[str] = set()
    for value in values:
        name = free_name(value.name_hint or "parts", seen)
        seen.add(name)
        yield name


class _Nests:
    """The top-level statements of a kernel and their dependences."""

    def __init__(self, func: tir.FuncOp, cuts: Sequence[SSAValue]):
        self.roots = [op for op in func.body.block.ops if blocks_in(op)]
        self.cuts = set(cuts)
        self.writers: dict[SSAValue, list[Operation]] = {}
        for root in self.roots:
            for buffer in _written_in(root):
                self.writers.setdefault(buffer, []).append(root)
        self.cut: list[Operation] = []
        """The statements that write global temporaries."""
        for root in self.roots:
            if self.cuts & _written_in(root).keys():
                self._check(root)
                self.cut.append(root)
        self.last = [
            root
            for root in self.roots
            if root not in self.cut and any(temporary(b) is None for b in _written_in(root))
        ]
        """The statements that write outputs."""

    def needed_by(self, roots: Sequence[Operation]) -> list[Operation]:
        """Return `roots` and all statements they depend on, except through global memory."""
        found, pending = set(roots), list(roots)
        while pending:
            for buffer in _read_in(pending.pop()) - self.cuts:
                for writer in self.writers.get(buffer, ()):
                    if writer not in found:
                        found.add(writer)
                        pending.append(writer)
        return [root for root in self.roots if root in found]

    def _check(self, root: Operation) -> None:
        """Refuse a statement in which a work-item needs results of other groups."""
        shared = self.cuts & _written_in(root).keys()
        for block in blocks_in(root):
            own = written(block)
            foreign = next((b for b in _read_in(block) & shared if b not in own), None)
            if foreign is not None:
                raise refuse(
                    block,
                    f"it reads '{foreign.name_hint}', which other work-items write in the same "
                    "launch; compute it outside the loops of that stage",
                )
            if any(temporary(buffer) is None for buffer in own):
                raise refuse(
                    block,
                    "it writes an output and shares loops with a stage that writes global memory, "
                    "which becomes a separate kernel",
                )


def _written_in(root: Operation) -> dict[SSAValue, None]:
    return {buffer: None for block in blocks_in(root) for buffer in written(block)}


def _read_in(root: Operation) -> set[SSAValue]:
    return {load.memref for block in blocks_in(root) for load in block.loads()}


def _make(
    func: tir.FuncOp, name: str, roots: Sequence[Operation], buffers: Mapping[SSAValue, str]
) -> _KernelPart:
    """Insert a kernel made of copies of `roots` before `func`."""
    reads = set[SSAValue]().union(*(_read_in(root) for root in roots))
    writes = set[SSAValue]().union(*(_written_in(root) for root in roots))
    reads.update(func.params[at] for at, _ in func.run_conditions)
    used = [value for value in (*func.params, *buffers) if value in reads | writes]
    used.sort(key=lambda value: value in writes)
    types = [_parameter_type(value) for value in used]
    body = Block(arg_types=types)
    mapper: dict[SSAValue, SSAValue] = {}
    for value, arg in zip(used, body.args, strict=True):
        arg.name_hint = value.name_hint
        mapper[value] = arg
    for op in func.body.block.ops:
        private = isinstance(op, memref.AllocaOp) and op.memref in reads | writes
        if op in roots or (private and op.results[0] not in buffers):
            body.add_op(op.clone(mapper))
    part = tir.FuncOp(name, Region(body), [i for i, v in enumerate(used) if v in writes])
    _describe(part, func, used)
    Rewriter.insert_op(part, InsertPoint.before(func))
    straighten(part)
    return _KernelPart(
        name,
        part,
        [buffers[v] if v in buffers else func.params.index(v) for v in used],
        {
            buffers[v]: type_
            for v, type_ in zip(used, types, strict=True)
            if v in buffers and v in writes
        },
    )


def _parameter_type(value: SSAValue) -> MemRefType[Attribute]:
    type_ = memref_of(value)
    if type_.memory_space != _GLOBAL:
        return type_
    return MemRefType(type_.element_type, type_.shape, type_.layout)


def _describe(part: tir.FuncOp, func: tir.FuncOp, used: Sequence[SSAValue]) -> None:
    """Copy the properties of `func` that apply to a part."""
    place = {func.params.index(v): i for i, v in enumerate(used) if v in func.params}
    constants = [place[i] for i in func.constant_indices if i in place]
    if constants:
        part.constants = tir.FuncOp("f", Region(Block()), [], constants=constants).constants
    rows = [place[i] for i in func.row_indices if i in place]
    part.rows = DenseArrayBase.from_list(i64, rows) if rows else None
    part.runs_if = tir.run_conditions_attribute(
        [each._replace(parameter=place[each.parameter]) for each in func.run_conditions]
    )
    if func.layouts is not None:
        kept = {str(place[int(k)]): v for k, v in func.layouts.data.items() if int(k) in place}
        part.layouts = DictionaryAttr(kept) if kept else None
    part.local_size, part.comment = func.local_size, func.comment
    part.part_of = StringAttr(func.sym_name.data)


def _launch_all(launch: cl.EnqueueKernelOp, parts: Sequence[_KernelPart]) -> None:
    """Replace the launch of a kernel by launches of its parts."""
    memory: dict[str, SSAValue] = {}
    for part in parts:
        for name, type_ in part.buffers.items():
            alloc = cl.AllocOp(type_)
            alloc.result.name_hint = name
            Rewriter.insert_op(alloc, InsertPoint.before(cl.repeat_of(launch) or launch))
            memory[name] = alloc.result
        arguments = [memory[a] if isinstance(a, str) else launch.args[a] for a in part.arguments]
        command = cl.EnqueueKernelOp(part.name, arguments)
        command.location = launch.location
        Rewriter.insert_op(command, InsertPoint.before(launch))
    Rewriter.erase_op(launch)
