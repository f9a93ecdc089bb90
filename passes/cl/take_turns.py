"""`cl-take-turns`: joins launches of small kernels that take turns in one launch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp, StringAttr, i32
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import cl, tir
from ...dialects.cl.ops import byte_count
from ..free_names import free_name
from ..tir.join.bodies import joint_comment
from ..tir.join.launches import cost_of, has_single_items
from ..tir.schedule.analysis import memref_of

_LEAST_GAIN = 8.0
"""Microseconds that a turn saves from which turns pay off.

On Zen 5, a launch of PoCL takes 15 to 23 us longer than a turn, and six networks take 0.86 of the
time with turns. One of Intel's runtime takes 2 us longer: four networks take 0.94 of the time, but
twice as long to compile."""
_LEAST_SHARE = 0.02
"""Least share of the launch overhead in the time of a kernel that takes turns. Compilers may copy
the text of a kernel for each of its turns."""
_MOST_TURNS = 16
"""Maximum number of turns, so that several cores compile the kernels of a program."""
_MOST_ARGUMENTS = 120
"""Somewhat fewer than the 128 pointers that OpenCL 1.2 guarantees (table 4.3)."""

_CLEAR = "clear_turns"


@dataclass(frozen=True)
class CLTakeTurnsPass(ModulePass):
    """Join successive launches of small kernels on CPUs whose launches take long.

    Some runtimes wake their threads for every launch. The kernels of a joint launch take turns
    instead (`tir.turn`): its work-groups, one for each core, take the work-items of all kernels in
    order, and wait where one kernel needs the results of the previous one. Before the first such
    launch, a kernel clears the counters from which they take the items.

    The pass does nothing if the target's turns are not measured (`turn_microseconds`) or not worth
    it, and in a program that serves smaller sizes, whose launches have other work-items.
    """

    name: ClassVar[str] = "cl-take-turns"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = cl.target_of(op)
        turn, launch = target.machine.turn_microseconds, target.machine.launch_microseconds
        pays = turn > 0 and launch - turn >= _LEAST_GAIN
        if not pays or target.device.device_type != "cpu" or cl.range_of(op) is not None:
            return
        joiner = _TurnJoiner(op, target)
        for program in op.ops:
            if isinstance(program, cl.ProgramOp):
                joiner.join(program)
        joiner.separate()


class _TurnJoiner:
    """The kernels of a module, including those with turns that were made so far."""

    def __init__(self, module: ModuleOp, target: cl.Target) -> None:
        self._module, self._target = module, target
        self._functions = {op.sym_name.data: op for op in module.ops if isinstance(op, tir.FuncOp)}
        self._small: dict[str, bool] = {}
        self._joint: dict[object, str] = {}

    def join(self, program: cl.ProgramOp) -> None:
        """Join the launches of a program, and clear the counters of the joint launches."""
        groups = [_TurnGroup(launches) for launches in self._runs(program) if len(launches) > 1]
        if not groups:
            return
        first = groups[0].launches[0]
        rows, columns = tir.COUNTERS.get_shape()
        counters = cl.AllocOp(MemRefType(i32, [len(groups), rows, columns]))
        counters.result.name_hint = "turns"
        clear = cl.EnqueueKernelOp(self._clearing(counters.result), [counters.result])
        clear.location = first.location
        Rewriter.insert_op([counters, clear], InsertPoint.before(first))
        for number, group in enumerate(groups):
            offset = number * byte_count(tir.COUNTERS)
            view = cl.ViewOp(counters.result, tir.COUNTERS, offset)
            last = group.launches[-1]
            launch = cl.EnqueueKernelOp(self._kernel(group), [view.result, *group.values])
            launch.location = last.location
            Rewriter.insert_op([view, launch], InsertPoint.before(last))
            for op in group.launches:
                Rewriter.erase_op(op)

    def separate(self) -> None:
        """Copy the kernels that are also launched alone, since functions cannot be launched."""
        called = tir.called_kernels(self._module)
        alone: dict[str, str] = {}
        launches = [op for op in self._module.walk() if isinstance(op, cl.EnqueueKernelOp)]
        for op in launches:
            if (name := op.kernel_name) not in called:
                continue
            if name not in alone:
                function = self._functions[name]
                alone[name] = free_name(f"{name}_alone", self._functions)
                copy = function.clone()
                copy.sym_name = StringAttr(alone[name])
                Rewriter.insert_op(copy, InsertPoint.after(function))
                self._functions[alone[name]] = copy
            renamed = cl.EnqueueKernelOp(alone[name], op.args)
            renamed.attributes |= op.attributes
            renamed.location = op.location
            Rewriter.replace_op(op, renamed)

    def _runs(self, program: cl.ProgramOp) -> Iterator[list[cl.EnqueueKernelOp]]:
        """Yield the longest runs of launches that can take turns."""
        run: list[cl.EnqueueKernelOp] = []
        values: set[SSAValue] = set()
        for op in cl.commands(program):
            if not isinstance(op, cl.EnqueueKernelOp) or not self._is_small(op):
                yield run
                run, values = [], set()
                continue
            if len(run) == _MOST_TURNS or len(values | set(op.args)) >= _MOST_ARGUMENTS:
                yield run
                run, values = [], set()
            run.append(op)
            values |= set(op.args)
        yield run

    def _is_small(self, op: cl.EnqueueKernelOp) -> bool:
        """Return whether the overhead of a launch is a large share of its kernel's time."""
        name = op.kernel_name
        if cl.repeat_of(op) is not None or name not in self._functions:
            return False
        if name not in self._small:
            kernel, machine = self._functions[name], self._target.machine
            self._small[name] = can_take_turns(kernel) and (
                _LEAST_SHARE
                * cost_of(kernel, self._target).elapsed(self._target.device.compute_units)
                <= machine.launch_microseconds
            )
        return self._small[name]

    def _kernel(self, group: _TurnGroup) -> str:
        """Return the kernel in which the kernels of a group take turns; equal groups share it."""
        names = [op.kernel_name for op in group.launches]
        constants = tuple(
            i for i, value in enumerate(group.values, 1) if isinstance(value.owner, cl.ConstantOp)
        )
        types = tuple(value.type for value in group.values)
        key = (tuple(names), group.places, constants, types)
        if key not in self._joint:
            kernels = [self._functions[name] for name in names]
            block = Block(arg_types=[tir.COUNTERS, *types])
            block.args[0].name_hint = "turns"
            outputs = {0}
            for kernel, places in zip(kernels, group.places, strict=True):
                arguments = [block.args[place] for place in places]
                for param, argument in zip(kernel.params, arguments, strict=True):
                    argument.name_hint = argument.name_hint or param.name_hint
                outputs |= {places[i] for i in kernel.output_indices}
                block.add_op(tir.TurnOp(kernel.sym_name.data, arguments))
            function = tir.FuncOp(
                free_name(f"{names[0]}_until_{names[-1]}", self._functions),
                Region(block),
                sorted(outputs),
                constants=constants or None,
                comment=joint_comment(kernels),
                global_size=[self._target.device.compute_units],
                local_size=[1],
            )
            self._add(function, kernels[-1])
            self._joint[key] = function.sym_name.data
        return self._joint[key]

    def _clearing(self, counters: SSAValue) -> str:
        """Return a kernel that clears counters."""
        type_ = counters.type
        block = Block(arg_types=[type_])
        block.args[0].name_hint = "turns"
        inside, indices = block, list[SSAValue]()
        kinds = tir.LoopKind.Serial, tir.LoopKind.Serial, tir.LoopKind.Vectorized
        for kind, size in zip(kinds, memref_of(counters).get_shape(), strict=True):
            loop = tir.ForOp(kind, size, hint="i")
            inside.add_op(loop)
            inside = loop.body.block
            indices.append(loop.var)
        zero = arith.ConstantOp(IntegerAttr(0, i32))
        inside.add_ops([zero, memref.StoreOp.get(zero, block.args[0], indices)])
        name = free_name(_CLEAR, self._functions)
        function = tir.FuncOp(
            name,
            Region(block),
            [0],
            comment="counters of the launches in which kernels take turns",
            global_size=[1],
            local_size=[1],
        )
        self._add(function, next(iter(self._functions.values())))
        return name

    def _add(self, function: tir.FuncOp, after: tir.FuncOp) -> None:
        Rewriter.insert_op(function, InsertPoint.after(after))
        self._functions[function.sym_name.data] = function


@dataclass
class _TurnGroup:
    """Launches that take turns, and the arguments of their joint launch after the counters."""

    launches: Sequence[cl.EnqueueKernelOp]
    values: list[SSAValue] = field(init=False)
    places: tuple[tuple[int, ...], ...] = field(init=False)
    """For each launch, the parameters of the joint kernel that are its arguments."""

    def __post_init__(self) -> None:
        number: dict[SSAValue, int] = {}
        self.places = tuple(
            tuple(number.setdefault(value, len(number) + 1) for value in op.args)
            for op in self.launches
        )
        self.values = list(number)


def can_take_turns(kernel: tir.FuncOp) -> bool:
    """Return whether a kernel has independent work-items, buffers, and no other arguments."""
    is_plain = kernel.rows is None and kernel.runs_if is None
    buffers = not any(tir.is_texture(param.type) for param in kernel.params)
    return is_plain and buffers and not tir.rolled_loops(kernel) and has_single_items(kernel)
