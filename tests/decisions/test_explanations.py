"""Explanations: one per site, with what it follows and the alternatives."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr

from clopt.context import CloptContext
from clopt.decisions import Choices, Site, SiteKind, deciding, demand
from clopt.decisions.choices import RECORDED_NAME, choice_of, choices_of
from clopt.messages.explanations import Explanation, Reason, Why, tables
from clopt.tools import opt
from support.tuning.networks import separable_network

FORM = Site(SiteKind.FORM, "0123456789abcdef")
WORDS = ("direct", "winograd 2", "winograd 4")
TIMES = {"direct": 9.0, "winograd 4": 5.0}


def decided(choices: Choices, *digests: str) -> None:
    """Explain convolutions with these digests by `TIMES`."""
    for number, digest in enumerate(digests, 1):
        site = choices.next_site(SiteKind.FORM, digest)
        reason = Reason(Why.ESTIMATED, TIMES, "by the model")
        choices.decide(site, "winograd 4", WORDS, f"conv {number}", lambda reason=reason: reason)


def explained(module: ModuleOp, *digests: str) -> list[Explanation]:
    ctx = CloptContext(explanations=[])
    with deciding(module, ctx) as choices:
        assert choices is not None
        decided(choices, *digests)
    return [each for each in ctx.explanations or () if isinstance(each, Explanation)]


def test_alternatives_come_by_their_times_and_then_those_without() -> None:
    (each,) = explained(ModuleOp([]), "a")
    assert (each.kind, each.site, each.nodes, each.choice) == (
        "form",
        "a#1",
        "conv 1",
        "winograd 4",
    )
    assert (each.reason.why, each.microseconds) == (Why.ESTIMATED, 5.0)
    assert each.alternatives == [("direct", 9.0), ("winograd 2", None)]


def test_a_demand_comes_before_the_reason_of_a_pass() -> None:
    module = ModuleOp([])
    demand(module, [choice_of(Site(SiteKind.FORM, "a", 2), StringAttr("winograd 2"))])
    usual, demanded = explained(module, "a", "a")
    assert (usual.reason.why, usual.choice) == (Why.ESTIMATED, "winograd 4")
    assert (demanded.reason.why, demanded.choice) == (Why.DEMANDED, "winograd 2")
    assert demanded.microseconds is None
    assert demanded.alternatives == [("winograd 4", 5.0), ("direct", 9.0)]


def test_a_recorded_choice_is_measured_and_a_demand_comes_before_it() -> None:
    module = ModuleOp([])
    of_all = Site(SiteKind.FORM, "a")
    recorded = choice_of(of_all, StringAttr("winograd 2"))
    module.attributes[RECORDED_NAME] = ArrayAttr([recorded])
    (each,) = explained(module, "a")
    assert (each.reason.why, each.choice) == (Why.MEASURED, "winograd 2")
    # The model's times are of other choices, and say nothing about what was measured.
    assert each.alternatives == [("direct", None), ("winograd 4", None)]
    demand(module, [choice_of(of_all, StringAttr("direct"))])
    (each,) = explained(module, "a")
    assert (each.reason.why, each.choice, each.microseconds) == (Why.DEMANDED, "direct", 9.0)


def test_who_wants_no_explanation_pays_for_none() -> None:
    module = ModuleOp([])
    demand(module, [])

    def expensive() -> Reason:
        raise AssertionError

    with deciding(module, CloptContext()) as choices:
        assert choices is not None
        choices.decide(FORM, "direct", WORDS, "conv", expensive)
    with deciding(ModuleOp([]), CloptContext()) as choices:
        assert choices is None


def test_explanations_leave_no_choices_in_a_module() -> None:
    module = ModuleOp([])
    assert explained(module, "a")
    assert choices_of(module) is None


def test_a_table_has_a_row_for_each_site_and_numbers_only_equal_ones() -> None:
    ctx = CloptContext(explanations=[])
    with deciding(ModuleOp([]), ctx) as choices:
        assert choices is not None
        decided(choices, "a", "b", "a")
        choices.summarise(SiteKind.FORM, "5.0 us in all")
        choices.note(Site(SiteKind.PLAN, "c"), StringAttr("texels"), "@" + "x" * 60)
    forms, plans = map(str, tables(ctx.explanations or ()))
    assert forms.splitlines() == [
        "form: 3 estimated",
        "5.0 us in all",
        "  site  nodes   choice        us  why        alternatives             remark",
        "  a#1   conv 1  winograd 4  5.00  estimated  direct 9.00; winograd 2  by the model",
        "  b     conv 2  winograd 4  5.00  estimated  direct 9.00; winograd 2  by the model",
        "  a#2   conv 3  winograd 4  5.00  estimated  direct 9.00; winograd 2  by the model",
    ]
    assert plans.startswith("plan: 1 rule\n")
    assert f"  c     @{'x' * 44}...  texels" in plans


@pytest.mark.parametrize("target", ["pocl blocks=auto vector_width=8", "adreno-740 texture=prefer"])
def test_each_site_of_a_file_of_choices_is_explained(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "separable.onnx"
    onnx.save(separable_network(), model)
    words = [str(model), "--target", target, "-p", "opencl", "--disable-verify"]
    opt.main([*words, "-t", "choices"])
    written = capsys.readouterr().out
    sites = {tuple(line.split()[:2]) for line in written.splitlines()[1:] if line[0] != "#"}
    opt.main([*words, "-t", "choices", "--explain"])
    both = capsys.readouterr()
    assert both.out == written
    assert _sites(both.err) == sites
    assert {kind for kind, _ in sites} >= {"layout", "plan"}
    opt.main([*words, "-t", "opencl-c"])
    text = capsys.readouterr().out
    opt.main([*words, "-t", "opencl-c", "--explain"])
    both = capsys.readouterr()
    assert both.out == text
    assert _sites(both.err) == sites


def _sites(text: str) -> set[tuple[str, str]]:
    """The kinds and digests in tables; equal choices of equal computations are one."""
    found: set[tuple[str, str]] = set()
    kind = ""
    for line in text.splitlines():
        if not line.startswith(" "):
            kind = line.split(":")[0] if line.split(":")[0] in _KINDS else kind
        elif line[2] != " " and not line.startswith("  site "):
            found.add((kind, line.split()[0].partition("#")[0]))
    return found


_KINDS = {kind.value for kind in SiteKind}
