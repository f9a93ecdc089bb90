"""Sums of products of an unsigned byte and a signed one: their operands, and packed weights."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import i8
from xdsl.ir import Operation, OpResult
from xdsl.ir.affine import AffineExpr

from .....dialects import tir
from .....dialects.tir import QUAD
from ...schedule import Schedule
from ...schedule.analysis import memref_of
from ..naive_kernel import NaiveKernel, whole_contraction
from ..space import NotApplicable
from ..stages import blocked_variable, lane_step
from .contraction import Contraction, OperandLoad


@dataclass(frozen=True)
class ByteProducts:
    """A sum of products of bytes that can be taken four at a time."""

    contraction: Contraction
    bytes: OperandLoad
    """The unsigned operand, four bytes of which are broadcast."""
    constant: OperandLoad
    """The signed operand: four bytes for each lane of a vector."""
    lane: int
    """The variable of its channels."""
    term: int
    """The variable of the reduction along which four terms lie side by side."""

    @staticmethod
    def of(kernel: NaiveKernel, lanes: int) -> ByteProducts | NotApplicable:
        """Return the products of a kernel, for vectors of `lanes` sums."""
        contraction = kernel.once(whole_contraction)
        if isinstance(contraction, NotApplicable):
            return contraction
        factors = _factors(contraction)
        if factors is None:
            return NotApplicable("it does not add products of unsigned bytes and signed ones")
        unsigned, signed = factors
        if any(tir.is_texture(load.op.memref.type) for load in factors):
            return NotApplicable("its bytes lie in images, which cannot be read as words")
        stage, shape = contraction.stage, memref_of(signed.op.memref).get_shape()
        extents = stage.block.iter_extents
        # The index of an axis of one element is constant, as in a window of one point.
        unknown = [i for i, dim in enumerate(signed.dims) if dim is None and shape[i] > 1]
        blocked = blocked_variable(stage, signed.op)
        # Channels with a tail are already in padded blocks: [O / 16, ..., 16].
        is_blocked = unknown == [0, len(shape) - 1] and blocked is not None and blocked[1] == lanes
        blocks = blocked[0] if is_blocked and blocked is not None else None
        if signed.constant is None or (unknown and not is_blocked):
            return NotApplicable("its signed bytes are not constants in the order of its variables")
        channels = [i for i in stage.spatial if i == blocks or signed.dims.count(i) == 1]
        terms = [
            i
            for i in stage.reduce
            if signed.dims.count(i) == 1 and lane_step(stage, unsigned.op, i, QUAD) == 1
        ]
        for lane in channels:
            if unsigned.steps[lane] != 0 or (blocks is not None and lane != blocks):
                continue
            for term in terms:
                whole = extents[lane] % lanes == 0 and extents[term] % QUAD == 0
                plain = {lane, term} - {blocks}
                inside = all(shape[signed.dims.index(dim)] == extents[dim] for dim in plain)
                if whole and inside:
                    return ByteProducts(contraction, unsigned, signed, lane, term)
        return NotApplicable(
            f"no four terms are adjacent, or its channels are not a multiple of {lanes}"
        )

    def pack(self, schedule: Schedule, lanes: int, *, terms_first: bool = False) -> None:
        """Lay the constant out so that a step of the reduction reads a vector of four bytes.

        With `terms_first` the vectors of a step are neighbours, else the vectors of the same sums.
        """
        dims = self.constant.dims
        axes = [AffineExpr.dimension(i) for i in range(len(dims))]
        term = axes[dims.index(self.term)]
        if self.lane in dims:
            lane = axes[dims.index(self.lane)]
            block, within, used = lane // lanes, lane % lanes, (lane, term)
        else:
            block, within = axes[0], axes[-1]
            used = (block, within, term)
        rest = [axis for axis in axes if axis not in used]
        assert self.constant.constant is not None, "it is one"
        blocks = [term // QUAD, *rest, block] if terms_first else [block, term // QUAD, *rest]
        layout = [*blocks, within, term % QUAD]
        schedule.transform_layout(schedule.func.params[self.constant.constant], layout)


def _factors(contraction: Contraction) -> tuple[OperandLoad, OperandLoad] | None:
    """Return the loads of unsigned and of signed bytes."""
    if len(contraction.loads) != 2:
        return None
    found: dict[type[Operation], OperandLoad] = {}
    for load in contraction.loads:
        uses = [use.operation for use in _behind_guards(load.op).uses]
        if memref_of(load.op.memref).element_type != i8 or len(uses) != 1:
            return None
        found[type(uses[0])] = load
    if set(found) != {arith.ExtUIOp, arith.ExtSIOp}:
        return None
    return found[arith.ExtUIOp], found[arith.ExtSIOp]


def _behind_guards(load: Operation) -> OpResult:
    """Return the value of a load, or that of a test around it that gives zero instead."""
    value = load.results[0]
    for use in value.uses:
        if isinstance(use.operation, scf.YieldOp) and isinstance(
            guard := use.operation.parent_op(), scf.IfOp
        ):
            return guard.results[0]
    return value
