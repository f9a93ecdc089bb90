"""The choice between our kernels and accelerators is the best of all possible ones."""

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
from clopt.passes.nn.layout.explain import layout_transforms
from clopt.passes.nn.layout.grouping import TEXELS
from clopt.passes.nn.layout.kernels import Work
from clopt.passes.nn.layout.offload import KERNELS, Offer, OffloadProblem
from clopt.passes.nn.layout.problem import LayoutProblem
from clopt.targets import with_facts
from support import effort
from support.nn.layout_graphs import AUTO, PREFER, Graph, layouts

OFF = AUTO.with_facts({"texture": "off"})
TARGETS = {"auto": AUTO, "prefer": PREFER, "off": OFF}

Choice = dict[SSAValue, tuple[Offer | None, Candidate]]
"""The offer accepted for each kernel, and the layout of its result where that is ours."""


@dataclass
class Case:
    """A problem, and the same costs without the problem's tables."""

    target: cl.Target
    layouts: LayoutProblem
    offers: dict[SSAValue, list[Offer]]
    copies: dict[str, float]
    """Microseconds to copy a value, by accelerator."""
    works: dict[SSAValue, Work] = field(init=False)
    rests: dict[Offer, Work] = field(default_factory=dict[Offer, Work])

    def __post_init__(self) -> None:
        self.model = LayoutCostModel(self.target)
        self.read, self.transform = cache(self.model.read), cache(self.model.transform)
        self.works = self.layouts.works
        values = [
            *self.layouts.variables,
            *(offer.result for offers in self.offers.values() for offer in offers),
        ]
        copies = {(name, v): copy for name, copy in self.copies.items() for v in values}
        self.problem = OffloadProblem(self.layouts, self.offers, copies, copies)

    def choices(self) -> Iterator[Choice]:
        """All of them."""
        possible: list[list[tuple[Offer | None, Candidate]]] = []
        for value in self.works:
            ours = self.layouts.variables[value].candidates
            found: list[tuple[Offer | None, Candidate]] = [(None, each) for each in ours]
            for offer in self.offers.get(value, ()):
                found += [(offer, each) for each in ([PLAIN] if offer.is_whole else ours)]
            possible.append(found)
        for chosen in product(*possible):
            yield dict(zip(self.works, chosen, strict=True))

    def cost(self, choice: Choice) -> float:
        """Each kernel and each copy, one after the other."""
        total = 0.0
        imported: set[tuple[str, SSAValue]] = set()
        exported: set[SSAValue] = set()
        for value, work in self.works.items():
            offer, candidate = choice[value]
            kernel = work
            if offer is not None:
                total += offer.microseconds
                imported |= {(offer.accelerator, read) for read in offer.opaque_reads}
                for read in offer.plain_reads:
                    total += self.to_plain(read, self.place(read, choice, exported))
            if offer is not None and not offer.is_whole:
                rest = [op for op in work.ops if op not in offer.ops]
                inputs = [
                    v for v in (*work.inputs, offer.result) if any(v in o.operands for o in rest)
                ]
                kernel = self.rests.setdefault(offer, Work(rest, inputs, value))
                total += self.copies[offer.accelerator] if offer.writes_opaque else 0.0
            if offer is None or not offer.is_whole:
                total += self.kernel(kernel, candidate, choice, exported)
            if value in self.layouts.returned:
                total += self.to_plain(value, self.place(value, choice, exported))
        for name, value in imported:
            writer = choice[value][0] if value in choice else None
            if writer is not None and writer.is_whole and writer.writes_opaque:
                if writer.accelerator == name:
                    continue
            total += self.copies[name]
        for value in {value for _, value in imported}:
            names = {name for name, read in imported if read is value}
            writer = choice[value][0] if value in choice else None
            held = writer is not None and writer.is_whole and writer.writes_opaque
            if not held or names != {writer.accelerator}:
                total += self.to_plain(value, self.place(value, choice, exported))
        writers = [choice[value][0] for value in exported]
        return total + sum(self.copies[offer.accelerator] for offer in writers if offer)

    def place(self, value: SSAValue, choice: Choice, exported: set[SSAValue]) -> Candidate:
        """Where an operation that is not opaque finds a value."""
        if value not in choice:
            return PLAIN
        offer, candidate = choice[value]
        if offer is None or not offer.is_whole:
            return candidate
        if offer.writes_opaque:
            exported.add(value)
        return PLAIN

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


