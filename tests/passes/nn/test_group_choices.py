"""Choices of groups: what may be merged, and that the networks compute the same in any case."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import SSAValue

from clopt import CloptError
from clopt.context import CloptContext
from clopt.decisions import Choices, Site
from clopt.decisions.choices import choice_of, choices_of, demand
from clopt.dialects import nn
from clopt.dialects.nn.evaluation import interpret
from clopt.dialects.properties import text
from clopt.messages.explanations import Explanation
from clopt.passes.nn.choose import NNChoosePass
from clopt.passes.nn.fuse import MOST_INPUTS, NNFusePass, form_groups
from clopt.passes.nn.group_choices import GroupChoices
from clopt.passes.nn.layout.grouping import TEXELS
from clopt.targets import load_target
from support.nn.layout_graphs import Graph, regions

POCL = load_target("pocl")


def costly_copies(graph: Graph) -> SSAValue:
    return graph.binary(graph.relu(graph.x), graph.add(nn.UnaryOp(graph.function.args[1], "exp")))


def chain_of_60(graph: Graph) -> SSAValue:
    x = graph.x
    for _ in range(60):
        x = graph.relu(x)
    return x


def border_of_5x5(graph: Graph) -> SSAValue:
    padded = graph.add(nn.PadOp(graph.x, [0, 0, 2, 2], [0, 0, 2, 2]))
    return graph.add(nn.PoolOp(padded, "max", [5, 5]))


def costly_window(graph: Graph) -> SSAValue:
    return graph.pool(graph.add(nn.UnaryOp(graph.x, "exp")))


def epilogue(graph: Graph) -> SSAValue:
    return graph.relu(graph.conv(graph.x, 4))


def pieces(graph: Graph) -> SSAValue:
    return graph.concat(graph.x, graph.add(nn.UnaryOp(graph.x, "exp")))


IMAGE = (1, 2, 9, 9)
CASES: dict[str, tuple[Callable[[Graph], SSAValue], Sequence[tuple[int, ...]], int, int]] = {
    "costly_copies": (costly_copies, [(5, 1), (1, 7)], 2, 1),
    "chain_of_60": (chain_of_60, [(5,)], 2, 1),
    "border_of_5x5": (border_of_5x5, [IMAGE], 2, 1),
    "costly_window": (costly_window, [IMAGE], 2, 1),
    "epilogue": (epilogue, [IMAGE], 1, 2),
    "pieces": (pieces, [IMAGE], 2, 1),
}
"""A network and its arguments, with its kernels by default and by the other choice."""


def network(case: str) -> ModuleOp:
    build, shapes, *_ = CASES[case]
    graph = Graph(*shapes)
    return graph.module(build(graph))


def written(module: ModuleOp) -> dict[str, str]:
    """The sites of a module with the words that were chosen."""
    found = [each for each in choices_of(module) or () if each.kind.data == "group"]
    return {each.digest.data: text(each.choice) or "" for each in found}


def demanding(module: ModuleOp, words: dict[str, str]) -> ModuleOp:
    """The module after `nn-fuse`, with the choices of some sites."""
    sites = {Site.parse("group", digest): StringAttr(word) for digest, word in words.items()}
    demand(module, [choice_of(site, word) for site, word in sites.items()])
    NNFusePass().apply(CloptContext(), module)
    module.verify()
    return module


def result(module: ModuleOp) -> np.ndarray:
    (function,) = (op for op in module.ops if isinstance(op, func.FuncOp))
    random = np.random.default_rng(2)
    shapes = [nn.shape_of(value) for value in function.args]
    inputs = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    return interpret(function, inputs)[0]


@pytest.mark.parametrize("case", CASES)
def test_the_other_choice_computes_the_same(case: str) -> None:
    *_, usual_kernels, other_kernels = CASES[case]
    usual = demanding(network(case), {})
    usual_words = written(usual)
    word, other = ("apart", "merged") if usual_kernels > other_kernels else ("merged", "apart")
    assert word in usual_words.values()
    changed = demanding(network(case), dict.fromkeys(usual_words, other))
    assert len(regions(usual)) == usual_kernels
    assert len(regions(changed)) == other_kernels
    assert set(written(changed).values()) == {other}
    wanted = result(network(case))
    np.testing.assert_array_equal(result(usual), wanted)
    np.testing.assert_array_equal(result(changed), wanted)


@pytest.mark.parametrize("case", CASES)
def test_without_demands_the_kernels_are_as_usual(case: str) -> None:
    plain = network(case)
    NNFusePass().apply(CloptContext(), plain)
    noting = demanding(network(case), {})
    again = demanding(network(case), written(noting))
    assert again.attributes == noting.attributes
    for module in (noting, again):
        del module.attributes["cl.choices"]
        assert str(module) == str(plain)


@pytest.mark.parametrize(
    ("case", "remark"),
    [
        ("costly_copies", "costly functions for every read"),
        ("chain_of_60", "more than 48 operations"),
        ("border_of_5x5", "25 windows test the border of an element"),
        ("costly_window", "costly functions for every read"),
        ("epilogue", ""),
        ("pieces", "most of the result would be copied"),
    ],
)
def test_the_explanation_says_why_groups_are_apart(case: str, remark: str) -> None:
    ctx = CloptContext(explanations=[])
    NNFusePass().apply(ctx, network(case))
    found = [each for each in ctx.explanations or () if isinstance(each, Explanation)]
    remarks = {each.reason.remark for each in found if each.choice == "apart"}
    assert remarks == ({remark} if remark else set())


def test_what_cannot_be_merged_is_no_site() -> None:
    graph = Graph((4, 4))
    x = graph.relu(graph.x)
    product = graph.add(nn.MatmulOp(graph.relu(x), graph.constant(4, 4)))
    moved = graph.add(nn.TransposeOp(product, [1, 0]))
    shared = graph.binary(moved, moved, "mul")
    module = demanding(graph.module(graph.binary(shared, x), shared), {})
    assert list(written(module).values()) == ["merged"]  # the transposition and the product with it


def test_a_kernel_cannot_have_more_parameters() -> None:
    def joined(most: int) -> ModuleOp:
        graph = Graph(*[(3,)] * most)
        x, *others = graph.function.args
        for other in others:
            x = graph.binary(x, other)
        return graph.module(x)

    words = written(demanding(joined(MOST_INPUTS + 20), {}))
    changed = demanding(joined(MOST_INPUTS + 20), dict.fromkeys(words, "merged"))
    assert [len(each.inputs) for each in regions(changed)] == [MOST_INPUTS, 21]


def two_epilogues(names: Sequence[str] = "ab") -> ModuleOp:
    graph = Graph((1, 2, 6, 6), (1, 2, 6, 6))
    weight = graph.constant(2, 2, 3, 3)
    sums: list[SSAValue] = []
    for value, name in zip(graph.function.args, names, strict=True):
        y = graph.add(nn.ConvOp(value, weight))
        y.name_hint = name
        sums.append(graph.relu(y))
    return graph.module(*sums)


def test_equal_computations_share_a_line_and_have_numbers() -> None:
    module = demanding(two_epilogues(), {})
    ((digest, word),) = written(module).items()
    assert word == "merged"
    changed = demanding(two_epilogues(), {f"{digest}#2": "apart"})
    assert written(changed) == {f"{digest}#1": "merged", f"{digest}#2": "apart"}
    assert [len(each.body.block.ops) for each in regions(changed)] == [3, 2, 2]


def test_digests_depend_on_no_name_and_no_other_choice() -> None:
    (first,) = written(demanding(two_epilogues(), {}))
    (second,) = written(demanding(two_epilogues("xy"), {}))
    assert first == second

    def chain() -> ModuleOp:
        graph = Graph(IMAGE)
        x = graph.relu(graph.conv(graph.x, 4))
        return graph.module(graph.add(nn.UnaryOp(graph.add(nn.UnaryOp(x, "exp")), "abs")))

    usual = written(demanding(chain(), {}))
    for digest in usual:
        assert written(demanding(chain(), {digest: "apart"})) == usual | {digest: "apart"}


def test_another_word_is_refused() -> None:
    (digest,) = written(demanding(two_epilogues(), {}))
    sentence = f"the choice group {digest} joined does not fit nn.conv, nn.unary: it is merged or"
    with pytest.raises(CloptError, match=sentence):
        demanding(two_epilogues(), {digest: "joined"})


def chosen(module: ModuleOp, words: dict[str, str]) -> ModuleOp:
    """The module after `nn-choose` and `nn-fuse`, with the choices of some sites."""
    sites = {Site.parse("group", digest): StringAttr(word) for digest, word in words.items()}
    demand(module, [choice_of(site, word) for site, word in sites.items()])
    NNChoosePass().apply(CloptContext(), module)
    NNFusePass().apply(CloptContext(), module)
    module.verify()
    return module


@pytest.mark.parametrize("blocks", ["prefer", "off"])
def test_each_group_is_noted_once(blocks: str) -> None:
    def network() -> ModuleOp:
        graph = Graph((1, 16, 8, 8))
        x = graph.x
        for _ in range(2):
            x = graph.relu(graph.conv(x, 16))
        target = POCL.with_facts({"blocks": blocks, "vector_width": 8, "winograd": "off"})
        return graph.module(x, target=target)

    usual = chosen(network(), {})
    ((digest, word),) = written(usual).items()
    assert word == "merged"
    changed = chosen(network(), {f"{digest}#1": "apart"})
    assert written(changed) == {f"{digest}#1": "apart", f"{digest}#2": "merged"}
    assert len(regions(changed)) == len(regions(usual)) + 1


def test_plain_kernels_keep_the_choice_of_the_layout_problem() -> None:
    def network() -> ModuleOp:
        graph = Graph((4, 8), (8, 8))
        a, b = graph.function.args
        result = graph.relu(graph.add(nn.MatmulOp(a, b)))
        return graph.module(result, target=POCL.with_facts({"blocks": "auto", "vector_width": 8}))

    module = network()
    (function,) = nn.networks_of(module)
    choices = Choices([])
    groups = GroupChoices(choices, TEXELS.stored)
    form_groups(function.body.block.ops, TEXELS, groups)
    groups.note(list(function.body.block.ops))
    (in_problem,) = (each.digest.data for each in choices.written())
    (in_fuse,) = written(chosen(network(), {}))
    assert in_problem != in_fuse
    changed = chosen(network(), {in_problem: "apart"})
    assert written(changed) == {in_problem: "apart"}
    assert len(regions(changed)) == 2
    assert "nn.groups" not in str(changed)
