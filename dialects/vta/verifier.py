"""Verification of a whole `vta.program`: indices in bounds, tokens in order, no races."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from .computing import UopsOp
from .encoding import VTAStreamError, encode, encode_uops
from .hazards import Hazards
from .isa import Load, Memory, Store, Uop
from .order import Order
from .steps import Step, dram_end, require, verify_step
from .tile_base import TileOp, dram_type
from .transfers import LoadUopsOp

if TYPE_CHECKING:
    from .program import ProgramOp


def verify_program(program: ProgramOp) -> None:
    """Raise VerifyException unless the results of a program depend only on its buffers.

    The message names the operation by its number, from 0, without buffers and constants.
    """
    ops = [*program.steps]
    steps = [_step(number, op) for number, op in enumerate(ops)]
    _verify_fields(program, steps)
    keys: dict[SSAValue, str] = {symbol.result: symbol.key for symbol in program.symbols}
    stored = {step.buffer for step in steps if isinstance(step.instruction, Store)}
    buffers: dict[Hashable, tuple[str, int]] = {
        value: (key, dram_type(value).elements) for value, key in keys.items() if value in stored
    }
    order, hazards = Order(program.is_serial), Hazards(program.config, buffers)
    resident: list[Uop | None] = [None] * program.config.depth(Memory.UOP)
    for op, step in zip(ops, steps, strict=True):
        verify_step(step, program.config, program.write_to_read)
        _verify_buffer(op, step, keys)
        _verify_resident(op, step, resident)
        clock = order.start(step, op.waits)
        hazards.step(step, clock, order)
        order.end(step, clock, op.signals)
        _verify_used_once(op, step)


def _step(number: int, op: TileOp) -> Step:
    return Step(
        number,
        "operation",
        op.name,
        op.instruction,
        op.uops,
        op.waited_queues,
        op.signalled_queues,
        op.buffer,
    )


def _verify_fields(program: ProgramOp, steps: list[Step]) -> None:
    """Raise VerifyException for values that exceed a field of an instruction or micro-op."""
    lists = dict.fromkeys(step.uops for step in steps)
    try:
        encode([step.instruction for step in steps], program.config)
        for uops in lists:
            encode_uops(uops, program.config)
    except VTAStreamError as error:
        raise VerifyException(str(error).removesuffix(".")) from error


def _verify_buffer(op: TileOp, step: Step, keys: dict[SSAValue, str]) -> None:
    if op.buffer is None:
        return
    assert isinstance(step.instruction, Load | Store)
    end, elements = dram_end(step.instruction), dram_type(op.buffer).elements
    require(
        end <= elements,
        step,
        f'reaches element {end - 1} of "{keys[op.buffer]}", which has {elements}',
    )


def _verify_resident(op: TileOp, step: Step, resident: list[Uop | None]) -> None:
    """Raise VerifyException for an operation whose micro-ops are not at its `base`."""
    if isinstance(op, LoadUopsOp):
        resident[op.base : op.base + len(op.uops)] = op.uops
    elif isinstance(op, UopsOp) and op.base is not None:
        loaded = resident[op.base : op.base + len(op.uops)]
        require(tuple(loaded) == op.uops, step, f"runs micro-ops that were not loaded to {op.base}")


def _verify_used_once(op: TileOp, step: Step) -> None:
    for token in op.signals:
        uses = len(tuple(token.uses))
        require(
            uses == 1,
            step,
            "sends a token that no operation takes"
            if not uses
            else f"sends a token that {uses} take",
        )
