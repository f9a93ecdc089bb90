"""Mode `auto`: chooses the matches of accelerators together with the layouts of OpenCL kernels."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import inf
from operator import itemgetter

from xdsl.dialects import func
from xdsl.ir import Block, Operation, SSAValue

from ....dialects import cl
from ....dialects.nn import LayoutAttr
from ..fuse import form_groups
from ..group_choices import GroupChoices
from ..layout.demanded import LayoutSites
from ..layout.explain import LayoutReasons, cost_summary
from ..layout.grouping import TEXELS
from ..layout.kernels import works_of_group
from ..layout.offload import KERNELS, Offer, OffloadProblem
from ..layout.problem import LayoutProblem
from ..layout.solver import FORBIDDEN, Solution
from .accelerator import Accelerator
from .demanded import OffloadSites
from .matches import Match
from .offers import Offers
from .regions import Region, form_regions, region_of

_ROUNDS = 4
"""Most rounds of charging the copies between regions that cannot be merged and re-solving."""

_MOST_DROPPED = 16
"""Most regions that are dropped because they save less than the cost of their graph."""

OURS_COST_LESS = "our kernels cost less by the model"

_Writers = Mapping[SSAValue, Collection[str]]
_Charges = Mapping[tuple[Offer, Offer], float]


class Chooser:
    """The choice for one function, on a target that has accelerators.

    The operations that a solution offloads cannot always form one region, since an OpenCL kernel
    may lie between two parts. The copies between such parts are then charged, and the problem is
    solved again. Kernels are forced back to OpenCL if no region of at least `minimum` operations
    contains them. The same happens if their region saves less than the cost of its graph. The
    cheapest choice of all rounds wins, copies and graphs included. What `choices` demand is kept in
    all rounds.
    """

    def __init__(
        self,
        function: func.FuncOp,
        target: cl.Target,
        legal: Mapping[Accelerator, Sequence[Match]],
        minimum: int = 1,
        groups: GroupChoices | None = None,
        graphs_only: bool = False,
    ):
        self.function = function
        self.target = target
        self.minimum = minimum
        choices = None if groups is None else groups.choices
        formed = form_groups(function.body.block.ops, TEXELS, groups)
        works = [parts[0] for group in formed if len(parts := works_of_group(group)) == 1]
        self.offers = {each: Offers(each, target, legal[each], works) for each in legal}
        layouts = LayoutProblem(function, formed, target, offered=_read_by(self.offers.values()))
        self._layouts: LayoutSites | None = None
        """The sites of layouts; None if no layout is a choice here."""
        self._demanded_layouts: Mapping[SSAValue, LayoutAttr | None] = {}
        if choices is not None and target.lanes and not graphs_only:
            self._layouts = LayoutSites(layouts, choices)
            self._demanded_layouts = self._layouts.demanded()
        if self._demanded_layouts:
            layouts = layouts.demanding(self._demanded_layouts)
        self.problem = _problem(layouts, self.offers)
        self._sites = OffloadSites(self.problem, choices)
        self.kernels_only = self.problem.solve(self.problem.kernels())
        """The cheapest choice with OpenCL kernels only."""
        self.solution, self.extra = self._solve()
        self.matches = self._matches_of(self.solution)
        """The matches that each accelerator computes, in program order."""

    @property
    def cost(self) -> float:
        """Return the estimated microseconds of the function."""
        return self.solution.cost + self.extra

    def note(self) -> None:
        """Note the writers, and the layouts of values that no accelerator computes whole."""
        problem, solution = self.problem, self.solution
        states = {value: problem.state_of(solution, value) for value in problem.variables}
        reasons = LayoutReasons(problem.problem, solution.choice)
        writers = {value: state.writer for value, state in states.items()}
        self._sites.note(writers, partial(reasons.of_offload, problem))
        if self._layouts is None:
            return
        layouts = {
            value: problem.variables[value].layouts[state.layout].layout
            for value, state in states.items()
            if state.whole is None and state.layout is not None
        }
        summary = cost_summary(problem.layouts, solution)
        reason = partial(reasons.of_writer, problem)
        # Recorded layouts do not apply beside accelerators, so the tuner need not search here.
        self._layouts.note(layouts, reason, summary, is_searched=False)

    def _solve(self) -> tuple[Solution, float]:
        """Return the cheapest choice, and the additional cost of its graphs: copies and entries."""
        demanded = self._sites.demanded
        best, best_extra = self.kernels_only, inf if demanded else 0.0
        charges: dict[tuple[Offer, Offer], float] = {}
        writers = dict(demanded)
        for number in range(_ROUNDS + _MOST_DROPPED):
            solution = self.problem.solve(writers, charges)
            if solution.cost >= FORBIDDEN:
                break
            regions = self._regions(self._matches_of(solution))
            entries = sum(map(self._entry, regions))
            cuts = dict(self._cuts(solution, regions))
            lost = list(self._lost(solution, regions))
            poor = self._poor(solution, regions, writers, charges)
            # Charges only steer the search to other choices; they are not costs.
            cost = self.problem.cost_of(solution)
            extra = self._copies(regions) - self.problem.copies_of(solution) + entries
            if not lost and cost + extra < (best.cost + best_extra) * (1 - 1e-9):
                is_first = not charges and len(writers) == len(demanded)
                exact = solution.exact and is_first and not (cuts or entries)
                best, best_extra = Solution(solution.choice, cost, exact), extra
            dropped = [offered for offered in (*lost, *poor) if offered[0] not in demanded]
            if not dropped and not cuts.keys() - charges.keys():
                break
            if number + 1 >= _ROUNDS and not entries:
                break
            charges |= cuts
            for value, accelerator in dropped:
                writers |= self._without([value], accelerator, writers)
        if best.cost + best_extra >= FORBIDDEN:
            self._sites.contradict()
            if self._layouts is not None and self._demanded_layouts:
                raise self._layouts.contradiction(next(iter(self._demanded_layouts)))
        return best, best_extra

    def _poor(
        self,
        solution: Solution,
        regions: Sequence[Region],
        writers: _Writers,
        charges: _Charges,
    ) -> list[tuple[SSAValue, Accelerator]]:
        """Return the results of the region that saves least, if its graph costs more than that.

        Regions are dropped one at a time, since without one the others may save more.
        """
        savings: list[tuple[float, list[tuple[SSAValue, Accelerator]]]] = []
        for region in regions:
            accelerator, entry = region.accelerator, self._entry(region)
            results = self.offers[accelerator].offers_with(region.matches)
            if entry and self._sites.demanded.keys().isdisjoint(results):
                rest = self._without(results, accelerator, writers)
                other = self.problem.solve({**writers, **rest}, charges)
                saved = other.cost - solution.cost - entry
                savings.append((saved, [(value, accelerator) for value in results]))
        least = min(savings, key=itemgetter(0), default=None)
        return least[1] if least and least[0] < 0 else []

    def _without(
        self, values: Iterable[SSAValue], accelerator: Accelerator, writers: _Writers
    ) -> dict[SSAValue, Collection[str]]:
        """Return the writers of values except for an accelerator."""
        offers, name = self.problem.offers, accelerator.name
        theirs = {v: [o.writer for o in offers[v] if o.accelerator == name] for v in values}
        return {
            value: [w for w in writers.get(value, self.problem.writers(value)) if w not in words]
            for value, words in theirs.items()
        }

    def _regions(self, matches: Mapping[Accelerator, Sequence[Match]]) -> list[Region]:
        return form_regions(self.function, matches, self.minimum)

    def _entry(self, region: Region) -> float:
        return region.accelerator.graph_microseconds(region, self.target)

    def _lost(
        self, solution: Solution, regions: Sequence[Region]
    ) -> Iterator[tuple[SSAValue, Accelerator]]:
        """Yield the values that a choice assigns to an accelerator but no region writes."""
        kept = {op for region in regions for match in region.matches for op in match.ops}
        for accelerator, offers in self.offers.items():
            views = {op for match in offers.legal if match.is_view for op in match.ops}
            for value in self.problem.variables:
                offer = self.problem.state_of(solution, value).offer
                if offer is not None and offer.accelerator == accelerator.name:
                    if not (kept | views).issuperset(offer.ops):
                        yield value, accelerator

    def _matches_of(self, solution: Solution) -> dict[Accelerator, list[Match]]:
        taken: dict[str, set[Operation]] = {each.name: set() for each in self.offers}
        for offer in self.problem.offloaded(solution):
            taken[offer.accelerator].update(offer.ops)
        return {
            each: [match for match in offers.legal if taken[each.name].issuperset(match.ops)]
            for each, offers in self.offers.items()
        }

    def _cuts(
        self, solution: Solution, regions: Sequence[Region]
    ) -> Iterator[tuple[tuple[Offer, Offer], float]]:
        """Yield pairs of kernels in two regions of an accelerator, with the cost of the copies.

        The second kernel reads a result of the first. A kernel may appear on both sides. The result
        is copied to a plain buffer, unless one holds it already, and from there.
        """
        states = {v: self.problem.state_of(solution, v) for v in self.problem.variables}
        stored = {value for value, state in states.items() if state.layout is not None}
        home: dict[Operation | Block, Accelerator] = {
            op: region.accelerator
            for region in regions
            for match in region.matches
            for op in match.ops
        }
        for region in regions:
            offers = self.offers[region.accelerator]
            for match in region.matches:
                for value in match.inputs:
                    if value in region.inputs and home.get(value.owner) is region.accelerator:
                        first, second = (offers.whole_with(m) for m in (offers.match(value), match))
                        cost = offers.copy(value) * (1 if value in stored else 2)
                        yield from (((a, b), cost) for a in first for b in second)

    def _copies(self, regions: Iterable[Region]) -> float:
        """Return the cost of copies between plain buffers and the opaque tensors of regions."""
        total = 0.0
        for region in regions:
            offers = self.offers[region.accelerator]
            read = {v for match in region.matches if match.is_opaque for v in match.inputs}
            total += sum(offers.copy(v) for v in region.inputs if v in read)
            total += sum(offers.copy(v) for v in region.outputs if offers.match(v).is_opaque)
        return total

    def reasons(self, accelerator: Accelerator) -> dict[Operation, str]:
        """Return, for the model's operations whose match is not offloaded, the reason.

        The reason includes the cost difference if the choice is proven optimal.
        """
        kept = {op for match in self.matches[accelerator] for op in match.ops}
        legal = self.offers[accelerator].legal
        reasons: dict[Operation, str] = {}
        for match in (match for match in legal if kept.isdisjoint(match.ops)):
            # Each reason needs a search of its own; that takes too long if searches are inexact.
            exact = self.solution.exact
            reason = self._reason(accelerator, match) if exact else OURS_COST_LESS
            reasons |= dict.fromkeys(match.model, reason)
        return reasons

    def _reason(self, accelerator: Accelerator, match: Match) -> str:
        """Return why an accelerator does not compute a legal match: the cost that this saves."""
        if match.is_view:
            return "a reshape outside of graphs is a view of memory"
        offers = self.offers[accelerator].offers_with([match])
        if not self._sites.demanded.keys().isdisjoint(offers):
            return "a choice demands it"
        forced = {value: [offer.writer for offer in found] for value, found in offers.items()}
        more = self._cost_with(forced) - self.solution.cost if forced else FORBIDDEN
        more += self._entry(region_of(accelerator, [match]))
        if more >= FORBIDDEN / 2:
            return f"it shares a kernel with operations that {accelerator.title} cannot compute"
        rivals = [a for a, found in self.matches.items() for m in found if match.ops[-1] in m.ops]
        costs = f"{rivals[0].title} costs" if rivals else "our kernels cost"
        return f"{costs} {more:.1f} us less by the model"

    def times(self) -> Iterator[tuple[Region, float, float]]:
        """Yield each region with its cost, and the cost of OpenCL kernels in its place.

        The latter comes from the cheapest choice without the region, which may differ in layouts
        and other regions, too.
        """
        for region in self._regions(self.matches):
            offers = self.offers[region.accelerator]
            time = sum(map(offers.time, region.matches)) + self._copies([region])
            kernels = dict.fromkeys(offers.offers_with(region.matches), (KERNELS,))
            more = self._cost_with(kernels) - self.solution.cost
            yield region, time + self._entry(region), time + more

    def _cost_with(self, writers: _Writers) -> float:
        """Return the least cost if these compute some values, before the cost of graphs."""
        return self.problem.solve({**self._sites.demanded, **writers}).cost


def _read_by(offers: Iterable[Offers]) -> set[SSAValue]:
    """Return the values that accelerators may read."""
    return {
        value
        for each in offers
        for offer in (*each.parts.values(), *each.whole.values())
        for value in (*offer.opaque_reads, *offer.plain_reads)
    }


def _problem(layouts: LayoutProblem, offers: Mapping[Accelerator, Offers]) -> OffloadProblem:
    """Return the problem of all accelerators' offers."""
    found: dict[SSAValue, list[Offer]] = {}
    imports: dict[tuple[str, SSAValue], float] = {}
    exports: dict[tuple[str, SSAValue], float] = {}
    for accelerator, each in offers.items():
        for value, offer in (*each.parts.items(), *each.whole.items()):
            found.setdefault(value, []).append(offer)
        imports |= {(accelerator.name, value): cost for value, cost in each.imports.items()}
        exports |= {(accelerator.name, value): cost for value, cost in each.exports.items()}
    return OffloadProblem(layouts, found, imports, exports)
