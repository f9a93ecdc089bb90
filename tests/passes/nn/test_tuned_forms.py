"""Forms by the times of a tuning database: those of the nearest device, beyond the noise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import f16, f32
from xdsl.ir import Attribute, SSAValue

from clopt.context import CloptContext
from clopt.decisions import Choices
from clopt.decisions.database import DeviceDriver, TuningDatabase
from clopt.decisions.record import Record
from clopt.dialects import cl, nn
from clopt.messages.explanations import Explained, Explanation, Why
from clopt.passes.nn.forms import open_convolutions
from clopt.passes.nn.tuned_forms import (
    ConvolutionSite,
    FormChoice,
    TunedForms,
    choice_key,
    demanded_forms,
    network_key,
)
from clopt.targets import load_target
from support.nn.layout_graphs import Graph
from support.tuning.records import HERE, POCL, of_form

NEWER, OTHER = replace(HERE, driver="2.0"), replace(HERE, name="Another processor (tests)")
NEW = "2026-02-28T12:00:00Z"
DIRECT, TWO, FOUR = "direct", "winograd 2", "winograd 4"


def found_in(
    graph: Graph, *results: SSAValue, target: cl.Target = POCL, **facts: Any
) -> list[ConvolutionSite]:
    target = target.with_facts(facts)
    module = graph.module(*results, target=target)
    (function,) = nn.networks_of(module)
    return open_convolutions(function, target, CloptContext())


def network() -> list[ConvolutionSite]:
    """Two convolutions that differ, and one without a choice."""
    graph = Graph((1, 8, 12, 12))
    x = graph.conv(graph.conv(graph.x, 16), 16, kernel=1)
    return found_in(graph, graph.conv(x, 8))


def one(
    type_: Attribute = f32,
    size: int = 12,
    pad: int = 1,
    half: bool = False,
    target: cl.Target = POCL,
    seed: int = 0,
    bias: bool = False,
    **facts: Any,
) -> list[ConvolutionSite]:
    graph = Graph((1, 8, size, size), type_=type_)
    random = np.random.default_rng(seed)
    w, b = (
        graph.add(nn.ConstantOp.from_array(random.random(shape).astype(nn.numpy_dtype(type_))))
        for shape in ((8, 8, 3, 3), (8,))
    )
    conv = nn.ConvOp(graph.x, w, b if bias else None, pads=[pad] * 4, accumulate_half=half)
    return found_in(graph, graph.add(conv), target=target, **facts)


def records(
    several: Sequence[ConvolutionSite], direct: float | None, four: float | None, **fields: Any
) -> list[Record]:
    times = {DIRECT: direct, TWO: 50.0, FOUR: four}
    return [
        of_form(each.digest, form, time, **fields)
        for each in several
        for form, time in times.items()
    ]


def choose(known: Iterable[Record], device: DeviceDriver = HERE) -> FormChoice:
    return TunedForms(TuningDatabase(tuple(known)), device, POCL).choose(network())


def forms(choice: FormChoice) -> list[str]:
    return list(choice.forms.values())


def test_each_convolution_gets_its_fastest_form():
    first, second = network()
    assert (first.usual, second.usual) == (FOUR, FOUR)
    assert list(first.tiles.items()) == [(DIRECT, None), (TWO, 2), (FOUR, 4)]
    known = [*records([first], 60.0, 70.0), *records([second], 40.0, 70.0)]
    choice = choose(known)
    assert forms(choice) == [TWO, DIRECT]
    assert list(choice.tiles.values()) == [2, None]
    assert not choice.remarks
    assert list(choice.times.values()) == [
        {DIRECT: 60.0, TWO: 50.0, FOUR: 70.0},
        {DIRECT: 40.0, TWO: 50.0, FOUR: 70.0},
    ]
    assert forms(choose(records([first], 60.0, 70.0))) == [TWO]


def test_a_form_is_explained_by_measured_times_or_by_what_it_saves():
    first, second = found = network()
    known = TuningDatabase(tuple(records([first], 60.0, 40.0)))
    choice = TunedForms(known, HERE, POCL).choose(found)
    assert not choice.forms
    choices = Choices((), explained := list[Explained]())
    demanded_forms(found, choice, choices)
    measured, estimated = (each for each in explained if isinstance(each, Explanation))
    assert (measured.choice, estimated.choice) == (FOUR, FOUR)
    assert (measured.reason.why, measured.microseconds) == (Why.MEASURED, 40.0)
    assert measured.alternatives == [(TWO, 50.0), (DIRECT, 60.0)]
    assert estimated.reason.why is Why.ESTIMATED
    assert dict(estimated.alternatives)[DIRECT] == 0.0
    assert estimated.microseconds == -second.transforms.saved(second.op, 4) < 0


@pytest.mark.parametrize(("noise", "is_taken"), [(0.01, True), (0.06, False)])
def test_gains_within_the_noise_change_nothing(noise: float, is_taken: bool):
    known = records(network(), 90.0, 55.0, noise=noise)
    assert forms(choose(known)) == ([TWO, TWO] if is_taken else [])


def test_without_a_time_of_the_usual_form_the_model_decides():
    known = [each for each in records(network(), 9.0, 9.0) if each.choice != FOUR]
    assert choose(known) == FormChoice()
    assert choose(records(network(), 9.0, 99.0, target="another")) == FormChoice()


def test_forms_that_do_not_run_are_not_chosen():
    assert forms(choose(records(network(), None, 70.0))) == [TWO, TWO]
    assert forms(choose(records(network(), 40.0, None))) == [DIRECT, DIRECT]


def test_records_of_the_nearest_device_count_alone():
    elsewhere = records(network(), 9.0, 99.0, device=OTHER, when=NEW)
    assert not forms(choose([*records(network(), 60.0, 20.0), *elsewhere]))
    found = choose(elsewhere)
    assert forms(found) == [DIRECT, DIRECT]
    (remark,) = found.remarks
    assert "forms of convolutions are the fastest measured on Another processor" in remark
    assert len(choose(records(network(), 9.0, 99.0), NEWER).remarks) == 1


@pytest.mark.parametrize(
    ("usual", "other", "is_taken"),
    [(10.0, 9.0, True), (10.0, 11.0, False), (10.0, None, False), (None, 9.0, True)],
)
def test_forms_that_are_slower_in_the_network_do_not_count(
    usual: float | None, other: float | None, is_taken: bool
):
    found, known = network(), records(network(), 9.0, 99.0)
    tuned = dict.fromkeys(found, DIRECT)
    whole = [
        of_form(network_key(found), choice_key(found, chosen), time)
        for chosen, time in (({}, usual), (tuned, other))
    ]
    assert forms(choose([*known, *whole])) == ([DIRECT, DIRECT] if is_taken else [])


def test_only_what_a_convolution_computes_counts():
    (plain,) = one()
    assert plain.digest == one(seed=1, bias=True)[0].digest
    others = [one(size=13), one(pad=0), one(f16), one(blocks="off")]
    assert len({plain.digest, *(each.digest for (each,) in others)}) == 5


def test_forms_that_are_not_exact_enough_are_no_choice():
    adreno = load_target("adreno-740")
    assert list(one(f16)[0].tiles) == [DIRECT, TWO]
    assert list(one(f16, half=True)[0].tiles) == [DIRECT, TWO]
    assert list(one(f16, target=adreno)[0].tiles) == [DIRECT, TWO]
    # How much transforms add to the error of sums in half is not known there.
    assert not one(f16, half=True, target=adreno)


def test_where_the_facts_decide_there_is_no_choice():
    assert not one(winograd="off")
    assert not one(winograd="prefer")
    # A map of one tile, and no cost of the transforms that is known.
    assert list(one(size=4)[0].tiles) == [DIRECT, TWO]
    assert not one(winograd_packed_cost=0.0)
