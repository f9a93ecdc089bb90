"""Terms of a launch on a GPU: units run waves of work-items in step, and switch between waves.

The constants are fitted to 730 plans of five networks (ResNet-18, MobileNetV2, EfficientNet-lite0,
ViT-tiny and one like YOLO) that `clopt-tune` timed on an H100 (driver 580.159). Fitted to three of
these, they estimate the other two as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from ...dialects import cl
from .reuse import footprint, group_traffic
from .terms import Terms
from .work import AccessSpace, LanePattern, LaunchWork, LoopPhase, MemoryAccess

_WAVE = 32
"""Work-items that run in step."""
_SECTOR = 32
"""Bytes that a cache delivers together."""
_GIGAHERTZ = 1.755
"""The clock of the cycles below."""
_UNIT_ITEMS = 2048
"""Work-items that a unit holds."""
_UNIT_GROUPS = 32
"""Work-groups that a unit holds."""
_UNIT_REGISTERS = 65536
"""Registers of a unit, of four bytes."""
_MOST_REGISTERS = 255
"""Registers of a work-item."""
_OTHER_REGISTERS = 43.0
"""Registers of a work-item besides its arrays."""

# Issue slots of a work-item, relative to a multiply-add.
_FUNCTION_SLOTS = 0.6
"""Factor for the slots of functions, which a separate unit computes."""
_LOAD_SLOTS = 9.0
_BYTE_SLOTS = 1.2
"""For each byte of the sectors that a load or store of global memory touches."""
_TEXEL_SLOTS = 5.0
_LOCAL_SLOTS = 1.2
"""For each element in local memory."""
_LOOP_SLOTS = 0.5

# Cycles that a wave waits.
_TEXEL_CYCLES = 645.0
"""For an iteration's first texel, from the second cache."""
_LOCAL_CYCLES = 71.0
"""For an iteration's first element from local memory."""
_ACCESS_CYCLES = 38.0
"""For each load of texels or of global memory."""
_MAD_CYCLES = 4.0
_BARRIER_CYCLES = 7.0
_LOOP_CYCLES = 3.4

_CACHE_BYTES_PER_NANOSECOND = 11000.0
"""Between the second cache and all units."""
_START_MICROSECONDS = 6.9
"""Of a launch by the device's clock."""


def waves_terms(work: LaunchWork, target: cl.Target) -> Terms:
    """Return the terms of a launch on a GPU."""
    units = target.device.compute_units
    # A group that does not fill its last wave leaves lanes idle, and the last groups leave units
    # idle.
    padded = ceil(work.group_items / _WAVE) * _WAVE
    rounds = ceil(work.groups / units)
    slots = sum(phase.times * _slots(phase) for phase in work.phases)
    waits = sum(phase.times * _waits(phase) for phase in work.phases)
    registers = min(_MOST_REGISTERS, _OTHER_REGISTERS + work.private_bytes / 4)
    resident = min(_UNIT_ITEMS // padded, _UNIT_GROUPS, int(_UNIT_REGISTERS / registers / padded))
    turns = ceil(work.groups / (units * max(resident, 1)))
    fetched = work.groups * sum(group_traffic(stream, _SECTOR) for stream in work.streams)
    touched = sum(footprint(stream, stream.axes, _SECTOR) for stream in work.streams)
    return Terms(
        issue=rounds * padded * slots / (1e3 * target.machine.mads_per_nanosecond),
        latency=turns * waits / (1e3 * _GIGAHERTZ),
        cache=fetched / (1e3 * _CACHE_BYTES_PER_NANOSECOND),
        memory=touched / (1e3 * target.machine.bandwidth),
        start=_START_MICROSECONDS,
    )


@dataclass(frozen=True)
class _Loads:
    """The accesses of an iteration, each of at most 16 bytes."""

    count: float
    bytes: float
    """Of the sectors that they touch."""

    @classmethod
    def of(cls, access: MemoryAccess) -> _Loads:
        """Split an access into loads of at most 16 bytes."""
        match access.pattern:
            case LanePattern.SCALAR:
                count, lanes = access.count, 1
            case LanePattern.CONTIGUOUS:
                count, lanes = access.count * ceil(access.lanes / 4), min(access.lanes, 4)
            case LanePattern.EVERY_OTHER | LanePattern.SCATTERED:
                count, lanes = access.count * access.lanes, 1
        size = lanes * access.element_bytes
        if access.space in (AccessSpace.LOCAL, AccessSpace.PRIVATE):
            return cls(count, count * (1 if access.neighbour == 0 else lanes))
        if access.neighbour == 0:
            return cls(count, count * size / _WAVE)
        apart = _SECTOR
        if access.neighbour is not None:
            apart = min(max(size, abs(access.neighbour) * access.element_bytes), _SECTOR)
        return cls(count, count * apart)


def _slots(phase: LoopPhase) -> float:
    """Return the issue slots of an iteration."""
    slots = _LOOP_SLOTS * phase.is_loop
    for each in phase.arithmetic:
        slots += each.count * each.lanes * each.slots * (_FUNCTION_SLOTS if each.is_function else 1)
    for access in phase.accesses:
        loads = _Loads.of(access)
        match access.space:
            case AccessSpace.TEXTURE:
                slots += _TEXEL_SLOTS * loads.count
            case AccessSpace.LOCAL | AccessSpace.PRIVATE:
                slots += _LOCAL_SLOTS * loads.bytes
            case AccessSpace.GLOBAL:
                slots += _LOAD_SLOTS * loads.count + _BYTE_SLOTS * loads.bytes
    return slots


def _waits(phase: LoopPhase) -> float:
    """Return the cycles that an iteration waits for results."""
    cycles = phase.chain * _MAD_CYCLES + phase.barriers * _BARRIER_CYCLES
    cycles += _LOOP_CYCLES * phase.is_loop
    first = 0.0
    for access in phase.accesses:
        if access.is_store:
            continue
        match access.space:
            case AccessSpace.TEXTURE:
                first = max(first, _TEXEL_CYCLES)
                cycles += _ACCESS_CYCLES * _Loads.of(access).count
            case AccessSpace.LOCAL | AccessSpace.PRIVATE:
                first = max(first, _LOCAL_CYCLES)
            case AccessSpace.GLOBAL:
                cycles += _ACCESS_CYCLES * _Loads.of(access).count
    return cycles + first
