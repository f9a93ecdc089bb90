"""The distinct kernels of a model, each with everything that is needed to try its plans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import cast

from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.printer import Printer

from ..dialects import cl, tir
from ..dialects.cl.ops import byte_count
from ..passes.tir.kernel_key import kernel_key
from ..passes.tir.rules.stages import is_naive
from ..weights import Weights
from .trial import Task


@dataclass
class _Kernel:
    """A kernel of a model and its launches, in the order of the queue."""

    func: tir.FuncOp
    launches: list[cl.EnqueueKernelOp] = field(default_factory=list[cl.EnqueueKernelOp])


def tasks_of(module: ModuleOp, weights: Weights) -> list[Task]:
    """Return the kernels without a plan, in a module before `tir-choose-plan`.

    Kernels of equal content are one task, whatever their names. Kernels that a plan splits off from
    another kernel are not tasks, because they belong to that plan.
    """
    target = cl.target_of(module)
    found: dict[str, _Kernel] = {}
    traffic = 0
    for func, launch in _launches(module):
        traffic += _touched(launch) * cl.trips_of(launch)
        if is_naive(func) and func.plan is None and func.schedule is None:
            found.setdefault(kernel_key(func), _Kernel(func)).launches.append(launch)
    return [_task(key, kernel, weights, target, traffic) for key, kernel in found.items()]


def _launches(module: ModuleOp) -> Iterator[tuple[tir.FuncOp, cl.EnqueueKernelOp]]:
    funcs = {op.sym_name.data: op for op in module.ops if isinstance(op, tir.FuncOp)}
    for program in module.ops:
        if isinstance(program, cl.ProgramOp):
            for op in cl.commands(program):
                if isinstance(op, cl.EnqueueKernelOp) and op.kernel_name in funcs:
                    yield funcs[op.kernel_name], op


def _touched(launch: cl.EnqueueKernelOp) -> int:
    return sum(byte_count(value.type) for value in dict.fromkeys(launch.args))


def _task(key: str, kernel: _Kernel, weights: Weights, target: cl.Target, traffic: int) -> Task:
    launch = kernel.launches[0]
    constants = {
        value: value.owner for value in launch.args if isinstance(value.owner, cl.ConstantOp)
    }
    func = kernel.func
    operands = [value for value in _operands(func, launch) if value not in constants]
    return Task(
        kernel=key,
        name=func.sym_name.data,
        nodes="" if func.comment is None else func.comment.data,
        launches=sum(map(cl.trips_of, kernel.launches)),
        target=target,
        program=_text(_alone(func, launch, constants, target)),
        weights=weights.subset(op.key.data for op in constants.values()),
        traffic=traffic - _touched(launch),
        given=frozenset(i for i, value in enumerate(operands) if _is_input(value)),
        in_place=_may_be_in_place(func, launch),
    )


def _alone(
    func: tir.FuncOp,
    launch: cl.EnqueueKernelOp,
    constants: Mapping[SSAValue, cl.ConstantOp],
    target: cl.Target,
) -> ModuleOp:
    """Return a module of the kernel and a program that launches it on parameters and constants."""
    block = Block()
    mapping: dict[SSAValue, SSAValue] = {}
    ports: list[cl.Port] = []
    body: list[Operation] = []
    written = dict.fromkeys(launch.args[i] for i in func.output_indices)
    for value in (*_operands(func, launch), *written):
        type_ = cast("MemRefType[Attribute]", value.type)
        if value in constants:
            body.append(clone := constants[value].clone())
            mapping[value] = clone.result
        else:
            mapping[value] = block.insert_arg(type_, len(block.args))
            ports.append(cl.Port(f"value{len(ports)}", type_.element_type, type_.get_shape()))
    body.append(cl.EnqueueKernelOp(launch.kernel_name, [mapping[value] for value in launch.args]))
    block.add_ops([*body, cl.ReturnOp()])
    inputs = len(ports) - len(written)
    kernel = func.clone()
    kernel.runs_if = None  # a trial times a kernel that runs
    module = ModuleOp([kernel, cl.ProgramOp("main", ports, inputs, Region(block))])
    cl.set_target(module, target)
    return module


def _operands(func: tir.FuncOp, launch: cl.EnqueueKernelOp) -> list[SSAValue]:
    """Return the values that a launch reads but does not write, without duplicates."""
    written = {launch.args[i] for i in func.output_indices}
    return [value for value in dict.fromkeys(launch.args) if value not in written]


def _is_input(value: SSAValue) -> bool:
    """Return whether a value is an input of the program, or a part of one."""
    while isinstance(value.owner, cl.ViewOp | cl.RowOp):
        value = value.owner.source
    return isinstance(value, BlockArgument)


def _may_be_in_place(func: tir.FuncOp, launch: cl.EnqueueKernelOp) -> bool:
    """Return whether an operand as large as a result is read for the last time here."""
    sizes = [byte_count(launch.args[i].type) for i in func.output_indices]
    return any(
        byte_count(value.type) in sizes and _is_last(value, launch)
        for i, value in enumerate(launch.args)
        if i not in func.output_indices and isinstance(value.owner, cl.AllocOp)
    )


def _is_last(value: SSAValue, launch: Operation) -> bool:
    users: Sequence[Operation] = [use.operation for use in value.uses]
    return all(user is launch or user.is_before_in_block(launch) for user in users)


def _text(module: ModuleOp) -> str:
    text = StringIO()
    Printer(stream=text).print_op(module)
    return text.getvalue()
