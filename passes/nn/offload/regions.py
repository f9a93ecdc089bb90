"""Growth of legal matches into regions, each of which becomes one graph and one call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

from xdsl.dialects import func
from xdsl.ir import Operation, SSAValue
from xdsl.traits import is_side_effect_free

from ....dialects import nn
from .matches import Match

if TYPE_CHECKING:
    from .accelerator import Accelerator

BORDER_VIEW = "a reshape at the border of a graph is a view of memory, which costs nothing"


@dataclass(frozen=True)
class Region:
    """Matches that become one graph."""

    accelerator: Accelerator
    matches: tuple[Match, ...]
    """In program order."""
    inputs: tuple[SSAValue, ...]
    """The nn values that it reads from outside, without constants, in order of first use."""
    outputs: tuple[SSAValue, ...]
    """The nn values that operations outside read."""


@dataclass
class _Cluster:
    """Units that will be one node of the graph of calls and other operations."""

    bits: int
    """Its units, one bit each."""
    before: int
    """The units of all clusters that reach it."""
    after: int
    """The units of all clusters that it reaches."""
    matches: list[Match] = field(default_factory=list[Match])

    def may_join(self, other: _Cluster) -> bool:
        """Return whether both may be one node.

        They may not if a unit lies between them, or if one must be alone.
        """
        if any(match.is_alone for match in (*self.matches, *other.matches)):
            return False
        both = self.bits | other.bits
        between = (self.after & other.before) | (other.after & self.before)
        return not between & ~both


class _Clusters:
    """The function as a graph of units: matches and all other operations."""

    def __init__(self, function: func.FuncOp, matches: Sequence[Match]) -> None:
        self.unit_of: dict[Operation, int] = {}
        self.clusters: list[_Cluster] = []
        for i, match in enumerate(matches):
            self.unit_of |= dict.fromkeys(match.ops, i)
        ops = [op for op in function.body.block.ops if not isinstance(op, nn.ConstantOp)]
        for op in ops:
            self.unit_of.setdefault(op, len(matches) + len(self.unit_of))
        numbers = {unit: i for i, unit in enumerate(dict.fromkeys(self.unit_of[op] for op in ops))}
        self.unit_of = {op: numbers[self.unit_of[op]] for op in ops}
        self.clusters = [_Cluster(1 << i, 0, 0) for i in range(len(numbers))]
        for match in matches:
            self.clusters[self.unit_of[match.ops[0]]].matches = [match]
        self._close(ops)
        self.home = list(range(len(self.clusters)))
        """The index of each unit's current cluster."""

    def _close(self, ops: Sequence[Operation]) -> None:
        """Compute the transitive closure: the units before and after each."""
        edges = sorted(set(self._edges(ops)))
        preceding: dict[int, set[int]] = {}
        for source, sink in edges:
            preceding.setdefault(sink, set()).add(source)
        for unit in TopologicalSorter(preceding).static_order():
            mask = 0
            for source in preceding.get(unit, ()):
                mask |= self.clusters[source].before | self.clusters[source].bits
            self.clusters[unit].before = mask
        for i, cluster in enumerate(self.clusters):
            for j in _bits(cluster.before):
                self.clusters[j].after |= 1 << i

    def _edges(self, ops: Sequence[Operation]) -> Iterator[tuple[int, int]]:
        """Yield the dependences between units, including the order of operations with effects."""
        impure: Operation | None = None
        for op in ops:
            sink = self.unit_of[op]
            for operand in op.operands:
                source = _unit(operand, self.unit_of)
                if source is not None and source != sink:
                    yield source, sink
            if not is_side_effect_free(op):
                # Operations with effects keep their order.
                if impure is not None:
                    yield self.unit_of[impure], sink
                impure = op

    def cluster(self, unit: int) -> _Cluster:
        """Return the current cluster of a unit."""
        return self.clusters[self.home[unit]]

    def join(self, a: int, b: int, most_tensors: int | None) -> bool:
        """Join two units' clusters unless that closes a cycle; return whether they are one."""
        a, b = sorted((self.home[a], self.home[b]))
        if a == b:
            return True
        first, second = self.clusters[a], self.clusters[b]
        if not first.may_join(second):
            return False
        matches = first.matches + second.matches
        if most_tensors is not None and sum(map(len, _border(matches))) > most_tensors:
            return False
        bits = first.bits | second.bits
        joined = _Cluster(
            bits,
            (first.before | second.before) & ~bits,
            (first.after | second.after) & ~bits,
            matches,
        )
        for unit in _bits(second.bits):
            self.home[unit] = a
        self.clusters[a] = joined
        for i in set(self.home):
            other = self.clusters[i]
            if other.after & bits:
                other.after |= joined.after | bits
            if other.before & bits:
                other.before |= joined.before | bits
        return True


