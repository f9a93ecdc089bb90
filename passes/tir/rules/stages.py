"""The stages of a naive kernel, and how they walk through memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from xdsl.dialects import memref
from xdsl.dialects.builtin import NoneAttr
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from ....dialects import tir
from ....dialects.tir import TEXEL
from ....dialects.tir.affine import Linear, combine, simplify, substitute
from ....dialects.walking import operations_in
from ..schedule import Schedule
from ..schedule.analysis import accesses, memref_of, temporary, users, written
from ..schedule.errors import refuse
from .shared.texel_views import ReshapedTexels, view_of

Access = memref.LoadOp | memref.StoreOp

_WIDTHS = (2, 4, 8, 16)
"""Sizes of blocks that are vectors of OpenCL."""


@dataclass(frozen=True)
class KernelStage:
    """A block and the loops around it, outermost first; before scheduling one loop per variable."""

    block: tir.BlockOp
    loops: list[tir.ForOp]

    @cached_property
    def is_output(self) -> bool:
        """Whether the stage writes a parameter of the kernel."""
        return any(temporary(buffer) is None for buffer in written(self.block))

    @cached_property
    def accesses(self) -> dict[Access, Sequence[AffineExpr | None]]:
        """The indices of each access over the variables, when first asked; buffer by buffer."""
        return dict(_accesses(self.block))

    @property
    def spatial(self) -> list[int]:
        """The positions of the spatial iteration variables."""
        return self._positions(tir.IterKind.Spatial)

    @property
    def reduce(self) -> list[int]:
        """The positions of the reduce iteration variables."""
        return self._positions(tir.IterKind.Reduce)

    def _positions(self, kind: tir.IterKind) -> list[int]:
        return [i for i, k in enumerate(self.block.iter_kinds) if k is kind]

    @property
    def points(self) -> int:
        """The size of the iteration domain."""
        return prod(self.block.iter_extents)

    @cached_property
    def strides(self) -> dict[Access, list[int | None]]:
        """The `strides` of the block when first asked for."""
        return _strides(self.accesses, self.block.iter_extents)

    @cached_property
    def lane(self) -> int | None:
        """The spatial variable that walks the four lanes of the texels that the stage accesses.

        Of its stores, or where those are not packed, of its loads.
        """
        return _lane_among(self, self.spatial)

    @cached_property
    def reduce_lane(self) -> int | None:
        """`lane` among the variables of a reduction."""
        return _lane_among(self, self.reduce)

    @property
    def takes_texels(self) -> bool:
        """Whether a step of the reduction can take the elements of a texel, the last one fewer.

        An image of fewer channels counts, too; its alpha is unused.
        """
        lane = self.reduce_lane
        return lane is not None and self.block.iter_extents[lane] > 1

    @cached_property
    def view(self) -> ReshapedTexels | None:
        """How the stage reads texels through a reshape where it has no `lane`."""
        return view_of(self.block) if self.lane is None else None

    def consumers(self) -> set[tir.BlockOp]:
        """Return the blocks that read what this stage writes."""
        return {
            user
            for buffer in written(self.block)
            for user in users(buffer)
            if user is not self.block
        }


def stages_of(func: tir.FuncOp) -> list[KernelStage]:
    """Return the stages of a naive kernel, in program order."""
    return list(_stages_below(func.body.block, []))


def _stages_below(body: Block, loops: list[tir.ForOp]) -> Iterator[KernelStage]:
    for op in body.ops:
        if isinstance(op, tir.BlockOp):
            yield KernelStage(op, loops)
        elif isinstance(op, tir.ForOp):
            yield from _stages_below(op.body.block, [*loops, op])


def is_naive(func: tir.FuncOp) -> bool:
    """Return whether the kernel consists of blocks in plain loops, one for each variable.

    No schedule has chosen the memory of its temporaries.
    """
    if any(memref_of(op.memref).memory_space != NoneAttr() for op in _temporaries(func)):
        return False
    stages = stages_of(func)
    plain = (tir.LoopKind.Serial, tir.LoopKind.Parallel)
    return bool(stages) and all(
        list(stage.block.exprs) == [AffineExpr.dimension(i) for i in range(len(stage.loops))]
        and all(loop.kind.data in plain for loop in stage.loops)
        for stage in stages
    )


def _temporaries(func: tir.FuncOp) -> Iterator[memref.AllocaOp]:
    return (op for op in func.body.block.ops if isinstance(op, memref.AllocaOp))


def main_output(
    func: tir.FuncOp, outputs: list[KernelStage], producers: list[KernelStage]
) -> KernelStage:
    """Return the only output that reads the reductions; ScheduleError if several do."""
    readers = {block for stage in producers for block in stage.consumers()}
    mains = [output for output in outputs if output.block in readers]
    if len(mains) != 1:
        raise refuse(
            func,
            f"a reduction can be computed for one result, not for {len(mains)}; "
            "make a kernel for each",
        )
    return mains[0]


def reads_in_place(stage: KernelStage, output: KernelStage) -> bool:
    """Return whether the output reads the results of a stage only at its own position."""
    for buffer in written(stage.block):
        shape = memref_of(buffer).get_shape()
        for op, indices in output.accesses.items():
            if op.memref is not buffer:
                continue
            for position, (index, size) in enumerate(zip(indices, shape, strict=True)):
                if size != 1 and index != AffineExpr.dimension(position):
                    return False
    return True


def strides(block: tir.BlockOp) -> dict[Access, list[int | None]]:
    """Return how far each access moves in memory per step of each iteration variable.

    Counted in elements; None where the step is not constant (a division, a loaded index).
    """
    return _strides(dict(_accesses(block)), block.iter_extents)


def _strides(
    accesses_: Mapping[Access, Sequence[AffineExpr | None]], extents: Sequence[int]
) -> dict[Access, list[int | None]]:
    dims = _forms_of_variables(extents)
    found: dict[Access, list[int | None]] = {}
    for op, indices in accesses_.items():
        shape = memref_of(op.memref).get_shape()
        found[op] = _plain_strides(shape, indices, extents) or _strides_of(
            _address(shape, indices, dims, extents), extents
        )
    return found


def _forms_of_variables(extents: Sequence[int]) -> list[Linear]:
    """Return each variable as a form; one that takes a single value is zero."""
    return [
        Linear({} if size == 1 else {AffineExpr.dimension(i): 1}, 0)
        for i, size in enumerate(extents)
    ]


def _plain_strides(
    shape: Sequence[int], indices: Sequence[AffineExpr | None], extents: Sequence[int]
) -> list[int | None] | None:
    """Return `_strides_of` if each index is a variable or a constant, as most are; else None."""
    steps = [0] * len(extents)
    step = 1
    for index, size in zip(reversed(indices), reversed(shape), strict=True):
        # Not isinstance, whose negative answer for an abstract class takes longer than the rest.
        if type(index) is AffineDimExpr:
            # A variable that takes one value moves nothing.
            steps[index.position] += 0 if extents[index.position] == 1 else step
        elif type(index) is not AffineConstantExpr:
            return None
        step *= size
    return [*steps]


def lane_step(stage: KernelStage, access: Access, variable: int, width: int) -> int | None:
    """Return how far an access moves from lane to lane of vectors of `width` along a variable.

    The vectors start at multiples of the width. None where the lanes are not equally spaced.
    """
    extents = [*stage.block.iter_extents, width]
    extents[variable] = -(-extents[variable] // width)
    dims = _forms_of_variables(extents)
    dims[variable] = dims[variable].scaled(width) + dims[-1]
    shape = memref_of(access.memref).get_shape()
    address = _address(shape, stage.accesses[access], dims, extents)
    return None if address is None else _strides_of(address, extents)[-1]


def first_address(stage: KernelStage, access: Access) -> int | None:
    """Return the element that an access touches if all variables are zero; None if unknown."""
    extents, shape = stage.block.iter_extents, memref_of(access.memref).get_shape()
    dims = _forms_of_variables(extents)
    address = _address(shape, stage.accesses[access], dims, extents)
    return None if address is None else address.constant


def blocked_variable(stage: KernelStage, access: Access) -> tuple[int, int] | None:
    """Return the variable along which an access finds neighbours in blocks, and their size."""
    extents, shape = stage.block.iter_extents, memref_of(access.memref).get_shape()
    if not shape or shape[-1] not in _WIDTHS:
        return None
    lanes = shape[-1]
    match stage.accesses[access][-1]:
        # One block holds all channels. A plain tensor has neighbours in the innermost loop.
        case AffineDimExpr(position=position) if position < len(extents) - 1:
            return (position, lanes) if extents[position] == lanes else None
        case AffineBinaryOpExpr(
            kind=AffineBinaryOpKind.Mod, lhs=AffineDimExpr(position=position), rhs=rhs
        ) if rhs == AffineExpr.constant(lanes):
            return position, lanes
        case _:
            return None


def _accesses(block: tir.BlockOp) -> Iterator[tuple[Access, list[AffineExpr | None]]]:
    """Yield the accesses of a block, each with its indices."""
    buffers: dict[SSAValue, None] = {}
    for op in operations_in(block.body):
        if type(op) is memref.LoadOp or type(op) is memref.StoreOp:
            buffers[op.memref] = None
    for buffer in buffers:
        yield from accesses(block, buffer)


def _address(
    shape: Sequence[int],
    indices: Sequence[AffineExpr | None],
    dims: Sequence[Linear],
    extents: Sequence[int],
) -> Linear | None:
    """Return the element that an access touches, from the start of its buffer; None if unknown.

    `dims` are the forms of the variables.
    """
    address = Linear({}, 0)
    for index, size in zip(indices, shape, strict=True):
        if index is None:
            return None
        form = substitute(index, dims, (), extents)
        address = combine(AffineBinaryOpKind.Add, address.scaled(size), form, extents)
    return address


def _strides_of(address: Linear | None, extents: Sequence[int]) -> list[int | None]:
    count = len(extents)
    return [None] * count if address is None else address.strides(count)


def _lane_among(stage: KernelStage, candidates: Sequence[int]) -> int | None:
    operations = [*stage.block.stores(), *stage.block.loads()]
    buffers = dict.fromkeys(op.memref for op in operations if temporary(op.memref) is None)
    for buffer in buffers:
        if memref_of(buffer).get_shape()[-1:] != (TEXEL,):
            continue
        for op, indices in stage.accesses.items():
            if op.memref is not buffer:
                continue
            lane = _lane_of(indices[-1], stage.block.iter_extents)
            if lane in candidates:
                return lane
    return None


def _lane_of(index: AffineExpr | None, extents: Sequence[int]) -> int | None:
    """Return the variable v if an index is `v mod 4`, else None."""
    if index is None:
        return None
    match simplify(index, extents):
        case AffineDimExpr(position=position) if extents[position] <= TEXEL:
            return position
        case AffineBinaryOpExpr(
            kind=AffineBinaryOpKind.Mod, lhs=AffineDimExpr(position=position), rhs=rhs
        ) if rhs == AffineExpr.constant(TEXEL):
            return position
        case _:
            return None


def split_lanes(schedule: Schedule, stage: KernelStage) -> tuple[list[tir.ForOp], tir.ForOp | None]:
    """Split the lanes of texels off the loops of a stage; return the loops and the lanes."""
    loops = list(stage.loops)
    lane = stage.lane
    if lane is None:
        return loops, None
    loops[lane], lanes = schedule.split(loops[lane], TEXEL)
    return loops, lanes


def split_channels(
    schedule: Schedule, stage: KernelStage, reduce: list[tir.ForOp]
) -> list[tir.ForOp]:
    """Take the lanes of the texels a reduction walks out of its loops; `reduce` is changed.

    The lowering takes the last step apart if its texel is partial.
    """
    lane = stage.reduce_lane
    if lane is None:
        return []
    position = stage.reduce.index(lane)
    if reduce[position].size == 1:
        return []
    size = min(reduce[position].size, TEXEL)
    reduce[position], channels = schedule.split(reduce[position], size)
    return [channels]
