"""Proposals of other choices for the sites of a network, and what they may gain."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from ..decisions import Site
from ..decisions.choices import choice_of, choice_text, choices_of, site_of
from ..decisions.record import Kind
from ..dialects import cl, tir
from ..dialects.properties import text
from ..passes.tir.kernel_key import kernel_key
from ..passes.tir.plan_estimate import estimate_plan
from .confirm import Runs

_FADING = 0.5
"""Factor on the expected gain of half of a proposal."""
_STEEPNESS = 4
"""How fast the expected gain falls with the estimated slowdown: by its power of this."""


@dataclass(frozen=True)
class Move:
    """Another choice for a site."""

    site: Site
    old: Attribute
    new: Attribute
    nodes: str

    @property
    def kind(self) -> Kind:
        """The kind of its records."""
        return self.site.kind.value

    @property
    def old_text(self) -> str:
        """The old choice as in records and files."""
        return choice_text(self.old)

    @property
    def new_text(self) -> str:
        """The new choice as in records and files."""
        return choice_text(self.new)

    @property
    def back(self) -> Move:
        """The move that takes this one back."""
        return Move(self.site, self.new, self.old, self.nodes)

    @property
    def demand(self) -> cl.ChoiceAttr:
        """The attribute that demands the new choice."""
        return choice_of(self.site, self.new)


@dataclass(frozen=True)
class Proposal:
    """Moves to try together, those with the largest expected gain first."""

    moves: Sequence[Move]
    share: float = 1.0
    """The expected gain, relative to the time of the kernels concerned."""
    ratio: float | None = None
    """The estimated time of the network with the moves, relative to that without; None before."""

    @property
    def hope(self) -> float:
        """The expected gain by the estimate, relative to the time of the kernels concerned."""
        return self.share / (self.ratio or 1.0) ** _STEEPNESS

    def halves(self) -> list[Proposal]:
        """Return both halves; none of a single move."""
        middle = (len(self.moves) + 1) // 2
        share = _FADING * self.share
        halves = self.moves[:middle], self.moves[middle:]
        return [Proposal(half, share) for half in halves if 0 < len(half) < len(self.moves)]

    def back(self) -> Proposal:
        """Return the proposal that takes this one back."""
        return Proposal([move.back for move in self.moves], self.share)


class Estimates:
    """Estimated times of networks, where each distinct kernel is estimated once."""

    def __init__(self) -> None:
        self._known: dict[str, float] = {}

    def of(self, module: ModuleOp) -> float:
        """Return the estimated microseconds of a network whose kernels have plans."""
        target = cl.target_of(module)
        funcs = {op.sym_name.data: op for op in module.ops if isinstance(op, tir.FuncOp)}
        times = {
            name: self._time(func, target) for name, func in funcs.items() if func.plan is not None
        }
        launches = (
            op
            for program in module.ops
            if isinstance(program, cl.ProgramOp)
            for op in cl.commands(program)
            if isinstance(op, cl.EnqueueKernelOp)
        )
        launch_time = target.machine.launch_microseconds
        return sum(
            cl.trips_of(each) * (launch_time + times.get(each.kernel_name, 0.0))
            for each in launches
        )

    def _time(self, func: tir.FuncOp, target: cl.Target) -> float:
        assert func.plan is not None
        key = kernel_key(func)
        if key not in self._known:
            self._known[key] = estimate_plan(func, func.plan.data, target).microseconds
        return self._known[key]


class Shares:
    """The time of each kernel in a network, to order proposals by."""

    def __init__(self, module: ModuleOp, runs: Runs) -> None:
        self.whole = runs.whole.median
        comments = {
            op.sym_name.data: f"{op.sym_name.data}, {text(op.comment) or ''}"
            for op in module.ops
            if isinstance(op, tir.FuncOp)
        }
        self._kernels = [
            (_words(comments.get(name, name)), times.median) for name, times in runs.kernels.items()
        ]

    def of(self, moves: Iterable[Move]) -> float:
        """Return the share of the network's time that the kernels with these nodes take."""
        nodes = {word for move in moves for word in _words(move.nodes)}
        time = sum(time for words, time in self._kernels if words & nodes)
        return time / self.whole

    def hope(self, proposal: Proposal) -> float:
        """Return the expected gain of a proposal, as a share of the network's time."""
        return proposal.hope * self.of(proposal.moves)


def moves_in(module: ModuleOp) -> list[Move]:
    """Return the moves to any other choice for each site that passes noted."""
    return [
        Move(site_of(choice), choice.choice, new, text(choice.nodes) or "")
        for choice in choices_of(module) or ()
        for new in choice.others
    ]


def proposals_of(moves: Iterable[Move], shares: Shares) -> list[Proposal]:
    """Return proposals of all moves from one choice of a kind to another one."""
    alike: dict[object, list[Move]] = {}
    for move in moves:
        alike.setdefault((move.site.kind, move.old, move.new), []).append(move)
    return [
        Proposal(sorted(each, key=lambda move: shares.of([move]), reverse=True))
        for each in alike.values()
    ]


def _words(nodes: str) -> set[str]:
    return set(re.split(r"[\s,;:@]+", nodes)) - {""}
