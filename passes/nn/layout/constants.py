"""Layouts of constants: each kernel gets the layout that suits it, arranged at compile time."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from ....dialects import cl, nn, tir
from ....dialects.nn import LayoutAttr
from ....targets import multiplies_bytes
from .access import ContractedAxis, lanes_meet, shared_terms
from .candidates import PLAIN, Candidate, packed_axis, texture_for
from .kernels import Work, work_lane


@dataclass(frozen=True)
class ConstantLayouts:
    """The layouts of one kernel's constants, given those of its other operands."""

    work: Work
    lane: int | None
    """The axis of the result along which the kernel computes several elements at once."""
    packed: dict[SSAValue, int | None]
    """The packed axis of each operand that is not constant."""
    target: cl.Target

    @property
    def lanes(self) -> int:
        """Return the number of elements of a block."""
        return self.target.lanes

    def of(self, value: SSAValue) -> Candidate:
        """Return the layout of a constant operand."""
        type_ = nn.tensor_type(value)
        if self.lane is None or not self.lanes:
            return PLAIN
        if 0 in type_.get_shape() or not tir.is_texel_type(type_.element_type):
            return PLAIN
        axis = self.work.access(value, self.lane, self.lanes).axis
        op = self.work.contraction
        if op is not None and value in op.operands[1:2]:
            if axis is None:
                return PLAIN
            if lanes_meet(op, self.lanes):
                return self._weights(op, type_, axis)
            return self._of_small_groups(type_, axis)
        if axis is None or type_.get_shape()[axis] == 1:
            return PLAIN
        return Candidate(LayoutAttr([(axis, self.lanes)]))

    def _weights(self, op: nn.NNOp, type_: nn.Tensor, axis: int) -> Candidate:
        """Return the layout of a contraction's weights: blocks of results along `axis`.

        Each is a block of terms, too, if the other operand is read by blocks of terms. Devices that
        read weights faster from images get an image.
        """
        blocks = [(axis, self.lanes)]
        terms = shared_terms(op, self.lanes)
        term = next((term for term in terms if self._by_blocks(op, term)), None)
        is_packed = term is not None and self._packs_bytes(type_)
        # Without a layout, texels of terms (which CPUs do not use) cannot be padded either.
        is_filled = self.target.device.device_type == "cpu" or (
            term and term.extent % tir.QUAD == 0
        )
        if is_packed and is_filled:
            # The schedule makes four terms of a channel adjacent (`dot-tiles`, `dot-texels`), but
            # only a layout pads the last block of channels.
            is_whole = type_.get_shape()[axis] % self.lanes == 0
            return PLAIN if is_whole else Candidate(LayoutAttr(blocks))
        if term is not None:
            blocks = [(term.axes[1], self.lanes), *blocks]
        if is_packed or not (self.target.uses_textures and self.target.machine.weight_images):
            return Candidate(LayoutAttr(blocks))
        row = min(axis + 1, len(type_.get_shape()) - 1)
        return texture_for(type_, blocks, row, self.target)

    def _of_small_groups(self, type_: nn.Tensor, axis: int) -> Candidate:
        """Return the layout of weights of several groups per block.

        A CPU's schedule packs whole blocks itself, but only a layout pads the last one.
        """
        is_whole = type_.get_shape()[axis] % self.lanes == 0
        is_cpu = self.target.device.device_type == "cpu"
        return PLAIN if is_whole or not is_cpu else Candidate(LayoutAttr([(axis, self.lanes)]))

    def _packs_bytes(self, type_: nn.Tensor) -> bool:
        """Return whether a schedule packs the weights of a product of bytes itself."""
        element = type_.element_type
        is_byte = nn.is_integer(element) and nn.numpy_dtype(element).itemsize == 1
        return is_byte and multiplies_bytes(self.target)

    def _by_blocks(self, op: nn.NNOp, term: ContractedAxis) -> bool:
        """Return whether the kernel reads the first operand of a contraction by blocks of terms."""
        x, axis = op.operands[0], term.axes[0]
        is_row = term.is_whole and axis == len(nn.shape_of(x)) - 1
        return self.packed.get(x) == axis or (is_row and term.extent % self.lanes == 0)


def lane_of(work: Work, result: LayoutAttr | None) -> int | None:
    """Return the axis of the result along which a kernel computes several elements at once.

    This is the packed axis of a packed result. A contraction with a plain result still computes
    along its channels or columns, since its operands may be texels.
    """
    if result is not None:
        return packed_axis(result)
    return work_lane(work)
