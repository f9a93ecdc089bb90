"""What a rule asks about a naive kernel: its stages, and how they walk through memory."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import memref
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ....dialects import tir
from ....dialects.tir.affine import linear
from ..schedule.analysis import accesses, memref_of, temporary, users, written

Access = memref.LoadOp | memref.StoreOp


@dataclass(frozen=True)
class Stage:
    """A block and the loops around it, outermost first; before scheduling one loop per variable."""

    block: tir.BlockOp
    loops: list[tir.ForOp]

    @property
    def is_output(self) -> bool:
        """Whether the stage writes a parameter of the kernel."""
        return any(temporary(buffer) is None for buffer in written(self.block))

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

    def consumers(self) -> set[tir.BlockOp]:
        """The blocks that read what this stage writes."""
        return {
            user
            for buffer in written(self.block)
            for user in users(buffer)
            if user is not self.block
        }


def stages_of(func: tir.FuncOp) -> list[Stage]:
    """The stages of a naive kernel, in program order."""
    return [
        Stage(op, tir.enclosing_loops(op)) for op in func.body.walk() if isinstance(op, tir.BlockOp)
    ]


def strides(block: tir.BlockOp) -> dict[Access, list[int | None]]:
    """How far each access of the block moves in memory per step of each iteration variable.

    Counted in elements; None where the step is not constant (a division, a loaded index).
    """
    found: dict[Access, list[int | None]] = {}
    buffers: dict[SSAValue, None] = {}
    for op in block.body.walk():
        if isinstance(op, memref.LoadOp | memref.StoreOp):
            buffers[op.memref] = None
    for buffer in buffers:
        shape = memref_of(buffer).get_shape()
        for op, indices in accesses(block, buffer):
            found[op] = _strides_of(indices, shape, block.iter_extents)
    return found


def _strides_of(
    indices: list[AffineExpr | None], shape: tuple[int, ...], extents: tuple[int, ...]
) -> list[int | None]:
    address: AffineExpr = AffineExpr.constant(0)
    for index, size in zip(indices, shape, strict=True):
        if index is None:
            return [None] * len(extents)
        address = address * size + index
    form = linear(address, extents)
    result: list[int | None] = [0] * len(extents)
    for atom, factor in form.terms.items():
        if isinstance(atom, AffineDimExpr):
            if result[atom.position] is not None:
                result[atom.position] = factor
        else:
            for dim in atom.used_dims():
                result[dim] = None
    return result
