"""Cost model of layouts, in microseconds, from the facts of the target.

A kernel's time is a sum, so that each cost belongs to one value or to a pair of values:

    (multiply-adds + (loads + stores) * access_cost + elements * result_cost) / rate
        + bytes / bandwidth

`rate` is the multiply-adds per microsecond of all compute units. One load or store moves a vector
of elements if they are adjacent, else one element. A read from an image takes `image_cost` times as
long as one from a buffer, a guarded read from a buffer `_GUARD` times. A layout transform is a
separate kernel: it costs a launch, and reads and writes all elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from ....dialects import cl, nn, tir
from ....dialects.nn import LayoutAttr
from ....targets import multiplies_bytes
from ..lowering.reads import reads_of
from .access import OperandAccess, contraction_lane, shared_terms
from .candidates import is_texture, packed_axis
from .kernels import Work

_GUARD = 1.25
"""Factor of a read from a buffer that may be outside: a comparison and a selection (a guess)."""
_HORIZONTAL = 1.25
"""Factor of a read of a texel whose elements one lane adds up one after the other (a guess)."""

# Four elements are loaded per element used: the neighbours belong to other columns of the result.
UNSHARED = 4.0
"""Cost factor of a contraction's reads of texels that lie across its terms."""

# A tile of 4 columns and 3 taps reads 6 elements of a row, which lie in 3 texels.
PARTIAL = 2.0
"""Cost factor of a contraction's reads of rows by texels, if a tile uses only parts of texels."""

_BYTES_APART = 2.0
"""Cost factor of a CPU's products of single bytes, which are widened first."""

PANEL = 64
"""Rows and columns of a product that a small work-group of a GPU computes from local memory."""


@dataclass(frozen=True)
class LayoutCostModel:
    """The costs of layouts on one target."""

    target: cl.Target

    @property
    def lanes(self) -> int:
        """Return the elements that one load or store moves if they are adjacent."""
        return self.target.lanes or tir.TEXEL

    @property
    def rate(self) -> float:
        """Return the multiply-adds per microsecond of the device."""
        return 1e3 * self.target.machine.mads_per_nanosecond * self.target.device.compute_units

    def traffic(self, type_: nn.Tensor, layout: LayoutAttr | None) -> float:
        """Return the time to move a tensor between memory and the device, tails included."""
        return bytes_of(type_, layout) / (1e3 * self.target.machine.bandwidth)

    def write(self, type_: nn.Tensor, layout: LayoutAttr | None) -> float:
        """Return the time to write the result of a kernel."""
        if layout is None:
            # Plain results are stored as vectors or element by element; count half of each element.
            elements = nn.count(type_.get_shape())
            stores = elements / 2
        else:
            elements = prod(layout.padded_shape(type_.get_shape()))
            stores = elements / self.lanes
        machine = self.target.machine
        slots = stores * machine.access_cost + elements * machine.result_cost
        return self.traffic(type_, layout) + slots / self.rate

    def transform(
        self, type_: nn.Tensor, source: LayoutAttr | None, target: LayoutAttr | None
    ) -> float:
        """Return the time of a kernel that copies a tensor into another layout; 0 for the same."""
        if source == target:
            return 0.0
        count = nn.count(type_.get_shape())
        aligned = packed_axis(source) is not None and packed_axis(source) == packed_axis(target)
        loads = count / (self.lanes if aligned else 1)
        read = self.traffic(type_, source) + loads * self._load(source) / self.rate
        return self.target.machine.launch_microseconds + read + self.write(type_, target)

    def read(
        self,
        work: Work,
        value: SSAValue,
        layout: LayoutAttr | None,
        result: LayoutAttr | None,
    ) -> float:
        """Return the time for a kernel with its result in `result` to read an operand in `layout`.

        A contraction's first operand also carries the time of the multiply-adds, since they grow
        with the tails. The operand of a view carries the whole kernel, or nothing if both sides are
        plain buffers.
        """
        if work.is_view and layout is None and result is None:
            return 0.0
        type_ = nn.tensor_type(value)
        lane = packed_axis(result)
        if lane is not None:
            loads = self._loads(work.access(value, lane, self.lanes), type_, layout)
        else:
            loads = self._loads_of_plain(work, value, layout)
        if result is None and self._is_in_panels(work):
            assert work.contraction is not None
            shared = 1 / self.target.machine.register_tile
            factors = work.contraction.operands
            if value not in factors and layout is not None:
                # Work-groups share panels only if all operands of the kernel are plain.
                loads += (1 - shared) * sum(self._loads_of_plain(work, v, None) for v in factors)
            elif value in factors and layout is None:
                loads *= shared
        time = self.traffic(type_, layout) + loads / self.rate
        if work.is_view:
            time += self.target.machine.launch_microseconds + self.write(type_, result)
        if result is None and self._lies_along_terms(work, value, layout):
            # Neither layout gives the kernel lanes, so it computes one result element at a time.
            assert work.contraction is not None
            time += _terms(work.contraction, self.lanes)[0] * (self.lanes - 1) / self.rate
        return time + self._multiply(work, value, layout, result)

    def _loads_of_plain(self, work: Work, value: SSAValue, layout: LayoutAttr | None) -> float:
        """Return the cost of all loads of an operand by a kernel whose result is plain."""
        type_, rank = nn.tensor_type(value), len(nn.shape_of(work.result))
        last = max(rank - 1, 0)
        # Lanes along channels are stored one by one.
        scattered = nn.count(nn.shape_of(work.result)) * self.target.machine.access_cost
        return min(
            self._loads(work.access(value, axis, self.lanes), type_, layout)
            + (0 if axis == last or work.contraction is not None else scattered)
            for axis in {min(1, last), last}
        )

    def _lies_along_terms(self, work: Work, value: SSAValue, layout: LayoutAttr | None) -> bool:
        """Return whether an image holds a product's second operand in texels along the terms."""
        op, packed = work.contraction, packed_axis(layout)
        if op is None or packed is None or not self.target.uses_textures:
            return False
        access = work.access(value, contraction_lane(op), self.lanes)
        return access.axis is not None and packed in access.walked

    def _is_in_panels(self, work: Work) -> bool:
        """Return whether the work-items of a group share their reads of both operands.

        They do for plain products with at least one whole panel of rows and columns (`gpu-matmul`).
        If one matrix multiplies several, their rows add up (`nn-flatten-products`).
        """
        op = work.contraction
        if not self.target.machine.prefetched_panels or not isinstance(op, nn.MatmulOp):
            return False
        *stack, rows, columns = nn.shape_of(op.result)
        if len(nn.shape_of(op.b)) == 2 and op.transpose_a is None:
            rows *= nn.count(stack)
        return min(rows, columns) >= PANEL

    def _load(self, layout: LayoutAttr | None, guarded: bool = False) -> float:
        """Return the cost of one load, in multiply-adds."""
        if is_texture(layout):
            return self.target.machine.access_cost * self.target.machine.image_cost
        machine = self.target.machine
        return machine.access_cost * (_GUARD if guarded else 1.0)

    def _loads(self, access: OperandAccess, type_: nn.Tensor, layout: LayoutAttr | None) -> float:
        """Return the cost of all loads of an operand, in multiply-adds."""
        packed = packed_axis(layout)
        side = len(type_.get_shape()) - 1 if packed is None else packed
        loads = access.reads
        if side == access.axis or (access.same and (side in access.walked or not access.walked)):
            loads /= self.lanes
        elif access.same and packed is None and self._reads_rows(type_):
            loads *= PARTIAL / self.lanes
        elif side in access.walked:
            loads *= _HORIZONTAL / self.lanes
        elif access.same and packed is not None:
            loads *= UNSHARED
        return loads * self._load(layout, access.guarded)

    def _reads_rows(self, type_: nn.Tensor) -> bool:
        """Return whether tiles of columns read the rows of a plain tensor by texels."""
        has_texels = self.target.uses_textures and self.target.compiler.texels_of_rows
        return has_texels and type_.get_shape()[-1] % self.lanes == 0

    def _multiply(
        self,
        work: Work,
        value: SSAValue,
        layout: LayoutAttr | None,
        result: LayoutAttr | None,
    ) -> float:
        """Return the time of the multiply-adds if `value` is the contraction's first operand."""
        op = work.contraction
        if op is None or op.operands[0] is not value:
            return 0.0
        terms, inner, outer = _terms(op, self.lanes)
        waste = 1.0
        if layout is not None:
            waste *= _padded(inner, self.lanes) / inner
        if layout is not None or result is not None:
            waste *= _padded(outer, self.lanes) / outer
        if self._takes_blocks_apart(layout, result, outer) or _gathers(op, layout, result):
            waste = self.lanes
        if multiplies_bytes(self.target) and _is_of_bytes(op):
            # Only blocks make four terms of a channel adjacent.
            waste *= 1 / tir.QUAD if layout is not None else _BYTES_APART
        return terms * waste / self.rate

    def _takes_blocks_apart(
        self, layout: LayoutAttr | None, result: LayoutAttr | None, outer: int
    ) -> bool:
        """Return whether a CPU's contraction multiplies one element at a time.

        It does if it reads blocks and its plain result ends in a partial block, which no vector may
        store.
        """
        mixed = layout is not None and result is None
        return mixed and not self.target.uses_textures and outer % self.lanes != 0


