"""Mode `auto`: which matches go to CLML, decided together with the layouts of our kernels."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence

from xdsl.dialects import func
from xdsl.ir import Block, Operation, SSAValue

from ....dialects import cl
from ...locations import node_name
from ..fuse import form_groups
from ..layout.grouping import TEXELS
from ..layout.kernels import works_of_group
from ..layout.offload import FORBIDDEN, Offer, OffloadProblem, State, Writer
from ..layout.problem import LayoutProblem
from ..layout.solver import Solution
from .cost import CommandCosts
from .matching import Match
from .offers import Offers
from .regions import Region, form_regions

_ROUNDS = 4
"""How often copies between regions that cannot be one are charged, and the choice made again."""


def choose_matches(
    function: func.FuncOp,
    target: cl.Target,
    legal: Sequence[Match],
    reasons: dict[Operation, str],
    explain: bool = False,
) -> list[Match]:
    """Those of the legal matches that CLML computes where the network then costs least.

    The others get `reasons`; with `explain` these say by how much, and the costs of each region are
    printed to stderr.
    """
    chooser = Chooser(function, target, legal)
    chosen = chooser.matches
    kept = {op for match in chosen for op in match.ops}
    for match in legal:
        if kept.isdisjoint(match.ops):
            reason = chooser.reason(match) if explain else "our kernels cost less by the model"
            reasons |= dict.fromkeys(match.ops, reason)
    if explain:
        print(*chooser.lines(), sep="\n", file=sys.stderr)
    return chosen


class Chooser:
    """The choice for one function, on a target that has CLML.

    What the problem gives CLML cannot always be one region: a kernel of ours may stand between two
    parts. Then the copies between these are charged and the problem is solved again; the best of
    some rounds by what it costs with its copies is taken.
    """

    def __init__(self, function: func.FuncOp, target: cl.Target, legal: Sequence[Match]):
        self.function = function
        groups = form_groups(function.body.block.ops, TEXELS)
        works = [parts[0] for group in groups if len(parts := works_of_group(group)) == 1]
        self.offers = Offers(CommandCosts(target), legal, works)
        self.problem = OffloadProblem(
            LayoutProblem(function, groups, target),
            self.offers.whole,
            self.offers.parts,
            self.offers.imports,
            self.offers.exports,
        )
        self.kernels_only = self.problem.solve(dict.fromkeys(self.problem.variables, False))
        """The best without CLML."""
        self.solution, self.extra = self._solve()
        self.matches = self._matches_of(self.solution)
        """What CLML computes, in program order."""

    @property
    def cost(self) -> float:
        """The microseconds of the function, by the model."""
        return self.solution.cost + self.extra

    def _solve(self) -> tuple[Solution, float]:
        """The best choice, and what the copies between its regions cost besides."""
        best = self.kernels_only, 0.0
        charges: dict[tuple[SSAValue, SSAValue], float] = {}
        for _ in range(_ROUNDS):
            solution = self.problem.solve(charges=charges)
            regions = form_regions(self.function, self._matches_of(solution))
            extra = self._extra_copies(solution, regions)
            # The charges are no costs, but a way to find others.
            cost = self.problem.cost_of(solution)
            if cost + extra < (best[0].cost + best[1]) * (1 - 1e-9):
                best = Solution(solution.choice, cost, solution.exact), extra
            cuts = dict(self._cuts(solution, regions))
            if not cuts.keys() - charges.keys():
                break
            charges |= cuts
        return best

    def _matches_of(self, solution: Solution) -> list[Match]:
        taken = {op for offer in self.problem.offloaded(solution) for op in offer.ops}
        return [match for match in self.offers.legal if taken.issuperset(match.ops)]

    def _state(self, solution: Solution, value: SSAValue) -> State:
        return self.problem.state_of(solution, value)

    def _cuts(
        self, solution: Solution, regions: Sequence[Region]
    ) -> Iterator[tuple[tuple[SSAValue, SSAValue], float]]:
        """Kernels of CLML that read another's opaque tensor and are in another region."""
        home = _homes(regions)
        for value, offer in self.offers.whole.items():
            if self._state(solution, value).writer is not Writer.CLML:
                continue
            for read in offer.opaque_reads & self.offers.whole.keys():
                theirs = self._state(solution, read)
                if theirs.writer is Writer.CLML and home.get(read.owner) != home.get(value.owner):
                    yield (read, value), self.offers.imports[read]

    def _extra_copies(self, solution: Solution, regions: Sequence[Region]) -> float:
        """Copies into and out of regions that the problem does not count: it sees one copy of a
        value for all of CLML, and none between two kernels of CLML.
        """
        total = 0.0
        counted: set[SSAValue] = set()
        for region in regions:
            for value in region.inputs:
                if not self._is_read_opaque(region, value) or value not in self.problem.variables:
                    continue
                state = self._state(solution, value)
                writes_opaque = (
                    state.writer is Writer.CLML and self.offers.whole[value].writes_opaque
                )
                if writes_opaque and state.layout is None and value not in counted:
                    total += self.offers.exports[value]
                if writes_opaque or value in counted:
                    total += self.offers.imports[value]
                counted.add(value)
        return total

    def _is_read_opaque(self, region: Region, value: SSAValue) -> bool:
        return any(value in offer.opaque_reads for offer in self._offers_in(region.matches))

    def _offers_in(self, matches: Iterable[Match]) -> list[Offer]:
        """The offers that have operations of some matches."""
        ops = {op for match in matches for op in match.ops}
        offers = (*self.offers.whole.values(), *self.offers.parts.values())
        return [offer for offer in offers if not ops.isdisjoint(offer.ops)]

    def reason(self, match: Match) -> str:
        """Why a legal match stays with our kernels: by how much that is cheaper."""
        wanted = {id(offer) for offer in self._offers_in([match])}
        forced = {
            value: True
            for offers in (self.offers.whole, self.offers.parts)
            for value, offer in offers.items()
            if id(offer) in wanted
        }
        more = self.problem.solve(forced).cost - self.solution.cost if forced else FORBIDDEN
        if more >= FORBIDDEN / 2:
            return "it shares a kernel with operations that CLML cannot compute"
        return f"our kernels cost {more:.1f} us less by the model"

    def lines(self) -> list[str]:
        """The costs of the function and of each region, for people."""
        exact = "nothing is cheaper" if self.solution.exact else "the best found"
        found = [
            f"CLML in {self.function.sym_name.data}: {self.cost:.1f} us in all by the model, "
            f"{self.kernels_only.cost:.1f} us without CLML; {exact}"
        ]
        for region in form_regions(self.function, self.matches):
            time = self._time_in_clml(region)
            offers = {id(offer) for offer in self._offers_in(region.matches)}
            forced = {
                value: False
                for table in (self.offers.whole, self.offers.parts)
                for value, offer in table.items()
                if id(offer) in offers
            }
            saved = self.problem.solve(forced).cost - self.solution.cost
            first, last = (node_name(region.matches[i].ops[-1]) for i in (0, -1))
            found.append(
                f"  {first} to {last}, {len(region.matches)} operations: CLML {time:.1f} us, "
                f"our kernels {time + saved:.1f} us"
            )
        return found

    def _time_in_clml(self, region: Region) -> float:
        """The commands of a region, and the copies of what goes in and out."""
        offers = self._offers_in(region.matches)
        reads = {value for offer in offers for value in offer.opaque_reads}
        writes = {offer.result for offer in offers if offer.writes_opaque}
        commands = sum(offer.microseconds for offer in offers)
        copied_in = sum(self.offers.imports[v] for v in region.inputs if v in reads)
        copied_out = sum(self.offers.exports[v] for v in region.outputs if v in writes)
        return commands + copied_in + copied_out


def _homes(regions: Sequence[Region]) -> dict[Operation | Block, int]:
    """The region of each operation."""
    return {op: i for i, r in enumerate(regions) for match in r.matches for op in match.ops}
