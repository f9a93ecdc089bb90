"""Verification of a kernel as a whole: its parameters, its index space, its statements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation
from xdsl.utils.exceptions import VerifyException

from .block import BlockOp
from .in_place import verify_in_place
from .layouts import verify_layouts
from .nesting import verify_indices
from .ops import BarrierOp, ForOp
from .plan import plan_fault
from .run_condition import verify_run_conditions
from .texel import TexelWriteOp
from .texture import is_texture

if TYPE_CHECKING:
    from .func import FuncOp


def verify_parameters(func: FuncOp) -> None:
    """Verify that parameters are memrefs, only outputs are written, and constants are inputs."""
    args, outputs, constants = func.body.block.args, func.output_indices, func.constant_indices
    count = len(args)
    rows = func.row_indices
    for role, positions in (("output", outputs), ("constant", constants), ("row", rows)):
        for i in positions:
            if not 0 <= i < count:
                raise VerifyException(f"{role} {i} is not one of the {count} parameters")
        if len(set(positions)) < len(positions):
            raise VerifyException(f"{role}s lists a parameter twice: {list(positions)}")
    for i in constants:
        if i in outputs:
            raise VerifyException(f"parameter {i} is a constant, so it cannot be an output")
    for i in rows:
        if i in constants or is_texture(args[i].type):
            raise VerifyException(f"parameter {i} is a constant or an image, so it cannot be a row")
    for i, arg in enumerate(args):
        if not isinstance(arg.type, MemRefType):
            raise VerifyException(f"a kernel parameter must be a memref, not {arg.type}")
        if i not in outputs and any(_is_written(use.operation, use.index) for use in arg.uses):
            raise VerifyException(
                f"the kernel stores to parameter {i}, which its outputs do not list"
            )
    types = [arg.type for arg in args]
    verify_in_place(func.in_place, types, set(outputs))
    verify_layouts(func.layouts, types, constants)
    verify_run_conditions(func.runs_if, types, outputs)


def verify_plan(func: FuncOp) -> None:
    """Require a plan of a known rule, which was carried out if the kernel is scheduled."""
    plan, digest = func.plan, func.carried_out
    if plan is not None and (fault := plan_fault(plan.data)) is not None:
        raise VerifyException(f"@{func.sym_name.data}: {fault}")
    if digest is not None and (plan is None or plan.data.digest != digest.data):
        raise VerifyException(
            f"@{func.sym_name.data}: its plan is not the one that was carried out; change the plan "
            "of the naive kernel"
        )
    if plan is not None and digest is None and func.global_size is not None:
        raise VerifyException(
            f"@{func.sym_name.data}: the kernel is scheduled, but its plan was not carried out; "
            "remove the plan, or start from the naive kernel"
        )


def _is_written(op: Operation, operand: int) -> bool:
    return isinstance(op, memref.StoreOp | TexelWriteOp) and operand == 1


def verify_ndrange(global_size: Sequence[int], local_size: Sequence[int]) -> None:
    """Verify that a launch has one to three dimensions and work-groups that divide the range.

    The range may be empty.
    """
    if not 1 <= len(global_size) <= 3 or len(local_size) != len(global_size):
        raise VerifyException(
            f"a launch must have one to three dimensions, not global {list(global_size)} and local "
            f"{list(local_size)}"
        )
    for total, group in zip(global_size, local_size, strict=True):
        if total < 0 or group < 1 or total % group:
            raise VerifyException(
                f"the local size {list(local_size)} must divide the global size {list(global_size)}"
            )


def verify_launch(func: FuncOp) -> None:
    """Verify that the index space has one to three dimensions and every index bound by loops."""
    loops = [op for op in _statements(func.body.block) if type(op) is ForOp]
    verify_indices(loop.kind.data for loop in loops)
    total, group = func.global_size, func.local_size
    if group is not None and total is None:  # requested work-groups; the range is not known yet
        sizes = tuple(group.iter_values())
        if not 1 <= len(sizes) <= 3 or min(sizes) < 1:
            raise VerifyException(
                f"a work-group must have one to three positive sizes, not {list(sizes)}"
            )
    if total is None:
        return
    ranges = tuple(total.iter_values())
    groups = (1,) * len(ranges) if group is None else tuple(group.iter_values())
    verify_ndrange(ranges, groups)
    launched = {
        "global": ranges,
        "local": groups,
        "group": tuple(n // m for n, m in zip(ranges, groups, strict=True)),
    }
    for loop in loops:
        kind = loop.kind.data
        if not kind.is_bound:
            continue
        if group is None and not kind.value.startswith("global"):
            raise VerifyException(f"a loop is bound to {kind.value}, but there is no local_size")
        sizes = launched[kind.value[:-2]]
        size = sizes[kind.axis] if kind.axis < len(sizes) else 1
        if loop.size > size:
            raise VerifyException(
                f"loop '{loop.var.name_hint}' is bound to {kind.value} and runs {loop.size} times, "
                f"but {size} are launched"
            )


def verify_statements(func: FuncOp) -> None:
    """Verify that a kernel with blocks computes only in blocks, with unique labels."""
    statements = list(_statements(func.body.block))
    labels: set[str] = set()
    for block in statements:
        if type(block) is BlockOp:
            label = block.label.data
            if label in labels:
                raise VerifyException(f"two blocks are labelled '{label}'")
            labels.add(label)
    if not labels:
        return
    known = BlockOp | ForOp | BarrierOp | memref.AllocaOp | arith.ConstantOp
    for op in statements:
        if not isinstance(op, known):
            raise VerifyException(f"a kernel with blocks must not have {op.name} outside them")


def verify_schedule(steps: Iterable[str]) -> None:
    """Verify that each step is a word with arguments; `tir-apply-schedule` checks the words."""
    for step in steps:
        words = step.split()
        if not words or words[0] == "->" or words[-1] == "->" or words.count("->") > 1:
            raise VerifyException(
                f"'{step}' is not a step of a schedule, such as 'split out.i 8 -> io ii'"
            )


def _statements(block: Block) -> Iterator[Operation]:
    """Yield the operations of a kernel in loops and branches, without the bodies of blocks."""
    for op in block.ops:
        yield op
        if type(op) is not BlockOp:
            for region in op.regions:
                for inner in region.blocks:
                    yield from _statements(inner)
