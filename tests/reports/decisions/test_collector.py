"""What the compiler chose: each node's command, layouts, and the plan of each kernel."""

from __future__ import annotations

from collections import Counter

import pytest

import clopt
from clopt.description import LaunchInfo
from clopt.messages.explanations import Explanation
from clopt.reports.decisions import Decisions
from support.reported_models import NAMES, residual


def compiled(target: str, **more: object) -> tuple[clopt.CompiledModel, Decisions]:
    model = clopt.compile(residual(), target, explain="report", **more)
    assert model.decisions is not None
    return model, model.decisions


def nodes_by_command(decisions: Decisions) -> list[list[str]]:
    return [
        [node.name for number in numbers for node in decisions.regions[number].nodes]
        for numbers in decisions.commands
    ]


def of_kind(decisions: Decisions, kind: str) -> list[Explanation]:
    explained = (each for each in decisions.explanations if isinstance(each, Explanation))
    return [each for each in explained if each.kind == kind]


def test_each_command_has_its_nodes_in_order() -> None:
    model, decisions = compiled("adreno-740 texture=prefer")
    assert [node.name for node in decisions.nodes] == list(NAMES)
    commands = model.describe().commands
    # The norm is folded into the weights; the first command packs the input.
    assert nodes_by_command(decisions)[1:] == [["conv0", "relu0"], ["conv1", "sum", "relu1"]]
    assert len(decisions.commands) == len(commands) == 3
    first = decisions.regions[decisions.commands[1][0]]
    assert [node.operation for node in first.nodes] == ["conv", "unary relu"]
    (tensor,) = first.results
    assert (tensor.shape, tensor.layout) == ((1, 8, 8, 8), "1 by 4, image2d [3]")
    assert (tensor.physical, tensor.is_texture) == ((1, 2, 8, 8, 4), True)


@pytest.mark.parametrize("target", ["pocl", "intel-cpu", "adreno-740", "nvidia"])
def test_every_command_has_nodes_and_every_kernel_a_plan(target: str) -> None:
    model, decisions = compiled(target)
    description = model.describe()
    shown = Counter(name for names in nodes_by_command(decisions) for name in names)
    assert set(NAMES) - {"norm"} <= set(shown)
    for command, numbers in zip(description.commands, decisions.commands, strict=True):
        assert numbers
        assert isinstance(command, LaunchInfo)
        kernel = description.kernels[command.kernel]
        members = {decisions.regions[number].kernel for number in numbers}
        assert decisions.plans.keys() & (members | {kernel.name})
        if kernel.plan and kernel.name in decisions.plans:
            assert f'<"{decisions.plans[kernel.name].rule}"' in kernel.plan


def test_a_limit_on_memory_leaves_the_choices_of_the_last_plan() -> None:
    model, decisions = compiled("adreno-740 texture=prefer", memory_limit=1 << 20)
    nodes = [each.nodes for each in of_kind(decisions, "layout")]
    assert len(set(nodes)) == len(nodes) == 3
    assert len(decisions.commands) == len(model.describe().commands)


def test_offloaded_nodes_are_in_a_table_and_not_in_regions() -> None:
    model, decisions = compiled("adreno-740 clml=prefer")
    assert not decisions.regions
    assert decisions.commands == ((),) * len(model.describe().commands)
    graphs = {each.nodes.split(":")[0]: each.choice for each in of_kind(decisions, "offload")}
    assert graphs == dict.fromkeys(set(NAMES) - {"norm"}, "clml_0")


def test_choices_are_kept_only_for_a_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert clopt.compile(residual(), "pocl").decisions is None
    compiled("pocl")
    assert capsys.readouterr().err == ""
    assert clopt.compile(residual(), "pocl texture=off", explain=True).decisions is None
    assert capsys.readouterr().err
    with pytest.raises(
        clopt.CloptError, match=r'explain must be True, False or "report", not \'all\''
    ):
        clopt.compile(residual(), "pocl", explain="all")
