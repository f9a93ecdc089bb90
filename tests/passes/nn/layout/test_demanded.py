"""A demanded layout is kept, at borders to plain values and to other layouts, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute

from clopt.context import CloptContext
from clopt.decisions import demand
from clopt.decisions.choice_file import choices_text, read_choices
from clopt.decisions.choices import choice_of, choices_of, site_of
from clopt.dialects import cl, nn
from clopt.passes.pipelines import run_pipeline
from clopt.targets import load_target
from support.nn.layout_graphs import AUTO, PREFER, Graph, regions

TARGETS = {
    "auto": AUTO,
    "prefer": PREFER,
    "blocks": load_target("pocl").with_facts({"vector_width": 8}),
}
PLAIN = StringAttr("plain")


def chosen(target: cl.Target, demands: list[cl.ChoiceAttr]) -> ModuleOp:
    """A network with values at all borders: read by two kernels, or returned."""
    graph = Graph((1, 16, 20, 20))
    first = graph.conv(graph.x, 24)
    second = graph.conv(graph.pool(first), 16, 1)
    module = graph.module(graph.mean(first), graph.conv(second, 32), target=target)
    demand(module, demands)
    run_pipeline(CloptContext(), module, "fuse")
    return module


def layout_choices(module: ModuleOp) -> list[cl.ChoiceAttr]:
    return [each for each in choices_of(module) or () if each.kind.data == "layout"]


def written(module: ModuleOp) -> dict[tuple[int, ...], Attribute]:
    """The layouts of the results of all kernels, by their shapes."""
    values = [value for op in regions(module) for value in op.outputs]
    return {nn.shape_of(value): nn.layout_of(value) or PLAIN for value in values}


@pytest.mark.parametrize("name", TARGETS)
def test_every_demanded_layout_is_kept(name: str, tmp_path: Path) -> None:
    target, file = TARGETS[name], tmp_path / "net.choices"
    usual = chosen(target, [])
    before = written(usual)
    assert len(before) == 5
    demands = [(c, other) for c in layout_choices(usual) for other in c.others]
    assert len(demands) == {"auto": 10, "prefer": 2, "blocks": 5}[name]
    for choice, other in demands:
        module = chosen(target, [choice_of(site_of(choice), other)])
        after = written(module)
        changed = {shape: after[shape] for shape in before if after[shape] != before[shape]}
        assert [*changed.values()] == [other], choice
        # All choices of the module, read back from their file, give the same module.
        file.write_text(choices_text(choices_of(module) or ()))
        again = chosen(target, read_choices(file))
        assert str(again) == str(module)
