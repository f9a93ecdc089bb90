"""`tir-merge-variables`: merges neighbouring variables of a CPU's contractions.

A 1x1 convolution reads and writes pixels in the order in which they lie in memory, so that rows and
columns can be one variable. Tiles of 6 pixels cover an image of 14 x 14 almost exactly, but not its
rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import affine, memref
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    ModuleOp,
    StringAttr,
    i64,
)
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr
from xdsl.passes import ModulePass

from ...dialects import cl, tir
from ...dialects.tir import building
from .rules.naive_kernel import NaiveKernel
from .rules.stages import Access, KernelStage, is_naive
from .schedule.analysis import memref_of, path_to, temporary, written
from .schedule.fuse import fuse
from .schedule.stage import new_temporary


@dataclass(frozen=True)
class TIRMergeVariablesPass(ModulePass):
    """Merge adjacent spatial variables of a kernel that every access walks contiguously.

    Only the naive contractions of a CPU change: their tiles are columns of one variable. The first
    variable stays, since a program may also compute fewer images.
    """

    name: ClassVar[str] = "tir-merge-variables"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = cl.target_of(op)
        if target.device.device_type != "cpu" or target.uses_textures:
            return
        for func in op.ops:
            if isinstance(func, tir.FuncOp) and func.plan is None and func.schedule is None:
                _merge(func)


def _merge(func: tir.FuncOp) -> None:
    """Merge from the right, so that three variables merge in two steps."""
    if func.global_size is not None or not is_naive(func):
        return
    contraction = NaiveKernel(func).contraction
    if contraction is None or contraction.borders:
        return
    stages = (contraction.stage, contraction.output)
    for position in range(len(contraction.extents) - 2, 0, -1):
        extents = contraction.extents[position : position + 2]
        if min(extents) > 1 and all(_walks_as_one(stage, position) for stage in stages):
            (sums,) = written(contraction.stage.block)
            _merge_dimensions(func, sums, position)
            for stage in stages:
                _merge_loops(stage, position)
            _merge(func)
            return


def _walks_as_one(stage: KernelStage, position: int) -> bool:
    """Return whether every access of a stage walks two adjacent variables contiguously.

    A temporary has the shape of the variables, so its indices are the variables themselves.
    """
    size = stage.block.iter_extents[position + 1]
    for access, steps in stage.strides.items():
        outer, inner = steps[position : position + 2]
        if temporary(access.memref) is not None:
            pair = [AffineDimExpr(position), AffineDimExpr(position + 1)]
            if list(stage.accesses[access])[position : position + 2] != pair:
                return False
        elif outer is None or inner is None or outer != inner * size:
            return False
    return all(map(_only_indexes, stage.block.iter_vars[position : position + 2]))


def _only_indexes(variable: SSAValue) -> bool:
    """Return whether only accesses use a variable, and no border test does."""
    users = [use.operation for use in variable.uses]
    applied = [op.result for op in users if isinstance(op, affine.ApplyOp)]
    others = (op for op in users if not isinstance(op, affine.ApplyOp))
    return all(isinstance(op, Access) for op in others) and all(map(_only_indexes, applied))


def _merge_dimensions(func: tir.FuncOp, buffer: SSAValue, position: int) -> None:
    """Merge two dimensions of a temporary; its accesses keep the first of the two indices."""
    shape = memref_of(buffer).get_shape()
    merged = [*shape[:position], shape[position] * shape[position + 1], *shape[position + 2 :]]
    made = new_temporary(func, buffer, merged, buffer.name_hint or "buffer", None)
    for use in list(buffer.uses):
        access = use.operation
        assert isinstance(access, Access), "a naive kernel loads and stores its temporaries"
        indices = list(access.indices)
        del indices[position + 1]
        value = access.operands[:1] if isinstance(access, memref.StoreOp) else ()
        access.operands = [*value, made, *indices]
    alloca = buffer.owner
    assert isinstance(alloca, memref.AllocaOp)
    alloca.detach()
    alloca.erase()


def _merge_loops(stage: KernelStage, position: int) -> None:
    """Merge two variables of a block and their loops, after the dimensions of its temporary."""
    block, extents = stage.block, stage.block.iter_extents
    fuse(stage.loops[position], stage.loops[position + 1])
    body, size = block.body.block, extents[position + 1]
    merged = body.insert_arg(IndexType(), position)
    merged.name_hint = f"{body.args[position + 1].name_hint}{body.args[position + 2].name_hint}"
    outer, inner = body.args[position + 1 : position + 3]
    whole = AffineExpr.dimension(0)
    for use in list(outer.uses):
        if isinstance(use.operation, Access) and temporary(use.operation.memref) is not None:
            use.operation.operands[use.index] = merged
    for part, expr in ((inner, whole % size), (outer, whole // size)):
        apply = building.apply([merged], expr)
        apply.result.name_hint = part.name_hint
        part.replace_all_uses_with(apply.result)
        first = body.first_op
        assert first is not None
        body.insert_op_before(apply, first)
        body.erase_arg(part)
    kinds, sizes = list(block.iter_kinds), list(extents)
    sizes[position : position + 2] = [extents[position] * size]
    del kinds[position + 1]
    block.extents = DenseArrayBase.from_list(i64, sizes)
    block.kinds = ArrayAttr([StringAttr(kind.value) for kind in kinds])
    loops = [loop.var for loop in path_to(block)]
    block.rebind(loops, [AffineExpr.dimension(i) for i in range(len(loops))])