def form_regions(
    function: func.FuncOp,
    matches: Mapping[Accelerator, Sequence[Match]],
    minimum: int = 1,
    reasons: Mapping[Accelerator, dict[Operation, str]] | None = None,
) -> list[Region]:
    """Return the regions of `matches`, in program order of their first operations.

    Regions are convex: no path leaves one and enters it again, so that the function has no cycle
    once calls replace them. They are maximal: no two adjacent regions could be one. Adjacent
    matches share a tensor, so a region has one element type.

    A region has at least `minimum` matches other than views, and takes and returns no more tensors
    than its accelerator allows. `reasons` receives a sentence for each operation of a match that is
    in no region.
    """
    reasons = {each: {} for each in matches} if reasons is None else reasons
    remaining = dict(matches)
    while True:
        grown = [
            (accelerator, _without_border_views(group, reasons[accelerator]))
            for accelerator, group in _grow(function, remaining)
        ]
        orphans = {match for _, group in grown for match in group if _is_orphan(match, group)}
        if not orphans:
            break
        for accelerator, found in remaining.items():
            for match in (match for match in found if match in orphans):
                reasons[accelerator].update(dict.fromkeys(match.model, accelerator.producer_reason))
            remaining[accelerator] = [match for match in found if match not in orphans]
    regions: list[Region] = []
    for accelerator, group in grown:
        computing = sum(not match.is_view for match in group)
        region = region_of(accelerator, group)
        if computing >= max(1, minimum) and region.outputs:
            regions.append(region)
            continue
        text = f"a graph of {computing} operations is smaller than the minimum of {minimum}"
        text = text if region.outputs else "nothing reads what it computes"
        for match in group:
            reason = BORDER_VIEW if match.is_view else text
            reasons[accelerator].update(dict.fromkeys(match.model, reason))
    for region in regions:
        for op in (op for match in region.matches for op in match.model):
            reasons[region.accelerator].pop(op, None)
    return regions


def _grow(
    function: func.FuncOp, matches: Mapping[Accelerator, Sequence[Match]]
) -> list[tuple[Accelerator, list[Match]]]:
    """Join adjacent matches of an accelerator, in program order, until no more can be joined."""
    owner = {match: accelerator for accelerator, found in matches.items() for match in found}
    clusters = _Clusters(function, list(owner))
    pairs = [
        (*pair, accelerator.most_tensors)
        for accelerator, found in matches.items()
        for pair in _touching(found, clusters.unit_of)
    ]
    while True:
        before = len(set(clusters.home))
        for a, b, most_tensors in pairs:
            clusters.join(a, b, most_tensors)
        if len(set(clusters.home)) == before:
            break
    order = {op: i for i, op in enumerate(function.body.block.ops)}
    grown = [clusters.clusters[i].matches for i in sorted(set(clusters.home))]
    groups = [sorted(group, key=lambda match: order[match.ops[-1]]) for group in grown if group]
    groups.sort(key=lambda group: order[group[0].ops[0]])
    return [(owner[group[0]], group) for group in groups]


def _touching(matches: Sequence[Match], unit_of: dict[Operation, int]) -> Iterator[tuple[int, int]]:
    """Yield pairs of units where one reads the other, or both read the same value.

    One graph would copy a shared input once.
    """
    home = {op: unit_of[op] for match in matches for op in match.ops}
    readers: dict[SSAValue, int] = {}
    for match in matches:
        unit = unit_of[match.ops[0]]
        for value in match.inputs:
            source = _unit(value, home)
            if source is not None:
                yield source, unit
            if value in readers:
                yield readers[value], unit
            readers[value] = unit


def _without_border_views(group: Sequence[Match], reasons: dict[Operation, str]) -> list[Match]:
    """Return the group without reshapes at its border: views outside, but commands inside."""
    kept = list(group)
    while True:
        inside = {op for match in kept for op in match.ops}
        border = [m for m in kept if m.is_view and _is_at_border(m, inside)]
        if not border:
            return kept
        for match in border:
            reasons |= dict.fromkeys(match.model, BORDER_VIEW)
            kept.remove(match)


def _is_at_border(match: Match, inside: set[Operation]) -> bool:
    """Return whether a match lacks a producer or a reader inside of the group."""
    reads = any(value.owner in inside for value in match.inputs)
    read = any(use.operation in inside for use in match.result.uses)
    return not (reads and read)


def _is_orphan(match: Match, group: Sequence[Match]) -> bool:
    """Return whether a match needs a producer in its region and has none."""
    if not match.needs_producer:
        return False
    return not any(value is other.result for value in match.inputs for other in group)


def region_of(accelerator: Accelerator, group: Sequence[Match]) -> Region:
    """Return the region of some matches, in program order."""
    return Region(accelerator, tuple(group), *_border(group))


def _border(group: Sequence[Match]) -> tuple[tuple[SSAValue, ...], tuple[SSAValue, ...]]:
    """Return the values that a group takes and those that it returns."""
    inside = {op for match in group for op in match.ops}
    inputs = dict.fromkeys(
        value for match in group for value in match.inputs if value.owner not in inside
    )
    outputs = [
        match.result
        for match in group
        if any(use.operation not in inside for use in match.result.uses)
    ]
    return tuple(inputs), tuple(outputs)


def _unit(value: SSAValue, unit_of: dict[Operation, int]) -> int | None:
    return unit_of.get(value.owner) if isinstance(value.owner, Operation) else None


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
