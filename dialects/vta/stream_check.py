"""The check of a finished stream before it is sent to a device.

It rejects everything that could hang a core or access foreign memory. It does not check that tokens
order the accesses of different stages, or that results depend on no stale data: the verifier of the
`vta.program` from which the stream was made proves that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.utils.exceptions import VerifyException

from .config import Config
from .encoding import VTAStreamError, encode, encode_uops
from .isa import (
    Alu,
    Finish,
    Gemm,
    Instruction,
    Load,
    Memory,
    Store,
    Uop,
    is_nop,
    signals_of,
    unconnected_bits,
    waits_of,
)
from .order import Order
from .steps import Step, dram_end, require, verify_step


def check_stream(
    instructions: Sequence[Instruction],
    uops: Sequence[Uop],
    config: Config,
    sizes: Mapping[Memory, int],
) -> None:
    """Raise VTAStreamError, with the instruction's number, for a malformed stream.

    `uops` are the micro-ops in DRAM. `sizes` are the elements of the memories in DRAM from the base
    of `dram_base` on; a memory without an entry is empty.
    """
    encode(instructions, config)
    encode_uops(uops, config)
    try:
        _Check(uops, config, {**sizes, Memory.UOP: len(uops)}).run(instructions)
    except VerifyException as error:
        sentence = str(error)
        raise VTAStreamError(f"{sentence[0].upper()}{sentence[1:]}.") from error


class _Check:
    """A walk over the instructions in fetch order."""

    def __init__(self, uops: Sequence[Uop], config: Config, sizes: Mapping[Memory, int]):
        self.uops = uops
        self.config = config
        self.sizes = sizes
        self.resident: list[Uop | None] = [None] * config.depth(Memory.UOP)
        self.order = Order()

    def run(self, instructions: Sequence[Instruction]) -> None:
        """Check all instructions."""
        for number, instruction in enumerate(instructions):
            step = self._step(number, instruction)
            last = number == len(instructions) - 1
            require(
                last or not isinstance(instruction, Finish),
                step,
                "ends the stream, but more instructions follow",
            )
            self._instruction(step)
        if not instructions or not isinstance(instructions[-1], Finish):
            raise VerifyException(f"instruction {len(instructions)} is missing: FINISH")
        for queue, count in self.order.left():
            raise VerifyException(f"the stream leaves {count} tokens in {queue}")

    def _step(self, number: int, instruction: Instruction) -> Step:
        return Step(
            number,
            "instruction",
            type(instruction).__name__.upper(),
            instruction,
            self._uops_of(number, instruction),
            waits_of(instruction),
            signals_of(instruction),
        )

    def _uops_of(self, number: int, instruction: Instruction) -> tuple[Uop, ...]:
        if not isinstance(instruction, Gemm | Alu):
            return ()
        slots = self.resident[instruction.uop_bgn : instruction.uop_end]
        known = tuple(uop for uop in slots if uop is not None)
        inside = instruction.uop_end <= len(self.resident)
        if inside and len(known) < len(slots):
            missing = instruction.uop_bgn + slots.index(None)
            raise VerifyException(
                f"instruction {number} ({type(instruction).__name__.upper()}) runs micro-op "
                f"{missing}, which was never loaded"
            )
        return known

    def _instruction(self, step: Step) -> None:
        instruction = step.instruction
        for bit in unconnected_bits(instruction):
            require(False, step, f"sets {bit}, but the stage {step.stage} has no such queue")
        if isinstance(instruction, Finish):
            require(
                not (step.waits or step.signals), step, "must not carry tokens; use a no-operation"
            )
        verify_step(step, self.config, 0)
        if isinstance(instruction, Load | Store):
            self._transfer(step, instruction)
        self.order.end(step, self.order.start(step))

    def _transfer(self, step: Step, op: Load | Store) -> None:
        if is_nop(op):
            return
        end, size = dram_end(op), self.sizes.get(op.memory, 0)
        require(
            end <= size, step, f"reaches element {end - 1} of {op.memory.name} in DRAM, of {size}"
        )
        if op.memory is Memory.UOP:
            loaded = self.uops[op.dram_base : end]
            self.resident[op.sram_base : op.sram_base + len(loaded)] = loaded
