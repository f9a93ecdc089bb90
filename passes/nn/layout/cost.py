"""What layouts cost, in microseconds: an analytical model over the facts of the target.

A kernel's time is a sum, so that costs belong to values and to pairs of them:

    (multiply-adds + (loads + stores) * access_cost) / rate + bytes / bandwidth

`rate` is multiply-adds per microsecond: those of a compute unit times the units. One load or store
moves four elements where these lie together, else one; an image takes `image_cost` times as long to
read as a buffer, and a guard around the reads of a buffer `GUARD` times. A layout transform is a
kernel of its own: a launch, and all elements read and written.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.ir import Operation, SSAValue

from ....dialects import cl, nn
from ....dialects.nn import LayoutAttr
from .access import Access
from .candidates import LANES, is_texture, packed_axis
from .kernels import Work

GUARD = 1.25
"""Reads that may be outside, from a buffer: an index is compared and selected."""

HORIZONTAL = 1.25
"""Reads of texels whose elements are added up, per read: they are terms of one lane."""

UNSHARED = 4.0
"""Reads by a contraction of texels that lie across its terms, per read: neighbours of an element
come with it, but belong to other columns.
"""


@dataclass(frozen=True)
class CostModel:
    """The costs of layouts on one target."""

    target: cl.Target

    @property
    def rate(self) -> float:
        """Multiply-adds per microsecond of the device."""
        return 1e3 * self.target.mads_per_nanosecond * self.target.compute_units

    def traffic(self, type_: nn.Tensor, layout: LayoutAttr | None) -> float:
        """Moving the tensor between memory and the device, tails included."""
        return bytes_of(type_, layout) / (1e3 * self.target.bandwidth)

    def write(self, type_: nn.Tensor, layout: LayoutAttr | None) -> float:
        """Writing the result of a kernel."""
        if layout is None:
            stores = nn.count(type_.get_shape()) / 2
        else:
            stores = prod(layout.padded_shape(type_.get_shape())) / LANES
        return self.traffic(type_, layout) + stores * self.target.access_cost / self.rate

    def transform(
        self, type_: nn.Tensor, source: LayoutAttr | None, target: LayoutAttr | None
    ) -> float:
        """A kernel that copies a tensor into another layout; nothing to the same."""
        if source == target:
            return 0.0
        count = nn.count(type_.get_shape())
        aligned = packed_axis(source) is not None and packed_axis(source) == packed_axis(target)
        loads = count / (LANES if aligned else 1)
        read = self.traffic(type_, source) + loads * self._load(source) / self.rate
        return self.target.launch_microseconds + read + self.write(type_, target)

    def read(
        self,
        work: Work,
        value: SSAValue,
        layout: LayoutAttr | None,
        result: LayoutAttr | None,
    ) -> float:
        """Reading an operand that lies in `layout`, in a kernel that writes its result in `result`.

        For the operand of a contraction it includes the multiply-adds, which tails make more; for
        that of a view everything: between plain buffers it is nothing.
        """
        if work.is_view and layout is None and result is None:
            return 0.0
        type_ = nn.tensor_type(value)
        lane = packed_axis(result)
        if lane is not None:
            loads = self._loads(work.access(value, lane), type_, layout)
        else:
            rank = len(nn.shape_of(work.result))
            last = max(rank - 1, 0)
            # Along channels, each of four lanes is stored by itself.
            scattered = nn.count(nn.shape_of(work.result)) * self.target.access_cost
            loads = min(
                self._loads(work.access(value, axis), type_, layout)
                + (0 if axis == last or work.contraction is not None else scattered)
                for axis in {min(1, last), last}
            )
        time = self.traffic(type_, layout) + loads / self.rate
        if work.is_view:
            time += self.target.launch_microseconds + self.write(type_, result)
        return time + self._multiply(work, value, layout, result)

    def _load(self, layout: LayoutAttr | None, guarded: bool = False) -> float:
        """One load, in multiply-adds."""
        if is_texture(layout):
            return self.target.access_cost * self.target.image_cost
        return self.target.access_cost * (GUARD if guarded else 1.0)

    def _loads(self, access: Access, type_: nn.Tensor, layout: LayoutAttr | None) -> float:
        """The loads of an operand, in multiply-adds."""
        packed = packed_axis(layout)
        side = len(type_.get_shape()) - 1 if packed is None else packed
        loads = access.reads
        if side == access.axis or (access.same and (side in access.walked or not access.walked)):
            loads /= LANES
        elif side in access.walked:
            loads *= HORIZONTAL / LANES
        elif access.same and packed is not None:
            loads *= UNSHARED
        return loads * self._load(layout, access.guarded)

    def _multiply(
        self,
        work: Work,
        value: SSAValue,
        layout: LayoutAttr | None,
        result: LayoutAttr | None,
    ) -> float:
        """The multiply-adds of the contraction whose first operand is `value`."""
        op = work.contraction
        if op is None or op.operands[0] is not value:
            return 0.0
        terms, inner, outer = _terms(op)
        waste = 1.0
        if layout is not None:
            waste *= _padded(inner) / inner
        if layout is not None or result is not None:
            waste *= _padded(outer) / outer
        return terms * waste / self.rate


def bytes_of(type_: nn.Tensor, layout: LayoutAttr | None) -> int:
    """The bytes of a tensor in memory, tails included."""
    shape = type_.get_shape()
    count = prod(shape) if layout is None else prod(layout.physical_shape(shape))
    return count * nn.numpy_dtype(type_.element_type).itemsize


def _padded(extent: int) -> int:
    return -(-extent // LANES) * LANES


def _terms(op: Operation) -> tuple[float, int, int]:
    """The multiply-adds of a contraction, and the extents that packing pads: terms and results."""
    count = nn.count(nn.shape_of(op.results[0]))
    match op:
        case nn.ConvOp():
            outputs, inputs, *taps = nn.shape_of(op.w)
            # In groups, texels are as full as the whole tensor's.
            inner = inputs if op.groups.value.data == 1 else LANES
            return count * inputs * prod(taps), inner, outputs
        case nn.MatmulOp():
            shape = nn.shape_of(op.a)
            inner = shape[-2 if op.transpose_a is not None else -1]
            return count * inner, inner, nn.shape_of(op.result)[-1]
        case _:
            return count, LANES, LANES