def case(
    graph: Graph, result: SSAValue, target: cl.Target, seed: int, copies: dict[str, float]
) -> Case:
    """A case with offers of random cost: for kernels that end in no `exp`, and for the convolution
    before one.
    """
    graph.function.body.block.add_op(func.ReturnOp(result))
    groups = form_groups(graph.function.body.block.ops, TEXELS)
    # Kernels may write plain values for accelerators, even where images are preferred.
    results = [group.ops[-1].results[0] for group in groups]
    layouts = LayoutProblem(graph.function, groups, target, offered=results)
    draw = random.Random(seed)
    offers: dict[SSAValue, list[Offer]] = {}
    for name, (value, work) in product(copies, layouts.works.items()):
        ops, last = list(work.ops), work.ops[-1]
        part = isinstance(last, nn.UnaryOp) and last.kind.data is nn.UnaryKind.EXP
        if part:
            ops.pop()
        if not ops or draw.random() < 0.2:
            continue
        reads = [v for op in ops for v in op.operands if v in layouts.variables]
        opaque = draw.random() < 0.8
        offer = Offer(
            name,
            not part,
            ops,
            ops[-1].results[0],
            draw.uniform(1, 30),
            frozenset(reads if opaque else ()),
            frozenset(() if opaque else reads),
            opaque,
        )
        offers.setdefault(value, []).append(offer)
    return Case(target, layouts, offers, copies)


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
@pytest.mark.parametrize("accelerators", ["one", "one and two"])
def test_the_choice_is_the_best_of_all(name: str, target: str, accelerators: str):
    offloads: set[int] = set()
    chosen_ones: set[str] = set()
    for seed in effort.seeds(9):
        graph = Graph((1, 8, 20, 20))
        copies = {"one": (0.5, 3.0, 15.0)[seed % 3], "two": (4.0, 0.7)[seed % 2]}
        copies = {each: copies[each] for each in accelerators.split(" and ")}
        drawn = case(graph, GRAPHS[name](graph), TARGETS[target], seed, copies)
        solution = drawn.problem.solve()
        assert solution.exact
        assert solution.cost == pytest.approx(min(map(drawn.cost, drawn.choices())), rel=1e-9)
        chosen: Choice = {}
        for value in drawn.works:
            state = drawn.problem.state_of(solution, value)
            layouts = drawn.problem.variables[value].layouts
            chosen[value] = state.offer, PLAIN if state.layout is None else layouts[state.layout]
        assert drawn.cost(chosen) == pytest.approx(solution.cost, rel=1e-9)
        offloads.add(len(drawn.problem.offloaded(solution)))
        chosen_ones |= {offer.accelerator for offer in drawn.problem.offloaded(solution)}
    assert len(offloads) > 1
    assert chosen_ones == set(copies)


@pytest.mark.parametrize("name", GRAPHS)
def test_the_choice_with_given_writers_is_the_best_of_all_such(name: str):
    for seed in effort.seeds(6):
        graph = Graph((1, 8, 20, 20))
        drawn = case(graph, GRAPHS[name](graph), AUTO, seed, {"one": 2.0, "two": 1.0})
        draw = random.Random(seed)
        writers = {
            value: (draw.choice(drawn.problem.writers(value)),)
            for value in drawn.works
            if draw.random() < 0.7
        }
        solution = drawn.problem.solve(writers)
        costs = [drawn.cost(each) for each in drawn.choices() if may_be(each, writers)]
        assert solution.cost == pytest.approx(min(costs), rel=1e-9)


def test_a_kernel_writes_plain_values_for_an_accelerator():
    """Where images are preferred, it would else write an image, which another kernel copies."""
    target = with_facts(PREFER, {"clml": "auto", "winograd": "off"})
    graph = Graph((1, 64, 56, 56))
    y = graph.add(nn.UnaryOp(graph.conv(graph.x, 64, 1), "exp"))
    module = graph.chosen(graph.conv(y, 256, 3), target=target)
    assert "clml.call" in str(module)
    assert layouts(module) == ["plain"]
    assert [each.source for each in layout_transforms(module)] == ["plain"]


def may_be(choice: Choice, writers: dict[SSAValue, tuple[str]]) -> bool:
    offers = {value: choice[value][0] for value in writers}
    words = {v: KERNELS if offer is None else offer.writer for v, offer in offers.items()}
    return all(word in writers[value] for value, word in words.items())
