"""Buffer assignment: which results have buffers of their own, and which are parts of others.

The operands of a concatenation are contiguous in its result if every axis before the joined one has
extent 1. Their kernels then write them in place, and the concatenation only copies operands that
lie elsewhere. In the same way, a slice of whole rows is a part of its operand.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import prod
from typing import TypeAlias

from xdsl.dialects import func
from xdsl.dialects.builtin import NoneAttr
from xdsl.ir import BlockArgument, SSAValue

from ....decisions import Choices
from ....decisions.alternatives import Saving
from ....dialects import cl, nn
from ....dialects.cl.ops import byte_count
from ....dialects.offload import OffloadCallOp
from .layouts import is_packed_view
from .place_choices import KERNEL, PART, PlaceChoices

Step: TypeAlias = nn.FusedOp | OffloadCallOp | nn.LoopOp
"""An operation that computes and can write its results to any buffer."""

_MOST_GROWTH = 1.05
"""Largest growth of peak memory, as a factor, accepted to save copies and kernels."""


@dataclass(frozen=True)
class BufferPart:
    """The bytes of another value from `offset` on."""

    whole: SSAValue
    offset: int


@dataclass(frozen=True)
class Join:
    """A concatenation without a kernel, with the byte offsets of its operands in its result."""

    values: Sequence[SSAValue]
    offsets: Sequence[int]

    @property
    def operands(self) -> Iterable[tuple[SSAValue, int]]:
        """Return the non-empty operands, in order, with the byte offset of each."""
        return zip(self.values, self.offsets, strict=True)

    def within(self, start: int, end: int) -> range:
        """Return the numbers of the operands with bytes in [start, end) of the result."""
        first = max(bisect_right(self.offsets, start) - 1, 0)
        return range(first, bisect_right(self.offsets, end - 1))


@dataclass(frozen=True)
class Sizes:
    """The byte sizes of values, memoised because looking into an xDSL type is slow."""

    _known: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])

    def __getitem__(self, value: SSAValue) -> int:
        if value not in self._known:
            self._known[value] = byte_count(nn.buffer_type(nn.tensor_type(value)))
        return self._known[value]


@dataclass
class BufferAssignment:
    """The values that have no buffer of their own.

    Values are results of regions and calls. A view shares the assignment of its source
    (`source_of`).
    """

    sizes: Sizes
    outputs: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """The program parameter into which a value is written."""
    parts: dict[SSAValue, BufferPart] = field(default_factory=dict[SSAValue, BufferPart])
    """The values that are parts of others."""
    joins: dict[nn.FusedOp, Join] = field(default_factory=dict[nn.FusedOp, Join])
    slices: set[nn.FusedOp] = field(default_factory=set[nn.FusedOp])
    """Slices without a kernel."""

    @property
    def regions(self) -> set[nn.FusedOp]:
        """The slices and joins without a kernel of their own for the whole result."""
        return {*self.slices, *self.joins}

    def is_placed(self, value: SSAValue) -> bool:
        """Return whether a value already has a place in another buffer."""
        return value in self.outputs or value in self.parts

    def copied(self, fused: nn.FusedOp) -> list[tuple[SSAValue, int]]:
        """Return the operands of a join that lie elsewhere, with byte offsets in the result."""
        (result,) = fused.outputs
        return [
            (value, offset)
            for value, offset in self.joins[fused].operands
            if self.origin(source_of(value)) != self.origin(result, offset)
        ]

    def origin(self, value: SSAValue, offset: int = 0) -> BufferPart:
        """Return the location of byte `offset` of a value, in a value that is not itself a part."""
        while (part := self.parts.get(value)) is not None:
            value, offset = part.whole, part.offset + offset
        return BufferPart(value, offset)


def source_of(value: SSAValue) -> SSAValue:
    """Return the value at the start of a chain of views; it has the same bytes."""
    while True:
        owner = value.owner
        if isinstance(owner, nn.ReshapeOp):
            value = owner.x
        elif isinstance(owner, nn.FusedOp) and is_packed_view(owner):
            (value,) = owner.inputs
        else:
            return value


def assign_buffers(
    function: func.FuncOp,
    results: Sequence[tuple[SSAValue, SSAValue]],
    target: cl.Target,
    choices: Choices | None = None,
) -> BufferAssignment:
    """Assign buffers to the results of a function's regions and calls.

    `results` are the returned values with their parameters. Parts that kernels access start at
    multiples of `image_base_alignment_bytes`. A part keeps its whole value alive: while parts raise
    the peak of live bytes by more than `_MOST_GROWTH`, the part that raises it most is dropped.
    `choices` decide first which regions become parts.
    """
    alignment, sizes = target.device.image_base_alignment_bytes, Sizes()
    if not target.device.sub_buffers:
        return _place([], results, alignment, sizes)
    steps = [op for op in function.body.block.ops if isinstance(op, Step)]
    regions = [op for op in steps if isinstance(op, nn.FusedOp)]
    places = None
    if choices is not None:
        parts = _place(regions, results, alignment, sizes).regions
        places = PlaceChoices.of(choices, [op for op in regions if op in parts])
        regions = [op for op in regions if not places.wants(op, KERNEL)]
    apart = _place([], results, alignment, sizes)
    limit = _MOST_GROWTH * max(live_bytes(steps, results, apart)[0])
    kept = regions
    while True:
        assignment = _place(kept, results, alignment, sizes)
        totals, lives = live_bytes(steps, results, assignment)
        least = _excess(totals, limit)
        if not least:
            break
        time = next(i for i, total in enumerate(totals) if total > limit)
        before = kept
        for fused in kept:
            if fused not in assignment.regions or (places and places.wants(fused, PART)):
                continue
            first, last = lives.get(assignment.origin(fused.outputs[0]).whole, (time + 1, time))
            if first <= time <= last:
                rest = [op for op in before if op is not fused]
                fewer = _place(rest, results, alignment, sizes)
                without, _ = live_bytes(steps, results, fewer)
                if (excess := _excess(without, limit)) < least:
                    least, kept = excess, rest
        if kept is before:
            break
    if places is not None:
        places.note(assignment.regions)
        if places.choices.wants_alternatives:
            _offer_kernels(kept, steps, results, assignment, target, places)
    return assignment


def _offer_kernels(
    regions: Sequence[nn.FusedOp],
    steps: Sequence[Step],
    results: Sequence[tuple[SSAValue, SSAValue]],
    assignment: BufferAssignment,
    target: cl.Target,
    places: PlaceChoices,
) -> None:
    """Offer kernels in place of the parts that raise the live bytes of a step."""
    now, _ = live_bytes(steps, results, assignment)
    for fused in places.sites:
        if fused not in assignment.regions:
            continue
        rest = [op for op in regions if op is not fused]
        apart = _place(rest, results, target.device.image_base_alignment_bytes, assignment.sizes)
        without, _ = live_bytes(steps, results, apart)
        differences = [a - b for a, b in zip(now, without, strict=True)]
        _, saved = max(zip(now, differences, strict=True), key=lambda each: (each[1] > 0, each))
        ops = [op for op, each in zip(steps, differences, strict=False) if each >= saved]
        moved = 2 * assignment.sizes[fused.outputs[0]]
        time = target.machine.launch_microseconds + moved / (1e3 * target.machine.bandwidth)
        places.offer_kernel(fused, Saving(saved, time), ops)


def _excess(totals: Iterable[int], limit: float) -> float:
    """Return the bytes above `limit`, summed over the steps."""
    return sum(max(0, total - limit) for total in totals)


def _place(
    regions: Sequence[nn.FusedOp],
    results: Sequence[tuple[SSAValue, SSAValue]],
    alignment: int,
    sizes: Sizes,
) -> BufferAssignment:
    """Return an assignment in which slices and concatenations among `regions` make parts."""
    assignment = BufferAssignment(sizes)
    for value, param in results:
        source = source_of(value)
        if isinstance(source.owner, Step):
            assignment.outputs.setdefault(source, param)
    for fused in regions:
        _place_slice(fused, assignment, alignment)
    joins = [(fused, join) for fused in regions if (join := _join(fused, sizes)) is not None]
    # The largest concatenations first: the results of smaller ones may become parts of them.
    joins.sort(key=lambda pair: -sizes[pair[0].outputs[0]])
    for fused, join in joins:
        _place_join(fused, join, assignment, alignment)
    return assignment


def live_bytes(
    steps: Sequence[Step],
    results: Sequence[tuple[SSAValue, SSAValue]],
    assignment: BufferAssignment,
) -> tuple[list[int], dict[SSAValue, tuple[int, int]]]:
    """Return the live bytes of the program's own values at each step, and their lifetimes.

    The inner tensors of calls do not count, since they do not depend on the assignment.
    """
    lives: dict[SSAValue, tuple[int, int]] = {}

    def touch(values: Iterable[SSAValue], time: int) -> None:
        for value in values:
            whole = assignment.origin(source_of(value)).whole
            if isinstance(whole.owner, Step) and whole not in assignment.outputs:
                lives[whole] = lives.get(whole, (time, time))[0], time

    for time, step in enumerate(steps):
        if isinstance(step, OffloadCallOp | nn.LoopOp):
            touch((*step.operands, *step.results), time)
        elif step in assignment.joins:
            touch((value for value, _ in assignment.copied(step)), time)
        elif step not in assignment.slices and not is_packed_view(step):
            touch((*step.inputs, *step.outputs), time)
    written = set(assignment.outputs.values())
    touch((value for value, param in results if param not in written), len(steps))
    change = [0] * (len(steps) + 2)
    for value, (first, last) in lives.items():
        change[first] += assignment.sizes[value]
        change[last + 1] -= assignment.sizes[value]
    return list(accumulate(change)), lives


def _is_over_plain_memory(value: SSAValue) -> bool:
    """Return whether a value is stored in a plain buffer, packed or not."""
    layout = nn.layout_of(value)
    return layout is None or layout.memory == NoneAttr()


def _place_slice(fused: nn.FusedOp, assignment: BufferAssignment, alignment: int) -> None:
    """Make a slice a part of its operand if its elements are contiguous there."""
    ops = list(fused.body.block.ops)
    if len(ops) != 2 or not isinstance(op := ops[0], nn.SliceOp) or len(fused.outputs) != 1:
        return
    (value,), (result,) = fused.inputs, fused.outputs
    plain = nn.layout_of(value) is None and nn.layout_of(result) is None
    source = source_of(value)
    if not plain or assignment.is_placed(result) or nn.constant_of(source) is not None:
        return
    shape, sizes = nn.shape_of(value), nn.shape_of(result)
    strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    first = next((axis for axis, size in enumerate(sizes) if size != 1), len(sizes))
    whole_rows = sizes[first + 1 :] == shape[first + 1 :] and prod(sizes) > 0
    steps = nn.ints(op.steps)
    if not whole_rows or any(step != 1 for step in steps[first : first + 1]):
        return
    start = sum(at * n for at, n in zip(nn.ints(op.starts), strides, strict=True))
    offset = start * (assignment.sizes[value] // prod(shape))
    if offset % alignment == 0:
        assignment.parts[result] = BufferPart(source, offset)
        assignment.slices.add(fused)


def _join(fused: nn.FusedOp, sizes: Sizes) -> Join | None:
    """Return the join of a region if it is a concatenation of operands contiguous in its result.

    In packed memory they are contiguous if each operand except the last fills its blocks.
    """
    ops = list(fused.body.block.ops)
    if len(ops) != 2 or not isinstance(op := ops[0], nn.ConcatOp) or len(fused.outputs) != 1:
        return None
    values = [
        fused.inputs[arg.index]
        for arg in op.inputs
        if isinstance(arg, BlockArgument) and nn.count(nn.shape_of(arg))
    ]
    (result,) = fused.outputs
    layout, axis = nn.layout_of(result), op.axis.value.data
    if any(nn.layout_of(value) != layout for value in values) or not _is_over_plain_memory(result):
        return None
    block = dict(layout.blocks).get(axis, 1) if layout is not None else 1
    padded = nn.shape_of(result) if layout is None else layout.physical_shape(nn.shape_of(result))
    if prod(padded[:axis]) != 1 or any(nn.shape_of(value)[axis] % block for value in values[:-1]):
        return None
    *offsets, _ = accumulate((sizes[value] for value in values), initial=0)
    return Join(values, offsets)


def _place_join(
    fused: nn.FusedOp, join: Join, assignment: BufferAssignment, alignment: int
) -> None:
    """Make the operands of a concatenation parts of its result if that leaves few copies.

    If the operands already are consecutive parts of one value, the result becomes a part of it,
    too.
    """
    (result,) = fused.outputs
    origins = [assignment.origin(source_of(value)) for value in join.values]
    assignment.joins[fused] = join
    if not assignment.is_placed(result) and origins:
        start = origins[0]
        if (
            nn.constant_of(start.whole) is None
            and start.offset % alignment == 0
            and all(
                origin == BufferPart(start.whole, start.offset + offset)
                for origin, (_, offset) in zip(origins, join.operands, strict=True)
            )
        ):
            assignment.parts[result] = start
            return
    moved: list[SSAValue] = []
    for origin, (_, offset) in zip(origins, join.operands, strict=True):
        base = offset - origin.offset
        if _may_move(origin.whole, base, join, origins, assignment) and base % alignment == 0:
            assignment.parts[origin.whole] = BufferPart(result, base)
            moved.append(origin.whole)
    if (
        2 * sum(assignment.sizes[value] for value, _ in assignment.copied(fused))
        > assignment.sizes[result]
    ):
        del assignment.joins[fused]
        for value in moved:
            del assignment.parts[value]


def _may_move(
    value: SSAValue,
    base: int,
    join: Join,
    origins: Sequence[BufferPart],
    assignment: BufferAssignment,
) -> bool:
    """Return whether a value may lie in the result of a join from byte `base` on.

    A region or a call must compute it, and it must have no other place. Every operand of the join
    at these bytes must be a part of it.
    """
    if not isinstance(value.owner, Step) or assignment.is_placed(value) or base < 0:
        return False
    size, covered = assignment.sizes[value], 0
    for number in join.within(base, base + size):
        if origins[number] != BufferPart(value, join.offsets[number] - base):
            return False
        covered += assignment.sizes[join.values[number]]
    return covered == size
