"""The parts of kernels that an accelerator can compute: whole kernels or their first operations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from ....dialects import cl, nn
from ..layout.cost import bytes_of
from ..layout.kernels import Work
from ..layout.offload import Offer
from ..layout.solver import FORBIDDEN
from .accelerator import Accelerator
from .matches import Match


@dataclass
class Offers:
    """An accelerator's offers for `works`, with the costs of copying operands and results."""

    accelerator: Accelerator
    target: cl.Target
    legal: Sequence[Match]
    works: Iterable[Work]
    whole: dict[SSAValue, Offer] = field(default_factory=dict[SSAValue, Offer])
    """Offers for whole kernels, by their results."""
    parts: dict[SSAValue, Offer] = field(default_factory=dict[SSAValue, Offer])
    """Offers for the first operations of kernels that the accelerator cannot compute whole."""
    imports: dict[SSAValue, float] = field(default_factory=dict[SSAValue, float])
    """Microseconds to copy a value from a plain buffer to an opaque tensor."""
    exports: dict[SSAValue, float] = field(default_factory=dict[SSAValue, float])
    """Microseconds to copy a value from an opaque tensor to a plain buffer."""

    def __post_init__(self) -> None:
        self.match_of = {op: match for match in self.legal for op in match.ops}
        for work in self.works:
            ours = [op for op in work.ops if op not in self.match_of]
            if not ours:
                self.whole[work.result] = self._offer(work.ops, work.result, is_whole=True)
            if (ours or self._shares(work)) and (part := self._first_part(work)) is not None:
                self.parts[work.result] = part
        self._price_copies()

    def _offer(self, ops: Sequence[Operation], result: SSAValue, is_whole: bool) -> Offer:
        """Return the offer for all of `ops`; the time of a match counts at its last operation."""
        inside = set(ops)
        time = 0.0
        opaque: set[SSAValue] = set()
        plain: set[SSAValue] = set()
        for op in ops:
            match = self.match_of[op]
            if op is match.ops[-1]:
                time += self.time(match)
            for value in op.operands:
                if nn.constant_of(value) is not None:
                    continue
                wants_opaque = value in _inner(match) or match.is_opaque
                if value.owner not in inside:
                    (opaque if wants_opaque else plain).add(value)
                elif self._writes_opaque(value) != wants_opaque:
                    time += self.copy(value)
        return Offer(
            self.accelerator.name,
            is_whole,
            ops,
            result,
            time,
            frozenset(opaque),
            frozenset(plain),
            self._writes_opaque(result),
        )

    def _shares(self, work: Work) -> bool:
        """Return whether a kernel shares a match with other kernels.

        All of them then have the same writer for the match, which may not suit the rest of this
        kernel.
        """
        inside = set(work.ops)
        return any(not inside.issuperset(self.match_of[op].ops) for op in work.ops)

    def _first_part(self, work: Work) -> Offer | None:
        """Return the offer for the longest beginning of a kernel that leaves it one value to read.

        The kernel must keep some operations.
        """
        inside = set(work.ops)
        part: list[Match] = []
        done: set[Operation] = set()
        for op in work.ops:
            match = self.match_of.get(op)
            if match is None or op is not match.ops[-1]:
                continue
            # Other kernels may compute the first operations of a match.
            members = inside.intersection(match.ops)
            before = {v.owner for o in members for v in o.operands} & inside
            if before <= done | members:
                part.append(match)
                done |= members
        while part:
            taken = {op for match in part for op in match.ops}
            ops = [op for op in work.ops if op in taken]
            crossing = _crossing(ops)
            if len(crossing) == 1 and len(ops) < len(work.ops):
                return self._offer(ops, crossing[0], is_whole=False)
            part.pop()
        return None

    def _writes_opaque(self, value: SSAValue) -> bool:
        match = self.match(value)
        return value is not match.result or match.is_opaque

    def match(self, value: SSAValue) -> Match:
        """Return the match that computes a value."""
        assert isinstance(value.owner, Operation)
        return self.match_of[value.owner]

    def offers_with(self, matches: Iterable[Match]) -> dict[SSAValue, list[Offer]]:
        """Return the offers that contain some of the matches, by the results of their kernels."""
        ops = {match.ops[-1] for match in matches}
        found: dict[SSAValue, list[Offer]] = {}
        for value, offer in (*self.whole.items(), *self.parts.items()):
            if not ops.isdisjoint(offer.ops):
                found.setdefault(value, []).append(offer)
        return found

    def whole_with(self, match: Match) -> list[Offer]:
        """Return the offers for whole kernels that contain a match."""
        return [offer for offer in self.whole.values() if match.ops[-1] in offer.ops]

    def copy(self, value: SSAValue) -> float:
        """Return the microseconds to copy a value into another layout."""
        size = bytes_of(nn.tensor_type(value), None)
        return self.accelerator.copy_microseconds(size, self.target)

    def time(self, match: Match) -> float:
        """Return the microseconds of a match."""
        return self.accelerator.microseconds(match, self.target)

    def _price_copies(self) -> None:
        for offer in (*self.whole.values(), *self.parts.values()):
            for value in (*offer.opaque_reads, offer.result):
                self.imports[value] = self.exports[value] = self.copy(value)
        for match in self.legal:
            # A value inside of a match has no tensor to copy, and some commands accept no copies.
            inner = self.imports.keys() & _inner(match)
            self.exports |= dict.fromkeys(inner, FORBIDDEN)
            self.imports |= dict.fromkeys(inner, FORBIDDEN)
            if match.needs_producer:
                read = self.imports.keys() & set(match.inputs)
                self.imports |= dict.fromkeys(read, FORBIDDEN)


def _inner(match: Match) -> set[SSAValue]:
    """Return the values that operations of a match pass to each other."""
    return {op.results[0] for op in match.ops[:-1]}


def _crossing(ops: Sequence[Operation]) -> list[SSAValue]:
    """Return the results of `ops` that other operations read."""
    inside = set(ops)
    return [
        value
        for op in ops
        for value in op.results
        if any(use.operation not in inside for use in value.uses)
    ]
