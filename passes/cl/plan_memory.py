"""Place all intermediate values in arenas."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import cl, tir
from ...dialects.cl.placement import extent
from ...errors import CloptError
from ..locations import node_name
from .intermediates import Chain, Intermediate, chains
from .memory import LiveTensor, plan, share


@dataclass(frozen=True)
class CLPlanMemoryPass(ModulePass):
    """Assign all intermediates offsets in an arena that values with disjoint lifetimes share.

    Each `cl.alloc` of a buffer, or of an image that the target can place over a buffer, becomes a
    view of a `cl.arena`; other images and empty tensors remain allocations. The plan has several
    arenas if it exceeds the largest buffer of the target. A target without `sub_buffers` gets whole
    buffers that values use in turn. A kernel that may compute in place (`in_place` of `tir.func`)
    does so if its input is not needed afterwards; pairs that no launch uses are removed from
    `in_place`. Programs that already have an arena are not changed.
    """

    name: ClassVar[str] = "cl-plan-memory"
    capacity: int = 0
    """Maximum bytes of an arena; 0 means the target's limit."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = cl.target_of(op)
        capacity = self.capacity or target.device.max_alloc_bytes
        kernels = cl.kernels_of(op)
        programs = [program for program in op.ops if isinstance(program, cl.ProgramOp)]
        for program in programs:
            if not is_planned(program):
                _place(program, chains(program, kernels, target), target, capacity)
        if programs:
            _forget_unused_pairs(op, programs, kernels)


def is_planned(program: cl.ProgramOp) -> bool:
    """Return whether the memory of a program is planned, which means that it has an arena."""
    return any(isinstance(op, cl.ArenaOp) for op in program.body.block.ops)


def _place(
    program: cl.ProgramOp, planned: Sequence[Chain], target: cl.Target, capacity: int
) -> None:
    """Create the arenas, and replace the allocations by views of them."""
    for chain in planned:
        _check_size(program, chain[0], target, capacity)
    alignment = target.device.image_base_alignment_bytes
    tensors = [
        LiveTensor(chain[0].bytes, chain[0].lifetime.first, chain[-1].lifetime.last, alignment)
        for chain in planned
    ]
    places = plan(tensors, capacity or None) if target.device.sub_buffers else share(tensors)
    arenas = [cl.ArenaOp(size) for size in places.sizes]
    for arena in arenas:
        arena.result.name_hint = "arena"
    first = program.body.block.first_op
    assert first is not None, "a program ends with cl.return"
    Rewriter.insert_op(arenas, InsertPoint.before(first))
    for chain, offset, arena in zip(planned, places.offsets, places.arenas, strict=True):
        for item in chain:
            alloc = item.value.owner
            assert isinstance(alloc, cl.AllocOp)
            Rewriter.replace_op(alloc, _view(item, arenas[arena].result, offset))


def _view(item: Intermediate, arena: SSAValue, offset: int) -> Operation:
    """Return the operation that makes `item` a view of `arena` at `offset` bytes."""
    type_ = item.value.type
    if tir.is_texture(type_):
        return cl.ImageViewOp(arena, offset, type_, item.pitch)
    return cl.BufferViewOp(arena, offset, type_)


def _check_size(
    program: cl.ProgramOp, item: Intermediate, target: cl.Target, capacity: int
) -> None:
    """Raise CloptError if `item` exceeds `capacity` bytes; 0 means no limit."""
    if 0 < capacity < item.bytes:
        writer = cl.commands(program)[item.lifetime.first]
        raise CloptError(
            f"{node_name(writer)}: its result of {item.bytes:,} bytes is more than the "
            f"{capacity:,} that {target.name} allows one buffer; use smaller inputs, "
            "--precision f16-storage or another device."
        )


def _forget_unused_pairs(
    module: ModuleOp, programs: Sequence[cl.ProgramOp], kernels: Mapping[str, cl.Kernel]
) -> None:
    """Keep only the in-place pairs of each kernel that share bytes in a launch.

    Callers may bind one buffer to an output and to the input that it overwrites. The parameters of
    a pair are not `restrict` pointers, which limits how the device's compiler can move their loads.
    """
    used: defaultdict[str, set[tuple[int, int]]] = defaultdict(set)
    for program in programs:
        part_of, overwritten = cl.parts(program), program.overwritten()
        for op in cl.commands(program):
            if isinstance(op, cl.EnqueueKernelOp):
                for pair in kernels[op.kernel_name].in_place:
                    source, result = (extent(op.args[i], part_of[op.args[i]]) for i in pair)
                    if source == result or overwritten.get(result.memory) is source.memory:
                        used[op.kernel_name].add(pair)
    for kernel in module.ops:
        if isinstance(kernel, tir.FuncOp | cl.KernelOp):
            kernel.in_place = tir.in_place_attribute(sorted(used[kernel.sym_name.data]))
