"""The program of a trial: a kernel with a plan, launched on memory in the state of its model.

Before the timed launch, as many bytes as the rest of the model moves stream through the caches.
Then the operands are written again, as their producers would write them. Constants and inputs of
the model are as cold as this leaves them. Values are stored as in the model: images in images, the
rest in an arena.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import cast

from xdsl.dialects.builtin import MemRefType, ModuleOp, StringAttr, f32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import PassPipeline

from ..backends.opencl_c import emit
from ..context import CloptContext
from ..dialects import cl, tir
from ..messages.source import Source, SourceModule
from ..passes.cl.plan_memory import CLPlanMemoryPass
from ..passes.pipelines import SCHEDULE
from ..passes.tir.join_kernels import TIRJoinKernelsPass
from ..passes.tir.join_strips import TIRJoinStripsPass
from ..passes.tir.mark_in_place import TIRMarkInPlacePass
from ..passes.tir.rules import rules
from ..passes.tir.rules.naive_kernel import NaiveKernel
from ..passes.tir.rules.plans import plan_of
from ..passes.tir.rules.space import Space
from ..passes.tir.rules.stages import stages_of
from ..passes.tir.schedule import Schedule
from ..passes.tir.schedule.analysis import written
from ..passes.tir.schedule.errors import refuse
from ..passes.tir.split_kernels import TIRSplitKernelsPass
from ..passes.verify import VerifyPass
from .trial import Task

MOST_STREAMED = 256 << 20
"""Bytes; no cache is larger."""

# The kernel is the model's after `tir-join-strips`, and it is timed alone.
_OTHERS = (TIRJoinStripsPass, TIRJoinKernelsPass, VerifyPass)
_PASSES = tuple(each for each in SCHEDULE if not isinstance(each, _OTHERS))

_ELEMENT_BYTES = 4


@dataclass(frozen=True)
class TrialProgram:
    """A program that is ready to run."""

    module: ModuleOp
    context: CloptContext
    """Its weights, in the arrangement that the plan requires."""
    timed: range
    """The commands of the task's launch."""

    @cached_property
    def text(self) -> str:
        """A digest of the timed kernels' OpenCL C and launch sizes, without names and comments."""
        kernels = {op.sym_name.data: op for op in self.module.ops if isinstance(op, tir.FuncOp)}
        commands = cl.commands(_program(self.module))[self.timed.start : self.timed.stop]
        launched = [
            _nameless(kernels[command.kernel_name], number)
            for number, command in enumerate(commands)
            if isinstance(command, cl.EnqueueKernelOp)
        ]
        sizes = [(str(func.global_size), str(func.local_size)) for func in launched]
        text = emit(ModuleOp(launched), cl.target_of(self.module))
        return sha256(f"{sizes}\n{text}".encode()).hexdigest()[:16]


class Programs:
    """The programs of one task for any plan."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self._module = _parsed(task.program)

    @cached_property
    def _around(self) -> ModuleOp:
        operands = _buffers(self._module)[: _program(self._module).input_count]
        return _scheduled_copies(self.task, operands)

    @property
    def kernel(self) -> tir.FuncOp:
        """The naive kernel."""
        return _kernel(self._module)

    def of(self, plan: tir.Plan) -> TrialProgram:
        """Return the program with a plan.

        Raises CloptError or VerifyException if the plan is illegal for the kernel.
        """
        module = self._module.clone()
        _kernel(module).plan = tir.PlanAttr(plan)
        return self._scheduled(module)

    def plainest(self) -> TrialProgram:
        """Return the program scheduled by the rule that applies to all kernels.

        That rule recomputes stages wherever they are read. So stages that a sum reads, but that are
        not sums themselves, become separate kernels.
        """
        module = self._module.clone()
        schedule = Schedule(_kernel(module))
        for stage in stages_of(schedule.func):
            is_read_by_sums = any(tir.IterKind.Reduce in c.iter_kinds for c in stage.consumers())
            if is_read_by_sums and not stage.reduce:
                for buffer in written(stage.block):
                    schedule.set_scope(buffer, tir.Scope.Global)
        schedule.commit()
        TIRSplitKernelsPass().apply(CloptContext(), module)
        for func in module.ops:
            if isinstance(func, tir.FuncOp):
                func.plan = _last_plan(func, self.task.target)
        return self._scheduled(module)

    def _scheduled(self, module: ModuleOp) -> TrialProgram:
        ctx = CloptContext()
        for key in self.task.weights.keys():
            ctx.weights.add(self.task.weights.get(key))
        PassPipeline(_PASSES).apply(ctx, module)
        before, timed = _surround(module, self._around.clone(), self.task)
        places = (TIRMarkInPlacePass(),) if self.task.in_place else ()
        PassPipeline((*places, CLPlanMemoryPass())).apply(ctx, module)
        module.verify()
        return TrialProgram(module, ctx, range(before, before + timed))


def kernel_in(program: str) -> tir.FuncOp:
    """Return the naive kernel of a task's program."""
    return _kernel(_parsed(program))


def _last_plan(kernel: tir.FuncOp, target: cl.Target) -> tir.PlanAttr:
    """Return the default plan of the last rule that applies, which is the rule for all kernels."""
    naive = NaiveKernel(kernel)
    for rule in reversed(rules()):
        space = rule.space(naive, target)
        if isinstance(space, Space):
            return plan_of(rule, rule.default(space))
    raise refuse(kernel, "no rule applies to it")


