"""Mode `auto`: chooses an accelerator's matches together with the layouts of OpenCL kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

from xdsl.dialects import func
from xdsl.ir import Operation, SSAValue

from ....dialects import cl
from ..fuse import form_groups
from ..group_choices import GroupChoices
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
"""Most rounds of charging the copies between regions that cannot be merged and re-solving."""

_MOST_DROPPED = 16
"""Most regions that are dropped because they save less than the cost of entering a graph."""

OURS_COST_LESS = "our kernels cost less by the model"


class Chooser:
    """The choice for one function, on a target that has an accelerator.

    The operations that a solution offloads cannot always form one region, since an OpenCL kernel
    may lie between two parts. The copies between such parts are then charged, and the problem is
    solved again. Kernels are forced back to OpenCL if no region of at least `minimum` operations
    contains them. The same happens if their region saves less than the cost of entering a graph.
    The cheapest choice of all rounds wins, copies and entries included.
    """

    def __init__(
        self,
        accelerator: Accelerator,
        function: func.FuncOp,
        target: cl.Target,
        legal: Sequence[Match],
        minimum: int = 1,
        choices: GroupChoices | None = None,
    ):
        self.accelerator = accelerator
        self.function = function
        self.minimum = minimum
        self.entry = accelerator.entry_microseconds(target)
        groups = form_groups(function.body.block.ops, TEXELS, choices)
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
        """The cheapest choice with OpenCL kernels only."""
        self.solution, self.extra = self._solve()
        self.matches = self._matches_of(self.solution)
        """The matches that the accelerator computes, in program order."""

    @property
    def cost(self) -> float:
        """Return the estimated microseconds of the function."""
        return self.solution.cost + self.extra

    def _solve(self) -> tuple[Solution, float]:
        """Return the cheapest choice, and the additional cost of its graphs: copies and entries."""
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
        """Return the results of the region that saves least, if entering it costs more than that.

        Regions are dropped one at a time, since without one the others may save more.
        """
        savings: list[tuple[float, list[SSAValue]]] = []
        for region in regions if self.entry else ():
            results = self._results_of(region.matches)
            ours = self.problem.solve({**forced, **dict.fromkeys(results, False)}, charges)
            savings.append((ours.cost - solution.cost, results))
        least = min(savings, key=itemgetter(0), default=None)
        return least[1] if least and least[0] < self.entry else []

    def _regions(self, matches: Sequence[Match]) -> list[Region]:
        most_tensors = self.accelerator.most_tensors
        return form_regions(self.function, matches, self.minimum, most_tensors=most_tensors)

    def _lost(self, solution: Solution, regions: Sequence[Region]) -> list[SSAValue]:
        """Return the values that a choice assigns to the accelerator but no region writes."""
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
        """Yield pairs of results that two regions compute, with the cost of the copy between them.

        The second result is computed from the first. A kernel may appear on both sides.
        """
        offloaded = {op for region in regions for match in region.matches for op in match.ops}
        for region in regions:
            for match in region.matches:
                for value in match.inputs:
                    if value in region.inputs and value.owner in offloaded:
                        first, second = (self._results_of([m]) for m in (self._match(value), match))
                        yield from (
                            ((a, b), self.offers.copy(value)) for a in first for b in second
                        )

    def _match(self, value: SSAValue) -> Match:
        """Return the match that computes a value."""
        assert isinstance(value.owner, Operation)
        return self.offers.match_of[value.owner]

    def _copies(self, regions: Iterable[Region]) -> float:
        """Return the cost of copies between plain buffers and the opaque tensors of regions."""
        total = 0.0
        for region in regions:
            read = {v for match in region.matches if match.is_opaque for v in match.inputs}
            total += sum(self.offers.copy(v) for v in region.inputs if v in read)
            total += sum(self.offers.copy(v) for v in region.outputs if self._match(v).is_opaque)
        return total

    def reasons(self) -> dict[Operation, str]:
        """Return, for the model's operations whose match is not offloaded, the reason.

        The reason includes the cost difference if the choice is proven optimal.
        """
        kept = {op for match in self.matches for op in match.ops}
        left = [match for match in self.offers.legal if kept.isdisjoint(match.ops)]
        reasons: dict[Operation, str] = {}
        for match in left:
            # Each reason needs a search of its own; that takes too long if searches are inexact.
            reason = self.reason(match) if self.solution.exact else OURS_COST_LESS
            reasons |= dict.fromkeys(match.model, reason)
        return reasons

    def reason(self, match: Match) -> str:
        """Return why a legal match stays with OpenCL kernels: the cost that this saves."""
        if match.is_view:
            return "a reshape outside of graphs is a view of memory"
        forced = dict.fromkeys(self._results_of([match]), True)
        more = self.problem.solve(forced).cost - self.solution.cost if forced else FORBIDDEN
        more += self.entry
        if more >= FORBIDDEN / 2:
            title = self.accelerator.title
            return f"it shares a kernel with operations that {title} cannot compute"
        return f"our kernels cost {more:.1f} us less by the model"

    def times(self) -> Iterator[tuple[Region, float, float]]:
        """Yield each region with its cost, and the cost of OpenCL kernels in its place.

        The latter comes from the cheapest choice without the region, which may differ in layouts
        and other regions, too.
        """
        for region in self._regions(self.matches):
            time = self._time(region)
            without = self.problem.solve(dict.fromkeys(self._results_of(region.matches), False))
            yield region, time + self.entry, time + without.cost - self.solution.cost

    def _results_of(self, matches: Iterable[Match]) -> list[SSAValue]:
        """Return the results of kernels with offers that contain some of the matches."""
        ops = {match.ops[-1] for match in matches}
        tables = (self.offers.whole, self.offers.parts)
        pairs = (pair for table in tables for pair in table.items())
        return [value for value, offer in pairs if not ops.isdisjoint(offer.ops)]

    def _time(self, region: Region) -> float:
        """Return the cost of a region's commands and of the copies of its inputs and outputs."""
        return sum(map(self.offers.time, region.matches)) + self._copies([region])
