"""The layouts of constants: each kernel gets the one it wants, arranged at compile time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ....dialects import cl, nn, tir
from ....dialects.nn import LayoutAttr
from .access import Access
from .candidates import LANES, PLAIN, Candidate, packed_axis, texture_for
from .kernels import Work, work_lane


@dataclass(frozen=True)
class ConstantLayouts:
    """The layouts of one kernel's constants, given those of its other operands."""

    work: Work
    lane: int | None
    """The axis of the result along which the kernel computes four elements at once."""
    packed: dict[SSAValue, int | None]
    """The packed axis of each operand that is not constant."""
    target: cl.Target

    def of(self, value: SSAValue) -> Candidate:
        """The layout of a constant operand."""
        type_ = nn.tensor_type(value)
        if self.lane is None or 0 in type_.get_shape() or not tir.is_texel_type(type_.element_type):
            return PLAIN
        access = self.work.access(value, self.lane)
        match self.work.contraction:
            case nn.ConvOp() as op if op.w is value:
                return self._conv_weights(op, access)
            case nn.MatmulOp() as op if op.b is value:
                return self._matmul_weights(op, access)
            case _:
                axis = access.axis
                if axis is None or type_.get_shape()[axis] == 1:
                    return PLAIN
                return Candidate(LayoutAttr([(axis, LANES)]))

    def _conv_weights(self, op: nn.ConvOp, access: Access) -> Candidate:
        """Weights [O, I, K1..]: texels of four outputs, in blocks of four inputs if x is packed."""
        type_ = nn.tensor_type(op.w)
        outputs, inputs = type_.get_shape()[:2]
        groups = op.groups.value.data
        aligned = groups in (1, outputs) or outputs // groups % LANES == 0
        if access.axis != 0 or not aligned:
            return PLAIN
        blocks = [(0, LANES)]
        if self.packed.get(op.x) == 1 and (groups == 1 or inputs % LANES == 0):
            blocks = [(1, LANES), (0, LANES)]
        return self._weights(type_, blocks, 1)

    def _weights(self, type_: nn.Tensor, blocks: Sequence[tuple[int, int]], row: int) -> Candidate:
        """Weights in blocks, in an image on devices that read weights faster from there."""
        if not self.target.weight_images:
            return Candidate(LayoutAttr(blocks))
        return texture_for(type_, blocks, row, self.target)

    def _matmul_weights(self, op: nn.MatmulOp, access: Access) -> Candidate:
        """Weights [.., K, N]: texels of four columns, in blocks of four rows if a has those."""
        type_ = nn.tensor_type(op.b)
        shape = type_.get_shape()
        last = len(shape) - 1
        rows, columns = (last, last - 1) if op.transpose_b is not None else (last - 1, last)
        if access.axis != columns:
            return PLAIN
        blocks = [(columns, LANES)]
        a_packed = self.packed.get(op.a) == len(nn.shape_of(op.a)) - 1
        if op.transpose_a is None and (a_packed or shape[rows] % LANES == 0):
            blocks = [(rows, LANES), (columns, LANES)]
        return self._weights(type_, blocks, last)


def lane_of(work: Work, result: LayoutAttr | None) -> int | None:
    """The axis of the result along which a kernel computes four elements at once.

    A packed result decides. A contraction with a plain result still computes along its channels or
    columns, since its operands may be texels.
    """
    if result is not None:
        return packed_axis(result)
    return work_lane(work)
