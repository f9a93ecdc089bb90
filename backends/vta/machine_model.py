"""Cycles of a stream on a model of the hardware: three stages and one port to memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...dialects.vta.config import Config
from ...dialects.vta.encoding import VTAStreamError
from ...dialects.vta.isa import (
    Alu,
    Finish,
    Gemm,
    Instruction,
    Load,
    Queue,
    Stage,
    Store,
    signals_of,
    stage_of,
    waits_of,
)


@dataclass(frozen=True)
class MachineModel:
    """Costs of instructions in cycles of the core.

    The defaults describe the published core for Xilinx' Pynq (github.com/apache/tvm-vta,
    hardware/xilinx): a 64-bit bus, a GEMM pipeline that starts one tile per cycle, and an ALU
    pipeline that starts one every second cycle. The latencies of DRAM behind an interconnect and
    the depth of both pipelines are our estimates.
    """

    dram_bytes_per_cycle: float = 8.0
    dram_latency: int = 32
    """Cycles from the request to the first byte, during which the bus serves other requests."""
    cycles_per_gemm_tile: float = 1.0
    cycles_per_alu_tile: float = 2.0
    pipeline_depth: int = 8
    """Cycles from the first tile of an instruction to its result."""
    cycles_per_padding: float = 1.0
    """Cycles per zero element that a load writes."""
    decode: int = 1
    """Cycles to decode any instruction."""


@dataclass
class StreamTiming:
    """The cycles of a stream, and of the work in each stage.

    Waiting for tokens or for the bus does not count as work.
    """

    cycles: float = 0.0
    busy: dict[Stage, float] = field(default_factory=lambda: dict.fromkeys(Stage, 0.0))
    gemm: float = 0.0
    """The part of `busy` that GEMM instructions take."""


@dataclass(frozen=True)
class _Cost:
    """The cost of one instruction."""

    transfer: float = 0.0  # cycles on the bus
    latency: float = 0.0  # cycles before the transfer
    work: float = 0.0  # cycles after it, without the bus


def time_stream(
    instructions: Sequence[Instruction], config: Config, model: MachineModel | None = None
) -> StreamTiming:
    """Return the cycles of a stream whose stages overlap as far as its tokens allow.

    The bus serves one transfer at a time, in the order of the requests. Raises VTAStreamError for a
    stream that waits forever.
    """
    model = model or MachineModel()
    timing = StreamTiming()
    waiting = {stage: deque[Instruction]() for stage in Stage}
    for instruction in instructions:
        waiting[stage_of(instruction)].append(instruction)
    tokens = {queue: deque[float]() for queue in Queue}
    free = dict.fromkeys(Stage, 0.0)
    bus = 0.0
    while any(waiting.values()):
        starts = {
            stage: max([free[stage], *(tokens[queue][0] for queue in waits_of(heads[0]))])
            for stage, heads in waiting.items()
            if heads and all(tokens[queue] for queue in waits_of(heads[0]))
        }
        if not starts:
            raise VTAStreamError("The stream waits forever for a token that no instruction pushes.")
        stage = min(starts, key=starts.__getitem__)
        instruction = waiting[stage].popleft()
        for queue in waits_of(instruction):
            tokens[queue].popleft()
        cost = _cost_of(instruction, config, model)
        end = starts[stage] + model.decode
        if cost.transfer:
            bus = max(end + cost.latency, bus) + cost.transfer
            end = bus
        free[stage] = end + cost.work
        for queue in signals_of(instruction):
            tokens[queue].append(free[stage])
        busy = model.decode + cost.latency + cost.transfer + cost.work
        timing.busy[stage] += busy
        if isinstance(instruction, Gemm):
            timing.gemm += busy
    timing.cycles = max(free.values())
    return timing


def _cost_of(instruction: Instruction, config: Config, model: MachineModel) -> _Cost:
    match instruction:
        case Load() | Store():
            return _cost_of_moving(instruction, config, model)
        case Gemm():
            return _cost_of_tiles(instruction, model.cycles_per_gemm_tile, model)
        case Alu():
            return _cost_of_tiles(instruction, model.cycles_per_alu_tile, model)
        case Finish():
            return _Cost()


def _cost_of_moving(instruction: Load | Store, config: Config, model: MachineModel) -> _Cost:
    if instruction.x_size == 0:
        return _Cost()
    rows = instruction.y_pad_0 + instruction.y_size + instruction.y_pad_1
    row = instruction.x_pad_0 + instruction.x_size + instruction.x_pad_1
    elements = instruction.y_size * instruction.x_size
    transfer = elements * config.element_bytes(instruction.memory) / model.dram_bytes_per_cycle
    padding = (rows * row - elements) * model.cycles_per_padding
    return _Cost(transfer, model.dram_latency, padding)


def _cost_of_tiles(instruction: Gemm | Alu, cycles: float, model: MachineModel) -> _Cost:
    uops = max(0, instruction.uop_end - instruction.uop_bgn)
    tiles = instruction.iter_out * instruction.iter_in * uops
    return _Cost(work=tiles * cycles + model.pipeline_depth) if tiles else _Cost()
