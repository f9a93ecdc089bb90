"""Mode `auto`: chooses the matches for an accelerator together with the layouts of our kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

from xdsl.dialects import func
from xdsl.ir import Operation, SSAValue

from ....dialects import cl
from ....messages.explanations import Choice, ExplainedTable
from ...locations import node_name
from ..fuse import form_groups
from ..layout.grouping import TEXELS
from ..layout.kernels import works_of_group
from ..layout.offload import OffloadProblem
from ..layout.problem import LayoutProblem
from ..layout.solver import FORBIDDEN, Solution
from .accelerator import Accelerator
from .matches import Match
from .offers import Offers
from .regions import Region, form_regions

_ROUNDS = 4
"""The most rounds of charging the copies between regions that cannot be one, and solving again."""

_MOST_DROPPED = 16
"""The most regions that are dropped since each saves less than it costs to enter a graph."""

OURS_COST_LESS = "our kernels cost less by the model"


class Chooser:
    """The choice for one function, on a target that has an accelerator.

    The operations that the problem gives to it cannot always be one region, since one of our
    kernels may lie between two parts. The copies between such parts are then charged, and the
    problem is solved again; kernels stay ours then that no region of at least `minimum` operations
    takes, or a region that saves less than it costs to enter a graph. Of all rounds the cheapest
    choice, copies and entries included, is taken.
    """

    def __init__(
        self,
        accelerator: Accelerator,
        function: func.FuncOp,
        target: cl.Target,
        legal: Sequence[Match],
        minimum: int = 1,
    ):
        self.accelerator = accelerator
        self.function = function
        self.minimum = minimum
        self.entry = accelerator.entry_microseconds(target)
        groups = form_groups(function.body.block.ops, TEXELS)
        works = [parts[0] for group in groups if len(parts := works_of_group(group)) == 1]
        self.offers = Offers(accelerator, target, legal, works)
        self.problem = OffloadProblem(
            accelerator.name,
            LayoutProblem(function, groups, target),
            self.offers.whole,
            self.offers.parts,
            self.offers.imports,
            self.offers.exports,
        )
        self.kernels_only = self.problem.solve(dict.fromkeys(self.problem.variables, False))
        """The cheapest choice of kernels alone."""
        self.solution, self.extra = self._solve()
        self.matches = self._matches_of(self.solution)
        """The matches that the accelerator computes, in program order."""

    @property
    def cost(self) -> float:
        """The microseconds of the function, by the model."""
        return self.solution.cost + self.extra

    def _solve(self) -> tuple[Solution, float]:
        """The cheapest choice, and the additional cost of its graphs: copies between them, and
        entries.
        """
        best, best_extra = self.kernels_only, 0.0
        charges: dict[tuple[SSAValue, SSAValue], float] = {}
        forced: dict[SSAValue, bool] = {}
        for _ in range(_ROUNDS + (_MOST_DROPPED if self.entry else 0)):
            solution = self.problem.solve(forced, charges)
            regions = self._regions(self._matches_of(solution))
            cuts = dict(self._cuts(regions))
            lost = self._lost(solution, regions)
            poor = self._poor(solution, regions, forced, charges)
            # Charges only steer the search to other choices; they are not costs.
            cost = self.problem.cost_of(solution)
            extra = self._copies(regions) - self.problem.copies_of(solution)
            extra += self.entry * len(regions)
            if not lost and cost + extra < (best.cost + best_extra) * (1 - 1e-9):
                exact = solution.exact and not (charges or forced or cuts or self.entry)
                best, best_extra = Solution(solution.choice, cost, exact), extra
            if not lost and not poor and not cuts.keys() - charges.keys():
                break
            charges |= cuts
            forced |= dict.fromkeys([*lost, *poor], False)
        return best, best_extra

    def _poor(
        self,
        solution: Solution,
        regions: Sequence[Region],
        forced: Mapping[SSAValue, bool],
        charges: Mapping[tuple[SSAValue, SSAValue], float],
    ) -> list[SSAValue]:
        """The results of the region that saves least, if an entry costs more.

        One at a time, since without it the others may save more.
        """
        found: list[tuple[float, list[SSAValue]]] = []
        for region in regions if self.entry else ():
            results = self._results_of(region.matches)
            ours = self.problem.solve({**forced, **dict.fromkeys(results, False)}, charges)
            found.append((ours.cost - solution.cost, results))
        least = min(found, key=itemgetter(0), default=None)
        return least[1] if least and least[0] < self.entry else []

    def _regions(self, matches: Sequence[Match]) -> list[Region]:
        most_tensors = self.accelerator.most_tensors
        return form_regions(self.function, matches, self.minimum, most_tensors=most_tensors)

    def _lost(self, solution: Solution, regions: Sequence[Region]) -> list[SSAValue]:
        """The values that a choice gives to the accelerator, and that no region of it writes."""
        kept = {op for region in regions for match in region.matches for op in match.ops}
        kept |= {op for match in self.offers.legal if match.is_view for op in match.ops}
        return [
            value
            for value in self.problem.variables
            if (offer := self.problem.offer_of(solution, value)) is not None
            and not kept.issuperset(offer.ops)
        ]

    def _matches_of(self, solution: Solution) -> list[Match]:
        taken = {op for offer in self.problem.offloaded(solution) for op in offer.ops}
        return [match for match in self.offers.legal if taken.issuperset(match.ops)]

    def _cuts(self, regions: Sequence[Region]) -> Iterator[tuple[tuple[SSAValue, SSAValue], float]]:
        """Pairs of results that two regions compute, the second from the first, and the cost of the
        copy between them. A kernel may appear on both sides.
        """
        home = {op for region in regions for match in region.matches for op in match.ops}
        for region in regions:
            for match in region.matches:
                for value in match.inputs:
                    if value in region.inputs and value.owner in home:
                        first, second = (self._results_of([m]) for m in (self._match(value), match))
                        yield from (
                            ((a, b), self.offers.copy(value)) for a in first for b in second
                        )

    def _match(self, value: SSAValue) -> Match:
        """The match that computes a value."""
        assert isinstance(value.owner, Operation)
        return self.offers.match_of[value.owner]

    def _copies(self, regions: Iterable[Region]) -> float:
        """The cost of copies between plain buffers and the opaque tensors of regions."""
        total = 0.0
        for region in regions:
            read = {v for match in region.matches if match.is_opaque for v in match.inputs}
            total += sum(self.offers.copy(v) for v in region.inputs if v in read)
            total += sum(self.offers.copy(v) for v in region.outputs if self._match(v).is_opaque)
        return total

    def reasons(self) -> dict[Operation, str]:
        """For each operation of the model whose match stays with our kernels, by how much these are
        cheaper, if the choice is proved to be the best.
        """
        kept = {op for match in self.matches for op in match.ops}
        left = [match for match in self.offers.legal if kept.isdisjoint(match.ops)]
        found: dict[Operation, str] = {}
        for match in left:
            # Each reason takes a search of its own, too many if one search is long.
            reason = self.reason(match) if self.solution.exact else OURS_COST_LESS
            found |= dict.fromkeys(match.model, reason)
        return found

    def reason(self, match: Match) -> str:
        """The reason why a legal match stays with our kernels: the cost that this saves."""
        if match.is_view:
            return "a reshape outside of graphs is a view of memory"
        forced = dict.fromkeys(self._results_of([match]), True)
        more = self.problem.solve(forced).cost - self.solution.cost if forced else FORBIDDEN
        more += self.entry
        if more >= FORBIDDEN / 2:
            title = self.accelerator.title
            return f"it shares a kernel with operations that {title} cannot compute"
        return f"our kernels cost {more:.1f} us less by the model"

    def costs_table(self) -> ExplainedTable:
        """The costs of each region and of the function.

        The cost of our kernels in a region's place comes from the cheapest choice without the
        region, in which layouts and other regions may differ, too.
        """
        rows: list[list[str]] = []
        for region in self._regions(self.matches):
            time = self._time(region)
            without = self.problem.solve(dict.fromkeys(self._results_of(region.matches), False))
            ours = time + without.cost - self.solution.cost
            time += self.entry
            first, last = (node_name(region.matches[i].model[-1]) for i in (0, -1))
            rows.append([first, last, str(len(region.matches)), f"{time:.1f}", f"{ours:.1f}"])
        title = self.accelerator.title
        exact = "nothing is cheaper" if self.solution.exact else "the best found"
        return ExplainedTable(
            Choice.COSTS,
            f"costs of {title} in {self.function.sym_name.data}",
            ("first node", "last node", "operations", "us", "us by our kernels"),
            rows,
            f"{self.cost:.1f} us in all by the model, {self.kernels_only.cost:.1f} us without "
            f"{title}, {exact}",
        )

    def _results_of(self, matches: Iterable[Match]) -> list[SSAValue]:
        """The results of kernels with offers that contain some of the matches."""
        ops = {match.ops[-1] for match in matches}
        tables = (self.offers.whole, self.offers.parts)
        pairs = (pair for table in tables for pair in table.items())
        return [value for value, offer in pairs if not ops.isdisjoint(offer.ops)]

    def _time(self, region: Region) -> float:
        """The cost of a region's commands, and of the copies of its inputs and outputs."""
        return sum(map(self.offers.time, region.matches)) + self._copies([region])
