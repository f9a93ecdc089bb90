"""Choices that were faster in a network: which records count, and that the passes follow them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr

import clopt
from clopt.decisions import Site, SiteKind, deciding, demand
from clopt.decisions.choice_file import HEADER
from clopt.decisions.choices import choice_of, choices_of, site_of
from clopt.decisions.database import DeviceDriver, TuningDatabase
from clopt.decisions.record import Record
from clopt.decisions.recorded import forget, recall, recorded_choices
from clopt.dialects import cl
from clopt.dialects.nn import LayoutAttr
from clopt.dialects.properties import text
from clopt.dialects.remarks import remarks_of
from clopt.tuning import records
from support.tuning.networks import noise, separable_network
from support.tuning.records import HERE, POCL, of_form, of_layout, record

NEWER, OTHER = replace(HERE, driver="2.0"), replace(HERE, name="Another processor (tests)")
DIRECT, TWO, FOUR = "direct", "winograd 2", "winograd 4"


def forms(
    direct: float | None, four: float | None, site: str = "a", device: DeviceDriver = HERE
) -> list[Record]:
    return [
        of_form(site, FOUR, four, device=device, default=True),
        of_form(site, TWO, 50.0, device=device),
        of_form(site, DIRECT, direct, device=device),
    ]


def chosen(found: Iterable[Record], device: DeviceDriver = HERE) -> dict[str, str]:
    """The recorded choices by their sites."""
    recorded = recorded_choices(TuningDatabase(tuple(found)), POCL, device)
    return {str(site_of(each)): text(each.choice) or str(each.choice) for each in recorded.choices}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (forms(40.0, 90.0), DIRECT),
        (forms(49.5, 50.0), None),  # within the noise of both
        (forms(60.0, 40.0), None),  # the usual one is the fastest
        (forms(None, 90.0), TWO),  # the fastest one crashed
        (forms(40.0, None), None),  # nothing to compare with
        (forms(40.0, 90.0)[1:], None),
        ([*forms(40.0, 90.0), of_form("a", DIRECT, 95.0)], TWO),  # the last record counts
        ([*forms(40.0, 90.0), *forms(100.0, 90.0, "b")], DIRECT),
        (forms(40.0, 90.0, device=OTHER), DIRECT),
        ([*forms(40.0, 90.0, device=OTHER), *forms(60.0, 40.0)], None),  # one device decides
        ([*forms(60.0, 40.0, device=OTHER), *forms(40.0, 90.0, device=NEWER)], DIRECT),
        ([*forms(40.0, 90.0, device=OTHER), of_form("a", DIRECT)], TWO),  # it crashed here
        ([*forms(40.0, 90.0, device=OTHER), of_form("a", FOUR, 9.0, default=True)], DIRECT),
    ],
)
def test_the_fastest_beyond_the_noise_is_recorded(found: list[Record], expected: str | None):
    assert chosen(found).get("form a") == expected


def test_plans_and_other_targets_are_left_out():
    other = [of_form("a", w, t, default=d, target="x") for w, t, d in ((FOUR, 9, 1), (TWO, 1, 0))]
    plans = [record('#tir.plan<"rows", 1, {}>', 9.0, default=True)]
    assert chosen([*other, *plans, record('#tir.plan<"rows", 2, {}>', 1.0)]) == {}


def test_layouts_are_attributes_and_other_text_is_remarked():
    layouts = [
        *(of_layout("b", "plain", 9.0, default=True), of_layout("b", "#nn.layout<[1 by 4]>", 1.0)),
        *(of_layout("c", "plain", 9.0, default=True), of_layout("c", "#nn.layout<[1 by ", 1.0)),
    ]
    found = recorded_choices(TuningDatabase(tuple(layouts)), POCL, HERE)
    assert [each.choice for each in found.choices] == [LayoutAttr([(1, 4)])]
    assert "this record is ignored: : neither a plan nor a layout" in found.remarks[0]


@pytest.mark.parametrize(("place", "is_remarked"), [(HERE, False), (NEWER, True), (OTHER, True)])
def test_a_remark_names_another_device(place: DeviceDriver, *, is_remarked: bool):
    module = ModuleOp([])
    database = TuningDatabase((*forms(40.0, 90.0), *forms(40.0, 90.0, "b#2")))
    recall(module, database, POCL, place)
    assert decided(module, "c") == [DIRECT]
    assert not remarks_of(module)
    assert decided(module, "a", "b", "b", words=[TWO, DIRECT]) == [DIRECT, TWO, DIRECT]
    said = (
        "the module has each form that was fastest measured on A processor (tests), driver 1.0; "
        "run clopt-tune to measure on this device."
    )
    assert list(remarks_of(module)) == ([said] if is_remarked else [])


def decided(module: ModuleOp, *digests: str, words: Iterable[str] = (DIRECT, TWO)) -> list[str]:
    """What a pass chooses for convolutions with these digests, usually the first word."""
    with deciding(module) as choices:
        assert choices is not None
        sites = [choices.next_site(SiteKind.FORM, digest) for digest in digests]
        return [choices.decide(site, next(iter(words)), [*words], "conv") for site in sites]


def test_a_demand_comes_first_and_a_word_that_a_site_lacks_is_ignored():
    module = ModuleOp([])
    fast = [*forms(None, 90.0, "a"), *forms(None, 90.0, "b#2"), *forms(None, 90.0, "c")]
    recall(module, TuningDatabase(tuple(fast)), POCL, HERE)
    assert decided(module, "a", "a", "b", "b", "d") == [TWO, TWO, DIRECT, TWO, DIRECT]
    assert decided(module, "c", words=[DIRECT, FOUR]) == [DIRECT]
    assert choices_of(module) is None  # nobody asked for notes
    demand(module, [choice_of(Site(SiteKind.FORM, "a"), StringAttr(DIRECT))])
    assert decided(module, "a", "c") == [DIRECT, TWO]
    assert [text(each.choice) for each in choices_of(module) or ()] == [DIRECT, TWO]
    assert [[*map(text, each.others)] for each in choices_of(module) or ()] == [[TWO], [DIRECT]]
    forget(module)
    demand(module, [])
    assert decided(module, "c") == [DIRECT]


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "separable.onnx"
    onnx.save(separable_network(), path)
    return path


def compiled(network: Path, folder: Path, found: Iterable[Record] = ()) -> clopt.CompiledModel:
    """The network with some records, whose choices are noted."""
    (folder / "choices").write_text(f"{HEADER}\n")
    (folder / "db.jsonl").write_text("")
    records.append(folder / "db.jsonl", found)
    return clopt.compile(
        network, "pocl blocks=prefer", choices=folder / "choices", tuning=folder / "db.jsonl"
    )


def noted(model: clopt.CompiledModel) -> list[cl.ChoiceAttr]:
    return [each for each in choices_of(model.module) or () if each.others.data]


def test_each_kind_of_choice_follows_its_records(network: Path, tmp_path: Path):
    x = noise((1, 16, 10, 10))
    usual = compiled(network, tmp_path)
    (expected,) = usual.run([x])
    kinds = {each.kind.data: each for each in noted(usual)}
    assert {*kinds} >= {"fusion", "layout"}
    for kind, each in kinds.items():
        words = [text(word) or str(word) for word in (each.choice, each.others.data[0])]
        pair = [
            record(word, time, kind=kind, site=each.digest.data, default=time > 5)
            for word, time in zip(words, (9.0, 1.0), strict=True)
        ]
        model = compiled(network, tmp_path, pair)
        (now,) = (other for other in noted(model) if site_of(other) == site_of(each))
        assert now.choice == each.others.data[0]
        assert not any("cl.recorded" in name for name in model.module.attributes)
        np.testing.assert_allclose(model.run([x])[0], expected, rtol=1e-4, atol=1e-4)
