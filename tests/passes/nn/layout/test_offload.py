"""The choice between our kernels and an accelerator is the best of all possible ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import product

import pytest
from xdsl.dialects import func
from xdsl.ir import SSAValue

from clopt.dialects import cl, nn
from clopt.passes.nn.fuse import form_groups
from clopt.passes.nn.layout.candidates import PLAIN, Candidate
from clopt.passes.nn.layout.cost import LayoutCostModel
from clopt.passes.nn.layout.grouping import TEXELS
from clopt.passes.nn.layout.kernels import Work
from clopt.passes.nn.layout.offload import Offer, OffloadProblem, Writer
from clopt.passes.nn.layout.problem import LayoutProblem
from support import effort
from support.nn.layout_graphs import AUTO, PREFER, Graph

OFF = AUTO.with_facts({"texture": "off"})
TARGETS = {"auto": AUTO, "prefer": PREFER, "off": OFF}

Choice = dict[SSAValue, tuple[Writer, Candidate]]
"""The writer of each kernel's result, and its layout where that is ours."""


@dataclass
class Case:
    """A problem, and the same costs without the problem's tables."""

    target: cl.Target
    layouts: LayoutProblem
    offers: dict[SSAValue, Offer]
    splits: dict[SSAValue, Offer]
    copy: float
    works: dict[SSAValue, Work] = field(init=False)
    rests: dict[SSAValue, Work] = field(default_factory=dict[SSAValue, Work])

    def __post_init__(self) -> None:
        self.model = LayoutCostModel(self.target)
        self.read, self.transform = cache(self.model.read), cache(self.model.transform)
        self.works = self.layouts.works
        copies = {value: self.copy for value in self.layouts.variables}
        copies |= {offer.result: self.copy for offer in self.splits.values()}
        self.problem = OffloadProblem(
            "clml", self.layouts, self.offers, self.splits, copies, copies
        )

    def choices(self) -> Iterator[Choice]:
        """All of them."""
        possible: list[list[tuple[Writer, Candidate]]] = []
        for value in self.works:
            ours = self.layouts.variables[value].candidates
            found = [(Writer.OURS, candidate) for candidate in ours]
            if value in self.offers:
                found.append((Writer.WHOLE, PLAIN))
            if value in self.splits:
                found += [(Writer.SPLIT, candidate) for candidate in ours]
            possible.append(found)
        for chosen in product(*possible):
            yield dict(zip(self.works, chosen, strict=True))

    def cost(self, choice: Choice) -> float:
        """Each kernel and each copy, one after the other."""
        total = 0.0
        imported: set[SSAValue] = set()
        exported: set[SSAValue] = set()
        for value, work in self.works.items():
            writer, candidate = choice[value]
            offer = {Writer.WHOLE: self.offers, Writer.SPLIT: self.splits}.get(writer, {}).get(
                value
            )
            kernel = work
            if offer is not None:
                total += offer.microseconds
                imported |= offer.opaque_reads
                for read in offer.plain_reads:
                    total += self.to_plain(read, self.place(read, choice, exported))
            if writer is Writer.SPLIT:
                assert offer is not None
                rest = [op for op in work.ops if op not in offer.ops]
                inputs = [
                    v for v in (*work.inputs, offer.result) if any(v in o.operands for o in rest)
                ]
                kernel = self.rests.setdefault(value, Work(rest, inputs, value))
                total += self.copy if offer.writes_opaque else 0.0
            if writer is not Writer.WHOLE:
                total += self.kernel(kernel, candidate, choice, exported)
            if value in self.layouts.returned:
                total += self.to_plain(value, self.place(value, choice, exported))
        opaque = {v for v, (writer, _) in choice.items() if writer is Writer.WHOLE}
        opaque = {v for v in opaque if self.offers[v].writes_opaque}
        for value in imported - opaque:
            total += self.copy + self.to_plain(value, self.place(value, choice, set()))
        return total + self.copy * len(exported)

    def place(self, value: SSAValue, choice: Choice, exported: set[SSAValue]) -> Candidate:
        """Where an operation that is not opaque finds a value."""
        if value not in choice:
            return PLAIN
        writer, candidate = choice[value]
        if writer is Writer.WHOLE and self.offers[value].writes_opaque:
            exported.add(value)
        return PLAIN if writer is Writer.WHOLE else candidate

    def to_plain(self, value: SSAValue, candidate: Candidate) -> float:
        return self.transform(nn.plain_type(value.type), candidate.layout, None)

    def kernel(
        self, work: Work, result: Candidate, choice: Choice, exported: set[SSAValue]
    ) -> float:
        total = self.target.machine.launch_microseconds
        total += self.model.write(nn.tensor_type(work.result), result.layout)
        for value in work.inputs:
            type_ = nn.plain_type(value.type)
            if nn.constant_of(value) is not None:
                total += self.model.traffic(type_, None)
                continue
            if value in self.layouts.variables:
                source, readable = (
                    self.place(value, choice, exported),
                    self.layouts.variables[value].readable,
                )
            else:
                source, readable = PLAIN, [*self.layouts.candidates_for(value), PLAIN]
            total += min(
                self.transform(type_, source.layout, c.layout)
                + self.read(work, value, c.layout, result.layout)
                for c in readable
            )
        return total


