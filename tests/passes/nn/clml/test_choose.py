"""Mode `auto` on nn graphs: the best of all partitions, by their costs once they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, combinations, product
from typing import ClassVar

import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from clopt.context import CloptContext
from clopt.dialects import cl, clml, nn
from clopt.messages.explanations import tables
from clopt.passes.nn.choose import NNChoosePass
from clopt.passes.nn.clml.accelerator import CLML
from clopt.passes.nn.clml.cost import CommandCosts
from clopt.passes.nn.clml.graphs import outline
from clopt.passes.nn.clml.matching import find_matches
from clopt.passes.nn.forms import rewrite
from clopt.passes.nn.fuse import form_groups
from clopt.passes.nn.layout.cost import LayoutCostModel
from clopt.passes.nn.layout.grouping import TEXELS
from clopt.passes.nn.layout.kernels import Work, work_of_region, works_of_group
from clopt.passes.nn.layout.problem import LayoutProblem
from clopt.passes.nn.offload.calls import sort_block
from clopt.passes.nn.offload.chooser import Chooser
from clopt.passes.nn.offload.copied import Copied
from clopt.passes.nn.offload.matches import Match
from clopt.passes.nn.offload.regions import Region, form_regions
from clopt.targets import with_facts
from support.nn.layout_graphs import AUTO, Graph

BASE = with_facts(AUTO, {"clml": "auto", "winograd": "off"})
TIMES = tuple(
    f"clml_{name}"
    for name in (
        "convolution_mads_per_nanosecond",
        "depthwise_mads_per_nanosecond",
        "matmul_mads_per_nanosecond",
        "bandwidth",
        "launch_microseconds",
    )
)
"""The facts that say how fast CLML is."""


def function_of(module: ModuleOp) -> func.FuncOp:
    return next(op for op in module.ops if isinstance(op, func.FuncOp))


def chooser_of(function: func.FuncOp, target: cl.Target) -> Chooser:
    """The choice for a function, which gets the forms of our kernels."""
    ctx, model = CloptContext(), Copied(function)
    legal = find_matches(model.function, target, ctx.weights).legal
    legal = model.in_function(legal, rewrite(function, target, ctx))
    return Chooser(function, target, {CLML(): legal})


def legal_of(chooser: Chooser) -> Sequence[Match]:
    (offers,) = chooser.offers.values()
    return offers.legal


def matches_of(chooser: Chooser) -> Sequence[Match]:
    (matches,) = chooser.matches.values()
    return matches


def kernel_costs(module: ModuleOp, target: cl.Target) -> float:
    """The costs of the kernels that compute the operations outside of all graphs."""
    function = function_of(module)
    rewrite(function, target, CloptContext())
    groups = form_groups(function.body.block.ops, TEXELS)
    model = LayoutCostModel(target)
    total = LayoutProblem(function, groups, target).solve().cost
    for work in (work for group in groups for work in works_of_group(group)):
        if not work.is_view:
            constants = [v for v in work.inputs if nn.constant_of(v) is not None]
            total += target.machine.launch_microseconds
            total += sum(model.traffic(nn.tensor_type(v), None) for v in constants)
    return total


def command_costs(module: ModuleOp, target: cl.Target) -> float:
    """The costs of the commands of all graphs, copies included."""
    graphs = [op for op in module.ops if isinstance(op, clml.GraphOp)]
    return sum(CommandCosts(target).command(op) for graph in graphs for op in graph.commands)


def partitioned(module: ModuleOp, target: cl.Target, numbers: set[int]) -> ModuleOp:
    """A copy of the module with graphs of the matches with these numbers."""
    module = module.clone()
    function = function_of(module)
    weights = CloptContext().weights
    legal = find_matches(function, target, weights).legal
    chosen = [match for i, match in enumerate(legal) if i in numbers]
    regions = form_regions(function, {CLML(): chosen})
    graphs = [outline(region, f"clml_{i}", weights)[0] for i, region in enumerate(regions)]
    sort_block(function)
    module.body.block.insert_ops_before(graphs, function)
    return module


def subsets(matches: list[Match]) -> Iterator[set[int]]:
    numbers = range(len(matches))
    yield from map(
        set, chain.from_iterable(combinations(numbers, n) for n in range(len(matches) + 1))
    )


def residual(graph: Graph) -> SSAValue:
    y = graph.relu(graph.conv(graph.x, 32))
    z = graph.conv(graph.relu(graph.conv(y, 32)), 32)
    return graph.conv(graph.binary(z, y), 16, 1)


def around(graph: Graph) -> SSAValue:
    """An `exp`, which CLML cannot compute, stands between two parts that it can."""
    y = graph.conv(graph.x, 32)
    z = graph.conv(graph.add(nn.UnaryOp(graph.pool(y), "exp")), 32)
    return graph.conv(graph.binary(z, graph.pool(y)), 8)


def two_readers(graph: Graph) -> SSAValue:
    y = graph.relu(graph.conv(graph.x, 24))
    return graph.concat(graph.conv(y, 8), graph.conv(y, 8, 1))


def classifier(graph: Graph) -> SSAValue:
    y = graph.mean(graph.relu(graph.conv(graph.x, 64)))
    flat = graph.add(nn.ReshapeOp(y, (1, 64)))
    return graph.binary(graph.add(nn.MatmulOp(flat, graph.constant(64, 100))), graph.constant(100))


def transposed(graph: Graph) -> SSAValue:
    """Our kernels interleave the results of an ordinary convolution; CLML has no `exp`."""
    w = graph.constant(24, 64, 4, 4)
    y = graph.add(nn.ConvTransposeOp(graph.x, w, None, strides=[2, 2], pads=[1, 1, 1, 1]))
    return graph.conv(graph.add(nn.UnaryOp(graph.relu(y), "exp")), 32)


GRAPHS = {f.__name__: f for f in (residual, around, two_readers, classifier, transposed)}


# With Winograd it would be best to give CLML the last operation of a kernel of `around` alone,
# which is no choice: CLML takes the first operations of a kernel, or all.
CASES = [(name, "auto") for name in GRAPHS]
CASES += [(name, "prefer") for name in GRAPHS if name != "around"]


@pytest.mark.parametrize(("name", "winograd"), CASES)
@pytest.mark.parametrize("texture", ["auto", "off"])
def test_the_choice_is_the_best_partition(name: str, winograd: str, texture: str):
    graph = Graph((1, 24, 28, 28))
    base = with_facts(BASE, {"texture": texture, "winograd": winograd})
    module = graph.module(GRAPHS[name](graph), target=base)
    function = function_of(module)
    legal = find_matches(function, base, CloptContext().weights).legal
    every = [(numbers, partitioned(module, base, numbers)) for numbers in subsets(legal)]
    kernels = [kernel_costs(written, base) for _, written in every]
    offloads: set[int] = set()
    for rate, launch in ((10, 60.0), (60.0, 15.0), (270.0, 10.0), (360.0, 2.0), (5000.0, 0.1)):
        facts = {"clml_convolution_mads_per_nanosecond": rate, "clml_launch_microseconds": launch}
        target = with_facts(base, facts)
        costs = [
            ours + command_costs(written, target)
            for ours, (_, written) in zip(kernels, every, strict=True)
        ]
        chooser = chooser_of(function_of(module.clone()), target)
        matches = matches_of(chooser)
        chosen = {i for i, match in enumerate(legal_of(chooser)) if match in matches}
        mine = next(i for i, (numbers, _) in enumerate(every) if numbers == chosen)
        assert costs[mine] == pytest.approx(min(costs), rel=1e-6)
        assert chooser.cost == pytest.approx(costs[mine], rel=1e-6)
        offloads.add(len(chosen))
    assert len(offloads) > 1


def price(module: ModuleOp, target: cl.Target) -> float:
    """The cost of what stands in a module: commands, kernels in their layouts, transforms."""
    model, total = LayoutCostModel(target), command_costs(module, target)
    works: list[tuple[Work, Sequence[SSAValue], SSAValue]] = []
    for op in function_of(module).body.block.ops:
        match op:
            case nn.RelayoutOp() if not isinstance(op.x.owner, nn.ConstantOp):
                layouts = nn.layout_of(op.x), nn.layout_of(op.result)
                total += model.transform(nn.tensor_type(op.x), *layouts)
            case nn.FusedOp():
                works.append((work_of_region(op), op.inputs, op.outputs[0]))
            case _:
                pass
    for group in form_groups(function_of(module).body.block.ops, TEXELS):
        works += [(work, work.inputs, work.result) for work in works_of_group(group)]
    for work, inputs, output in works:
        result = nn.layout_of(output)
        if not work.is_view:
            total += target.machine.launch_microseconds + model.write(
                nn.plain_type(output.type), result
            )
        for value, operand in zip(work.inputs, inputs, strict=True):
            if nn.constant_of(operand) is None:
                total += model.read(work, value, nn.layout_of(operand), result)
            elif not work.is_view:
                total += model.traffic(nn.plain_type(operand.type), None)
    return total


def wide(graph: Graph) -> SSAValue:
    """More operands than a kernel of ours can have; CLML takes them in one command."""
    parts = [graph.conv(graph.x, 4, 1) for _ in range(130)]
    return graph.conv(graph.concat(*parts), 64)


WRITTEN = GRAPHS | {"wide": wide}


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("texture", ["auto", "prefer", "off"])
def test_what_is_written_costs_what_was_chosen(name: str, texture: str):
    """Writers and layouts in the module are those of the one solution."""
    graph = Graph((1, 24, 28, 28))
    module = graph.module(WRITTEN[name](graph))
    kinds: set[bool] = set()
    for rate, launch in ((60.0, 15.0), (270.0, 10.0), (5000.0, 0.1)):
        facts = {"clml_convolution_mads_per_nanosecond": rate, "clml_launch_microseconds": launch}
        target = with_facts(BASE, {"texture": texture} | facts)
        chooser = chooser_of(function_of(module.clone()), target)
        written = module.clone()
        cl.set_target(written, target)
        NNChoosePass().apply(CloptContext(), written)
        written.verify()
        assert price(written, target) == pytest.approx(chooser.cost, rel=1e-6)
        kinds.add(bool(matches_of(chooser)))
    assert True in kinds


def network(graph: Graph) -> SSAValue:
    y = graph.relu(graph.conv(graph.x, 64))
    z = graph.relu(graph.conv(y, 64))
    z = graph.relu(graph.binary(graph.conv(z, 64), y))
    z = graph.add(nn.UnaryOp(graph.conv(z, 64, 1), "exp"))
    return graph.conv(graph.pool(z), 64)


def test_a_slower_clml_never_computes_more():
    graph = Graph((1, 64, 56, 56))
    function = function_of(graph.module(network(graph)))
    legal = find_matches(function, BASE, CloptContext().weights).legal
    for texture in ("auto", "prefer", "off"):
        base = with_facts(BASE, {"texture": texture})
        counts: list[int] = []
        for factor in (0.1, 0.5, 0.8, 0.9, 1.0, 1.1, 1.3, 2.0, 5.0):
            facts = {
                name: fact * factor if name == "clml_launch_microseconds" else fact / factor
                for name in TIMES
                if isinstance(fact := base.facts.get(name), float)
            }
            chooser = Chooser(function, with_facts(base, facts), {CLML(): legal})
            counts.append(len(matches_of(chooser)))
        assert counts == sorted(counts, reverse=True)
        assert counts[0] == len(legal)
        assert counts[-1] == 0


class Second(CLML):
    """Another accelerator: CLML with other costs and a cost for each tensor of a graph."""

    name: ClassVar[str] = "second"
    title: ClassVar[str] = "Second"

    def __init__(self, own: cl.Target, transfer: float) -> None:
        self.own = own
        self.transfer = transfer

    def microseconds(self, match: Match, target: cl.Target) -> float:
        return super().microseconds(match, self.own)

    def copy_microseconds(self, size: int, target: cl.Target) -> float:
        return super().copy_microseconds(size, self.own)

    def graph_microseconds(self, region: Region, target: cl.Target) -> float:
        return self.transfer * (len(region.inputs) + len(region.outputs))


def costs_of_all(module: ModuleOp, accelerators: Sequence[CLML], target: cl.Target) -> list[float]:
    """The costs of each way to give every match to one of the accelerators, or to none."""
    costs: list[float] = []
    count = len(find_matches(function_of(module), target, CloptContext().weights).legal)
    for owners in product((None, *accelerators), repeat=count):
        written, weights = module.clone(), CloptContext().weights
        function = function_of(written)
        legal = list(zip(find_matches(function, target, weights).legal, owners, strict=True))
        chosen = {each: [m for m, owner in legal if owner is each] for each in accelerators}
        cost = 0.0
        for i, region in enumerate(form_regions(function, chosen)):
            made, _ = outline(region, f"clml_{i}", weights)
            own = getattr(region.accelerator, "own", target)
            cost += sum(map(CommandCosts(own).command, made.commands))
            cost += region.accelerator.graph_microseconds(region, target)
        sort_block(function)
        costs.append(cost + kernel_costs(written, target))
    return costs


@pytest.mark.parametrize("transfer", [0.0, 1.5])
@pytest.mark.parametrize("name", ["two_readers", "classifier"])
def test_two_accelerators_share_the_best_partition(name: str, transfer: float):
    graph = Graph((1, 24, 28, 28))
    first = {"clml_convolution_mads_per_nanosecond": 360.0, "clml_launch_microseconds": 2.0}
    target = with_facts(BASE, first)
    module = graph.module(GRAPHS[name](graph), target=target)
    seen: set[tuple[bool, ...]] = set()
    for rate, launch, bandwidth in ((60.0, 0.2, 500.0), (60.0, 4.0, 50.0), (3000.0, 1.0, 50.0)):
        second = {"clml_convolution_mads_per_nanosecond": rate, "clml_launch_microseconds": launch}
        own = with_facts(target, second | {"clml_bandwidth": bandwidth})
        accelerators = CLML(), Second(own, transfer)
        function = function_of(module.clone())
        legal = {
            a: find_matches(function, target, CloptContext().weights).legal for a in accelerators
        }
        chooser = Chooser(function, target, legal)
        assert chooser.cost == pytest.approx(
            min(costs_of_all(module, accelerators, target)), rel=1e-6
        )
        seen.add(tuple(map(bool, chooser.matches.values())))
    mixed = {(True, True)} if name == "classifier" and not transfer else set[tuple[bool, ...]]()
    assert seen == {(True, False), (False, True)} | mixed


class Entered(CLML):
    """CLML with a cost for each graph."""

    def __init__(self, entry: float) -> None:
        self.entry = entry

    def graph_microseconds(self, region: Region, target: cl.Target) -> float:
        return self.entry


@pytest.mark.parametrize("name", ["around", "residual"])
def test_entries_of_graphs_are_weighed(name: str):
    """A more expensive entry makes fewer graphs, and each choice is the best of all partitions.

    In `around` at 8 us it is the second best: the search drops whole graphs, and there an operation
    would have to move from one graph to the other.
    """
    facts = {"clml_convolution_mads_per_nanosecond": 360.0, "clml_launch_microseconds": 2.0}
    target = with_facts(BASE, facts)
    graph = Graph((1, 24, 28, 28))
    module = graph.module(GRAPHS[name](graph), target=target)
    function = function_of(module)
    legal = find_matches(function, target, CloptContext().weights).legal
    costs: list[tuple[int, float]] = []
    for numbers in subsets(legal):
        each = partitioned(module, target, numbers)
        count = sum(isinstance(op, clml.GraphOp) for op in each.ops)
        costs.append((count, command_costs(each, target) + kernel_costs(each, target)))
    graphs: list[int] = []
    for entry in (0.0, 2.0, 8.0, 32.0, 1e4):
        chooser = Chooser(function, target, {Entered(entry): legal})
        best = sorted(cost + entry * count for count, cost in costs)
        place = 1 if (name, entry) == ("around", 8.0) else 0
        assert chooser.cost == pytest.approx(best[place], rel=1e-6), entry
        graphs.append(len(form_regions(function, chooser.matches)))
    assert graphs == sorted(graphs, reverse=True)
    assert graphs[0] > graphs[-1] == 0


def test_a_cheap_operation_between_kernels_of_ours_stays_there():
    """A pool alone is cheaper in CLML, but not with copies to it and from it."""
    graph = Graph((1, 32, 56, 56))
    y = graph.add(nn.UnaryOp(graph.conv(graph.x, 32), "exp"))
    z = graph.add(nn.UnaryOp(graph.pool(y), "exp"))
    target = with_facts(
        BASE, {"clml_convolution_mads_per_nanosecond": 20.0, "clml_launch_microseconds": 1.0}
    )
    function = function_of(graph.module(graph.conv(z, 32)))
    legal = find_matches(function, target, CloptContext().weights).legal
    chooser = Chooser(function, target, {CLML(): legal})
    assert legal_of(chooser)
    assert not matches_of(chooser)
    free = with_facts(target, {"clml_launch_microseconds": 0.0, "clml_bandwidth": 1e6})
    chooser = Chooser(function, free, {CLML(): legal})
    assert [type(match.ops[0]) for match in matches_of(chooser)] == [nn.PoolOp]


def test_the_large_convolution_goes_and_the_small_one_stays():
    graph = Graph((1, 256, 56, 56))
    large = graph.conv(graph.x, 256)
    small = graph.conv(graph.add(nn.UnaryOp(graph.pool(large), "exp")), 4, 1)
    function = function_of(graph.module(small))
    legal = find_matches(function, BASE, CloptContext().weights).legal
    chooser = Chooser(function, BASE, {CLML(): legal})
    assert large in [match.result for match in matches_of(chooser)]
    assert small not in [match.result for match in matches_of(chooser)]


def test_the_first_operations_of_a_kernel_can_be_in_clml():
    """CLML has no `exp`: the convolution goes without it, and both are not one kernel any more."""
    graph = Graph((1, 256, 56, 56))
    y = graph.add(nn.UnaryOp(graph.conv(graph.x, 256), "exp"))
    function = function_of(graph.module(y))
    legal = find_matches(function, BASE, CloptContext().weights).legal
    chooser = Chooser(function, BASE, {CLML(): legal})
    assert [type(match.ops[-1]) for match in matches_of(chooser)] == [nn.ConvOp]


def test_transposed_convolutions_are_work_for_our_kernels_too():
    graph = Graph((1, 512, 14, 14))
    w = graph.constant(512, 512, 4, 4)
    y = graph.add(nn.ConvTransposeOp(graph.x, w, None, strides=[2, 2], pads=[1, 1, 1, 1]))
    function = function_of(graph.module(y))
    legal = find_matches(function, BASE, CloptContext().weights).legal
    assert [m.result for m in matches_of(Chooser(function, BASE, {CLML(): legal}))] == [y]
    slow = with_facts(BASE, {"clml_convolution_mads_per_nanosecond": 50.0})
    assert not matches_of(Chooser(function, slow, {CLML(): legal}))


def test_the_choice_is_explained():
    graph = Graph((1, 256, 56, 56))
    y = graph.add(nn.UnaryOp(graph.conv(graph.x, 256), "exp"))
    small = graph.conv(graph.pool(y), 4, 1)
    module = graph.module(small, target=BASE)
    function = function_of(module)
    legal = find_matches(function, BASE, CloptContext().weights).legal
    chooser = Chooser(function, BASE, {CLML(): legal})
    ctx = CloptContext(explanations=[])
    NNChoosePass().apply(ctx, module)
    text = "\n".join(map(str, tables(ctx.explanations or ())))
    with_clml, without = chooser.cost, chooser.kernels_only.cost
    assert f"{with_clml:.1f} us in all by the model, {without:.1f} us without CLML" in text
    (said,) = re.findall(r"graph of clml +([\d.]+) +estimated +kernels ([\d.]+) +1 op", text)
    in_clml, ours = map(float, said)
    assert in_clml == pytest.approx(command_costs(module, BASE), abs=0.1)
    assert ours - in_clml == pytest.approx(without - with_clml, abs=0.2)
    assert re.search(r"kernels +rule +not by CLML: our kernels cost [\d.]+ us less", text)


def test_nothing_happens_without_clml_or_when_it_is_off():
    for target in (with_facts(BASE, {"clml_version": 0}), with_facts(BASE, {"clml": "off"})):
        graph = Graph((1, 256, 56, 56))
        module = graph.module(graph.conv(graph.x, 256), target=target)
        before = str(module)
        NNChoosePass(graphs_only=True).apply(CloptContext(), module)
        assert str(module) == before