def _is_of_bytes(op: nn.NNOp) -> bool:
    """Return whether `op` is a convolution of 8-bit integers, whose channels are in blocks."""
    element = nn.tensor_type(op.operands[0]).element_type
    is_byte = nn.is_integer(element) and nn.numpy_dtype(element).itemsize == 1
    return op.BY_CHANNEL and is_byte


def _gathers(op: nn.NNOp, layout: LayoutAttr | None, result: LayoutAttr | None) -> bool:
    """Return whether a kernel loads vectors of weights element by element.

    Constants of kernels between plain values stay plain. Most rules pack such weights themselves;
    those of `nn.winograd_conv` are too many to be packed by each work-item.
    """
    return isinstance(op, nn.WinogradConvOp) and layout is None and result is None


def bytes_of(type_: nn.Tensor, layout: LayoutAttr | None) -> int:
    """Return the bytes of a tensor in memory, tails included."""
    shape = type_.get_shape()
    count = prod(shape) if layout is None else prod(layout.physical_shape(shape))
    return count * nn.numpy_dtype(type_.element_type).itemsize


def _padded(extent: int, lanes: int) -> int:
    return -(-extent // lanes) * lanes


def _terms(op: nn.NNOp, lanes: int) -> tuple[float, int, int]:
    """Return a contraction's multiply-adds and the extents that packing pads: terms, results."""
    shape = nn.shape_of(op.results[0])
    times = [read.times for read in reads_of(op) if read.operand == 1]
    if not times:
        return nn.count(shape), lanes, lanes
    # Groups are packed together, so only a loop over the whole axis determines the padding.
    inner = next((term.extent for term in shared_terms(op, lanes) if term.is_whole), lanes)
    return sum(times), inner, shape[contraction_lane(op)]
