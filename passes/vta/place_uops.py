"""Decides where micro-ops are in their scratchpad, and loads them.

Equal lists of micro-ops share a place. If all lists of a program fit, one load at its start brings
them. Otherwise the scratchpad is a ring: a list that is not there is loaded just before it is used,
over the lists that were placed longest ago. Loads of micro-ops and the operations that run them
belong to one stage, so they need no tokens.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...dialects.properties import integer
from ...dialects.vta import LoadUopsOp, Memory, ProgramOp, Uop, UopsOp
from ...errors import CloptError


@dataclass(frozen=True)
class VTAPlaceUopsPass(ModulePass):
    """Load the micro-ops of `vta.gemm` and `vta.alu`, and say where each finds its own."""

    name = "vta-place-uops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in op.body.block.ops:
            if isinstance(program, ProgramOp):
                place_uops(program)


def place_uops(program: ProgramOp) -> None:
    """Place the micro-ops of a program; one with all of them placed stays as it is."""
    users = [op for op in program.steps if isinstance(op, UopsOp)]
    unplaced = [op for op in users if op.base is None]
    if not unplaced:
        return
    if len(unplaced) < len(users) or any(isinstance(op, LoadUopsOp) for op in program.steps):
        raise CloptError(
            f"The program @{program.sym_name.data} places some of its micro-ops and not others: "
            "leave out every vta.load_uops and `at`, or none that an operation needs."
        )
    depth = program.config.depth(Memory.UOP)
    lists = dict.fromkeys(op.uops for op in users)
    if sum(map(len, lists)) <= depth:
        _place_all(users, list(lists))
    else:
        _place_in_a_ring(users, depth)


def _place_all(users: list[UopsOp], lists: list[tuple[Uop, ...]]) -> None:
    bases: dict[tuple[Uop, ...], int] = {}
    everything: list[Uop] = []
    for uops in lists:
        bases[uops] = len(everything)
        everything += uops
    for op in users:
        op.properties["base"] = integer(bases[op.uops])
    _load_before(users[0], tuple(everything), 0)


def _place_in_a_ring(users: list[UopsOp], depth: int) -> None:
    ring = _Ring(depth)
    for op in users:
        base = ring.bases.get(op.uops)
        if base is None:
            base = ring.place(op.uops)
            _load_before(op, op.uops, base)
        op.properties["base"] = integer(base)


@dataclass
class _Ring:
    """The lists in the scratchpad, those that were placed longest ago first."""

    depth: int
    bases: dict[tuple[Uop, ...], int] = field(default_factory=dict[tuple[Uop, ...], int])
    _next: int = 0

    def place(self, uops: tuple[Uop, ...]) -> int:
        """Return the place of a list that is not there yet."""
        base = self._next if self._next + len(uops) <= self.depth else 0
        end = base + len(uops)
        self.bases = {
            other: start
            for other, start in self.bases.items()
            if start >= end or start + len(other) <= base
        }
        self.bases[uops] = base
        self._next = end
        return base


def _load_before(op: UopsOp, uops: tuple[Uop, ...], base: int) -> None:
    load = LoadUopsOp(uops, base)
    load.location = op.location
    block = op.parent
    assert block is not None
    block.insert_op_before(load, op)