def case(graph: Graph, result: SSAValue, target: cl.Target, seed: int, copy: float) -> Case:
    """A case with offers of random cost: for kernels that end in no `exp`, and for the convolution
    before one.
    """
    graph.function.body.block.add_op(func.ReturnOp(result))
    groups = form_groups(graph.function.body.block.ops, TEXELS)
    layouts = LayoutProblem(graph.function, groups, target)
    draw = random.Random(seed)
    offers: dict[SSAValue, Offer] = {}
    splits: dict[SSAValue, Offer] = {}
    for value, work in layouts.works.items():
        ops, last = list(work.ops), work.ops[-1]
        part = isinstance(last, nn.UnaryOp) and last.kind.data is nn.UnaryKind.EXP
        if part:
            ops.pop()
        if not ops or draw.random() < 0.2:
            continue
        reads = [v for op in ops for v in op.operands if v in layouts.variables]
        opaque = draw.random() < 0.8
        offer = Offer(
            ops,
            ops[-1].results[0],
            draw.uniform(1, 30),
            frozenset(reads if opaque else ()),
            frozenset(() if opaque else reads),
            opaque,
        )
        (splits if part else offers)[value] = offer
    return Case(target, layouts, offers, splits, copy)


def chain(graph: Graph) -> SSAValue:
    y = graph.relu(graph.conv(graph.x, 16))
    y = graph.add(nn.UnaryOp(graph.conv(y, 12), "exp"))
    return graph.conv(graph.pool(y), 8, 1)


def residual(graph: Graph) -> SSAValue:
    y = graph.relu(graph.conv(graph.x, 16))
    z = graph.conv(graph.relu(graph.conv(y, 16)), 16)
    return graph.relu(graph.binary(z, y))


def two_readers(graph: Graph) -> SSAValue:
    y = graph.relu(graph.conv(graph.x, 24))
    return graph.concat(graph.conv(y, 8), graph.add(nn.UnaryOp(graph.conv(y, 5, 1), "exp")))


def around(graph: Graph) -> SSAValue:
    y = graph.pool(graph.conv(graph.x, 12))
    return graph.binary(graph.conv(graph.add(nn.UnaryOp(y, "exp")), 12), y, "mul")


GRAPHS = {f.__name__: f for f in (chain, residual, two_readers, around)}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("target", TARGETS)
def test_the_choice_is_the_best_of_all(name: str, target: str):
    offloads: set[int] = set()
    for seed in effort.seeds(9):
        graph = Graph((1, 8, 20, 20))
        copy = (0.5, 3.0, 15.0)[seed % 3]
        drawn = case(graph, GRAPHS[name](graph), TARGETS[target], seed, copy)
        solution = drawn.problem.solve()
        assert solution.exact
        assert solution.cost == pytest.approx(min(map(drawn.cost, drawn.choices())), rel=1e-9)
        chosen: Choice = {}
        for value in drawn.works:
            state = drawn.problem.state_of(solution, value)
            layouts = drawn.problem.variables[value].layouts
            chosen[value] = state.writer, PLAIN if state.layout is None else layouts[state.layout]
        assert drawn.cost(chosen) == pytest.approx(solution.cost, rel=1e-9)
        offloads.add(len(drawn.problem.offloaded(solution)))
    assert len(offloads) > 1
