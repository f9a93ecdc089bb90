"""Mode `auto` with choices: writers and layouts are noted, and others can be demanded."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr

from clopt.context import CloptContext
from clopt.decisions import demand
from clopt.decisions.choices import choice_of, choice_text, site_of
from clopt.decisions.choices import choices_of as found_choices
from clopt.dialects import cl, nn
from clopt.errors import CloptError
from clopt.passes.nn.choose import NNChoosePass
from clopt.targets import with_facts
from support.nn.layout_graphs import AUTO, Graph

BASE = with_facts(AUTO, {"clml": "auto", "winograd": "off"})


def choices_of(
    module: ModuleOp, target: cl.Target, demands: Sequence[cl.ChoiceAttr], **options: int
):
    """The written module, without its choices, and those."""
    written = module.clone()
    cl.set_target(written, target)
    demand(written, demands)
    NNChoosePass(**options).apply(CloptContext(), written)
    written.verify()
    made = found_choices(written) or []
    del written.attributes["cl.choices"]
    return str(written), made


def only(choices: Sequence[cl.ChoiceAttr], kind: str) -> list[cl.ChoiceAttr]:
    return [choice for choice in choices if choice.kind.data == kind]


def kinds(choices: Sequence[cl.ChoiceAttr]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in choices:
        found.setdefault(each.kind.data, []).append(choice_text(each.choice))
    return found


def test_writers_are_noted_and_demanded():
    """Values in CLML have no layout of their own; all choices together give the same module."""
    graph = Graph((1, 256, 56, 56))
    y = graph.add(nn.UnaryOp(graph.conv(graph.x, 256), "exp"))
    module = graph.module(graph.conv(graph.relu(graph.pool(graph.conv(y, 4, 1))), 8, 1))
    usual, made = choices_of(module, BASE, [])
    (writers, layouts) = (kinds(made)[kind] for kind in ("offload", "layout"))
    assert writers == ["clml then kernels", "kernels", "kernels", "kernels"]
    assert len(layouts) == 4
    assert choices_of(module, BASE, made) == (usual, made)
    for choice in made:
        if choice.kind.data != "offload":
            continue
        site = site_of(choice)
        for word in ("kernels", "clml", "clml then kernels"):
            forced = choice_of(site, StringAttr(word))
            if word == "clml" and choice is made[0]:
                with pytest.raises(CloptError, match="it is kernels or clml then kernels"):
                    choices_of(module, BASE, [forced])
            elif word == "clml then kernels" and choice is not made[0]:
                with pytest.raises(CloptError, match="it is kernels or clml"):
                    choices_of(module, BASE, [forced])
            else:
                _, found = choices_of(module, BASE, [forced])
                assert next(each for each in found if site_of(each) == site).choice == forced.choice
                whole = kinds(found)["offload"].count("clml")
                assert len(kinds(found)["layout"]) == 4 - whole
                assert choices_of(module, BASE, found)[1] == found


def test_demands_that_contradict_each_other_are_refused():
    """A convolution in another form is three kernels, which CLML computes together or not."""
    graph = Graph((1, 64, 28, 28))
    module = graph.module(graph.conv(graph.x, 64))
    target = with_facts(BASE, {"winograd": "prefer", "clml_convolution_mads_per_nanosecond": 1.0})
    _, made = choices_of(module, target, [])
    sites = [site_of(each) for each in only(made, "offload")]
    assert kinds(made)["offload"] == ["kernels"] * 3
    _, forced = choices_of(module, target, [choice_of(sites[0], StringAttr("clml"))])
    assert kinds(forced)["offload"] == ["clml"] * 3
    words = zip(sites, ("clml", "kernels", "clml"), strict=True)
    both = [choice_of(site, StringAttr(word)) for site, word in words]
    with pytest.raises(CloptError, match=r"clml does not fit .*: no graph can hold it, or another"):
        choices_of(module, target, both)


def test_a_demanded_graph_must_be_large_enough():
    graph = Graph((1, 64, 28, 28))
    module = graph.module(graph.conv(graph.x, 64))
    _, made = choices_of(module, BASE, [])
    (choice,) = only(made, "offload")
    forced = choice_of(site_of(choice), StringAttr("clml"))
    assert "clml.graph" in choices_of(module, BASE, [forced])[0]
    with pytest.raises(CloptError, match="no graph can hold it"):
        choices_of(module, BASE, [forced], minimum=2)


def test_without_layouts_only_writers_are_noted():
    graph = Graph((1, 256, 56, 56))
    module = graph.module(graph.conv(graph.add(nn.UnaryOp(graph.conv(graph.x, 256), "exp")), 4, 1))
    _, made = choices_of(module, BASE, [], graphs_only=True)
    assert kinds(made) == {"offload": ["clml then kernels", "kernels"]}
