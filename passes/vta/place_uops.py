"""Decides where micro-ops are in their scratchpad, and loads them.

Equal lists of micro-ops share an address. If all lists of a program fit, a single load at its start
loads them. Otherwise the scratchpad is a ring: a missing list is loaded just before its use and
overwrites the oldest lists. Loads of micro-ops run in the same stage as the operations that use
them, so they need no tokens.
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
    """Load the micro-ops of `vta.gemm` and `vta.alu`, and set the address of each list."""

    name = "vta-place-uops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in op.body.block.ops:
            if isinstance(program, ProgramOp):
                place_uops(program)


def place_uops(program: ProgramOp) -> None:
    """Place the micro-ops of a program, unless all of them are placed already."""
    users = [op for op in program.steps if isinstance(op, UopsOp)]
    unplaced = [op for op in users if op.base is None]
    if not unplaced:
        return
    if len(unplaced) < len(users) or any(isinstance(op, LoadUopsOp) for op in program.steps):
        raise CloptError(
            f"The program @{program.sym_name.data} places only some of its micro-ops: "
            "remove every vta.load_uops and `at`, or add the missing ones."
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
    """The lists in the scratchpad, oldest first."""

    depth: int
    bases: dict[tuple[Uop, ...], int] = field(default_factory=dict[tuple[Uop, ...], int])
    _next: int = 0

    def place(self, uops: tuple[Uop, ...]) -> int:
        """Return the address of a list that is not in the scratchpad yet."""
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