def _nameless(func: tir.FuncOp, number: int) -> tir.FuncOp:
    """Return a copy of a kernel without the names of its model."""
    copy = func.clone()
    copy.sym_name, copy.comment = StringAttr(f"kernel{number}"), None
    for index, param in enumerate(copy.params):
        param.name_hint = f"p{index}"
    return copy


def _parsed(text: str) -> ModuleOp:
    return SourceModule.parse(CloptContext(), Source("<task>", text)).module


def _kernel(module: ModuleOp) -> tir.FuncOp:
    (func,) = (op for op in module.ops if isinstance(op, tir.FuncOp))
    return func


def _program(module: ModuleOp) -> cl.ProgramOp:
    (program,) = (op for op in module.ops if isinstance(op, cl.ProgramOp))
    return program


def _buffers(module: ModuleOp) -> list[MemRefType[Attribute]]:
    """Return the storage types of the values that the launch reads and writes, operands first."""
    return [cast("MemRefType[Attribute]", arg.type) for arg in _program(module).body.block.args]


def _flat(type_: MemRefType[Attribute]) -> MemRefType[Attribute]:
    return MemRefType(type_.element_type, [type_.element_count()])


def _copy_name(type_: MemRefType[Attribute]) -> str:
    return f"refresh_{type_.element_type}_{type_.element_count()}"


def _streamed(task: Task) -> MemRefType[Attribute]:
    """Return the type of the two buffers, in and out, that stream through the caches."""
    count = min(task.traffic, MOST_STREAMED) // (2 * _ELEMENT_BYTES)
    # Whole vectors, so that every plan of the copy is fast.
    return MemRefType(f32, [max(1024, count // 1024 * 1024)])


def _scheduled_copies(task: Task, operands: Sequence[MemRefType[Attribute]]) -> ModuleOp:
    """Return the kernels that stream or write operands, with the target's default plans."""
    flat = [_flat(each) for each in (*operands, _streamed(task)) if not tir.is_texture(each)]
    types = {_copy_name(each): each for each in flat}
    kernels = "\n".join(_copy_text(name, each) for name, each in types.items())
    module = _parsed(f"builtin.module {{\n{kernels}\n}}")
    cl.set_target(module, task.target)
    PassPipeline(_PASSES).apply(CloptContext(), module)
    return module


def _copy_text(name: str, type_: MemRefType[Attribute]) -> str:
    """Return the text of a kernel that copies a buffer."""
    (count,) = type_.get_shape()
    return f"""
tir.func @{name}(%from: {type_}, %to: {type_}) attributes {{outputs = array<i64: 1>}} {{
  tir.for parallel %i = 0 to {count} {{
    tir.block "copy" (%j: spatial {count}) = affine_map<(d0) -> (d0)> (%i) {{
      %value = memref.load %from[%j] : {type_}
      memref.store %value, %to[%j] : {type_}
    }}
  }}
}}"""


def _surround(module: ModuleOp, around: ModuleOp, task: Task) -> tuple[int, int]:
    """Insert a scheduled kernel's commands between those that prepare memory and read results.

    Return the number of commands before the kernel's, and of the kernel's commands.
    """
    inner = _program(module)
    for func in list(around.ops):
        func.detach()
        module.body.block.insert_op_before(func, inner)
    buffers, count, streamed = _buffers(module), inner.input_count, _streamed(task)
    types = [_plain(each) for each in (*buffers[:count], streamed, *buffers[count:])]
    ports = [
        cl.Port(f"port{i}", each.element_type, each.get_shape()) for i, each in enumerate(types)
    ]
    program = cl.ProgramOp("main", ports, count + 1)
    block, allocs = program.body.block, [cl.AllocOp(each) for each in buffers]
    stream = cl.AllocOp(streamed)
    block.add_ops([*allocs, stream])
    given = sorted(task.given)
    produced = [i for i in range(count) if i not in task.given]
    values = [alloc.result for alloc in allocs[:count]] + [stream.result]
    for i in (*given, count, *produced):
        block.add_ops(_copy(block.args[i], values[i]))
    before = len(cl.commands(program))
    for arg, alloc in zip(inner.body.block.args, allocs, strict=True):
        arg.replace_all_uses_with(alloc.result)
    for op in list(inner.body.block.ops):
        if not isinstance(op, cl.ReturnOp):
            op.detach()
            block.add_op(op)
    timed = len(cl.commands(program)) - before
    for alloc, port in zip(allocs[count:], block.args[count + 1 :], strict=True):
        block.add_op(cl.EnqueueCopyOp(alloc.result, port))
    block.add_op(cl.ReturnOp())
    inner.detach()
    inner.erase()
    module.body.block.add_op(program)
    return before, timed


def _copy(source: SSAValue, target: SSAValue) -> list[Operation]:
    """Return the commands that write a value: a kernel like its producer, or an image copy."""
    type_ = cast("MemRefType[Attribute]", target.type)
    if tir.is_texture(type_):
        return [cl.EnqueueCopyOp(source, target)]
    views = [cl.ViewOp(value, _flat(type_)) for value in (source, target)]
    launch = cl.EnqueueKernelOp(_copy_name(_flat(type_)), [view.result for view in views])
    return [*views, launch]


def _plain(type_: MemRefType[Attribute]) -> MemRefType[Attribute]:
    return MemRefType(type_.element_type, type_.get_shape())
