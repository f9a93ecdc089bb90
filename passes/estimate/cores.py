"""Terms of a launch on a CPU: a core runs the work-items of a group one after the other.

The constants are fitted to 115 plans of ResNet-18, MobileNetV2 and a text encoder that
`clopt-tune` timed on two cores of a Xeon with AVX-512 (PoCL 5.0).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from ...dialects import cl
from ...machine.core import (
    LANE_CYCLES,
    LINE_BYTES,
    LOADS_PER_CYCLE,
    MAD_CYCLES,
    MEMORY_BYTES_PER_CYCLE,
    gigahertz,
    l2_bytes_per_cycle,
    mads_per_cycle,
)
from .reuse import footprint, traffic
from .terms import Terms
from .work import LanePattern, LaunchWork, LoopPhase, MemoryAccess

_CACHE_SHARE = 0.6
"""Share of a cache that holds what a loop uses again; the rest holds lines that pass through."""
_FUNCTION_SLOTS = 7.0
"""Factor for the slots of functions on a CPU, which has no unit for them."""
_EVERY_OTHER = 2.3
"""Cost of loading every other element of two vectors, in plain loads."""
_STORE_CYCLES = 0.2
_HIDDEN = 0.2
"""Share of the shorter of arithmetic, loads and stores that the longest one does not hide."""
_LOOP_CYCLES = 2.0
"""Cycles of a loop's counter and branch."""
_ITEM_NANOSECONDS = 55.0
"""Start of a work-item on its core."""


@dataclass(frozen=True)
class _Cycles:
    """Cycles of one iteration of a phase."""

    arithmetic: float
    loads: float
    stores: float
    chain: float

    @property
    def total(self) -> float:
        """The longest of them, and what it does not hide of the others."""
        busy = (self.arithmetic, self.loads, self.stores)
        return max(*busy, self.chain) + _HIDDEN * (sum(busy) - max(busy))


def cores_terms(work: LaunchWork, target: cl.Target) -> Terms:
    """Return the terms of a launch on a CPU."""
    machine = target.machine
    # Work-groups go to cores whole; the last ones leave some of these idle.
    rounds = ceil(work.groups / target.device.compute_units)
    share = rounds / work.groups / (1e3 * gigahertz(machine))
    items = work.groups * work.group_items
    cycles = items * sum(
        phase.times * (_cycles(phase, target).total + _LOOP_CYCLES * phase.is_loop)
        for phase in work.phases
    )
    cache = traffic(work.streams, _CACHE_SHARE * machine.l1_cache_bytes, LINE_BYTES)
    memory = traffic(work.streams, _CACHE_SHARE * machine.l2_cache_bytes, LINE_BYTES)
    touched = sum(footprint(stream, stream.axes, LINE_BYTES) for stream in work.streams)
    return Terms(
        issue=cycles * share,
        latency=0.0,
        cache=cache / l2_bytes_per_cycle(machine) * share,
        memory=max(memory / MEMORY_BYTES_PER_CYCLE * share, touched / (1e3 * machine.bandwidth)),
        start=machine.launch_microseconds + rounds * work.group_items * _ITEM_NANOSECONDS / 1e3,
    )


def _cycles(phase: LoopPhase, target: cl.Target) -> _Cycles:
    width = target.machine.vector_width
    slots = sum(
        each.count
        * ceil(each.lanes / width)
        * each.slots
        * (_FUNCTION_SLOTS if each.is_function else 1)
        for each in phase.arithmetic
    )
    loads = [access for access in phase.accesses if not access.is_store]
    stores = [access for access in phase.accesses if access.is_store]
    return _Cycles(
        slots / mads_per_cycle(target.machine),
        sum(_load_cycles(access, target) for access in loads),
        sum(_store_cycles(access, target) for access in stores),
        phase.chain * MAD_CYCLES if phase.is_loop else 0.0,
    )


def _load_cycles(access: MemoryAccess, target: cl.Target) -> float:
    vectors = ceil(access.lanes / target.machine.vector_width)
    match access.pattern:
        case LanePattern.SCALAR:
            return access.count / LOADS_PER_CYCLE
        case LanePattern.CONTIGUOUS:
            return access.count * vectors / LOADS_PER_CYCLE
        case LanePattern.EVERY_OTHER:
            return access.count * vectors * _EVERY_OTHER / LOADS_PER_CYCLE
        case LanePattern.SCATTERED:
            return access.count * access.lanes * LANE_CYCLES


def _store_cycles(access: MemoryAccess, target: cl.Target) -> float:
    if access.pattern in (LanePattern.SCALAR, LanePattern.CONTIGUOUS):
        return access.count * ceil(access.lanes / target.machine.vector_width) * _STORE_CYCLES
    return access.count * access.lanes * LANE_CYCLES
