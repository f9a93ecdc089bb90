"""A limit on memory: the plan stays within it, is right, and gives up no more than it must."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import StringAttr, f32

import clopt
from clopt.decisions import Site, SiteKind
from clopt.decisions.alternatives import Alternative
from clopt.decisions.choice_file import choices_text
from clopt.decisions.choices import ATTRIBUTE_NAME as CHOICES
from clopt.decisions.choices import choices_of
from clopt.dialects import tir
from clopt.dialects.remarks import ATTRIBUTE_NAME as REMARKS
from clopt.passes.memory_program import Option, cheapest
from clopt.passes.memory_times import ProgramTimes
from clopt.passes.memory_usage import MemoryUsage, Stored
from support.onnx import builders
from support.tuning.networks import grouped_network

SEED = 7


def graph(
    nodes: list[onnx.NodeProto], x: list[int], y: list[int], **weights: tuple[int, ...]
) -> onnx.ModelProto:
    """A model from `x` to `y` with random weights."""
    rng = np.random.default_rng(SEED)
    arrays = [
        numpy_helper.from_array(rng.standard_normal(shape, dtype=np.float32) / 8, name)
        for name, shape in weights.items()
    ]
    ports = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", x), ("y", y))
    ]
    made = helper.make_graph(nodes, "network", ports[:1], ports[1:], arrays)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def convolutions(*channels: int) -> onnx.ModelProto:
    """3x3 convolutions, one after the other."""
    nodes: list[onnx.NodeProto] = []
    weights: dict[str, tuple[int, ...]] = {}
    names = ["x", *(f"t{i}" for i in range(len(channels) - 2)), "y"]
    for i, (cin, cout) in enumerate(pairwise(channels)):
        inputs = [names[i], f"w{i}"]
        nodes.append(
            helper.make_node("Conv", inputs, [names[i + 1]], name=f"conv{i}", pads=[1, 1, 1, 1])
        )
        weights[f"w{i}"] = (cout, cin, 3, 3)
    shapes = ([1, channels[i], 24, 24] for i in (0, -1))
    return graph(nodes, *shapes, **weights)


def products() -> onnx.ModelProto:
    """A deep product with few results, and a function of them."""
    nodes = [
        helper.make_node("MatMul", ["x", "v"], ["t"], name="deep"),
        helper.make_node("Softmax", ["t"], ["u"], name="softmax"),
        helper.make_node("MatMul", ["u", "w"], ["y"], name="last"),
    ]
    return graph(nodes, [64, 8192], [64, 64], v=(8192, 64), w=(64, 64))


@dataclass(frozen=True)
class Case:
    """A model whose fastest plan takes memory, and the choice that does without."""

    words: str
    """The choice in the remark."""
    target: str
    model: Callable[[], onnx.ModelProto]


CASES = {
    "transforms": Case(
        "(form direct)",
        "adreno-740 texture=prefer winograd=prefer",
        lambda: convolutions(16, 16, 16, 8),
    ),
    "tails of blocks": Case(
        "(layout plain)",
        "pocl blocks=prefer winograd=off vector_width=16",
        lambda: convolutions(16, 24, 24, 16),
    ),
    "borders": Case(
        "(border loops)", "pocl blocks=off winograd=off", lambda: convolutions(4, 16, 16, 4)
    ),
    "copies of operands": Case(
        "(operands stored)", "adreno-740 texture=prefer fp16=false", grouped_network
    ),
    "parts of sums": Case("(plan ", "nvidia texture=off", products),
}


def run(model: onnx.ModelProto, compiled: clopt.CompiledModel) -> None:
    """Compare a compiled model with onnxruntime."""
    inputs = builders.inputs_for(model)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    for found, expected in zip(compiled.run(inputs), session.run(None, inputs), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("name", CASES)
@pytest.mark.by_default(cases=1)
def test_a_plan_one_byte_smaller_gives_up_what_takes_memory(name: str) -> None:
    case = CASES[name]
    fastest = clopt.compile(case.model(), case.target).memory
    most = fastest.arena_bytes + fastest.separate_bytes
    limited = clopt.compile(case.model(), case.target, memory_limit=most - 1)
    assert limited.memory.arena_bytes + limited.memory.separate_bytes < most
    (remark,) = (text for text in limited.remarks if "less memory" in text)
    assert case.words in remark


@pytest.mark.in_turns
@pytest.mark.usefixtures("quick_builds")
@pytest.mark.parametrize("name", CASES)
def test_what_is_given_up_changes_no_result(name: str, device: str) -> None:
    case = CASES[name]
    with pytest.raises(clopt.CloptError) as refusal:
        clopt.compile(case.model(), case.target, memory_limit=1)
    least = least_of(refusal.value)
    compiled = clopt.compile(case.model(), case.target, device=device, memory_limit=least)
    run(case.model(), compiled)


def least_of(error: clopt.CloptError) -> int:
    (digits,) = re.findall(r"need at least ([\d,]+) bytes, at ", str(error))
    return int(digits.replace(",", ""))


NETWORKS = {
    "unet": "adreno-740 texture=prefer winograd=prefer",
    "mobilenet_v1": "pocl vector_width=16",
}
# `transforms` above gives up the same as the U-Net, which takes twenty seconds.
PARAMETERS = [pytest.param("unet", marks=pytest.mark.long), "mobilenet_v1"]


@pytest.mark.parametrize("name", PARAMETERS)
def test_the_least_of_the_error_is_possible(name: str) -> None:
    model, target = builders.NETWORKS[name](), NETWORKS[name]
    with pytest.raises(clopt.CloptError) as refusal:
        clopt.compile(model, target, memory_limit=0)
    least = least_of(refusal.value)
    memory = clopt.compile(model, target, memory_limit=least).memory
    assert memory.arena_bytes + memory.separate_bytes == least
    with pytest.raises(clopt.CloptError, match=f"need at least {least:,} bytes, at "):
        clopt.compile(model, target, memory_limit=least - 1)


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_limit_above_the_fastest_plan_changes_nothing(name: str) -> None:
    model, target = builders.NETWORKS[name](), NETWORKS[name]
    fastest = clopt.compile(model, target)
    memory = fastest.memory.arena_bytes + fastest.memory.separate_bytes
    limited = clopt.compile(model, target, memory_limit=memory)
    assert str(limited.module) == str(fastest.module)
    assert limited.remarks == fastest.remarks


def test_one_of_several_transforms_is_given_up_where_that_is_enough() -> None:
    model, target = convolutions(16, 16, 16, 24, 8), CASES["transforms"].target
    fastest = clopt.compile(model, target).memory
    limited = clopt.compile(model, target, memory_limit=fastest.arena_bytes - 1)
    (remark,) = (text for text in limited.remarks if "less memory" in text)
    assert remark.count("(form direct)") == 1


@pytest.mark.parametrize("name", CASES)
def test_the_choices_under_a_limit_give_the_same_program_without_it(
    name: str, tmp_path: Path
) -> None:
    case, path = CASES[name], tmp_path / "net.choices"
    path.write_text(choices_text([]))
    memory = clopt.compile(case.model(), case.target).memory
    limit = memory.arena_bytes + memory.separate_bytes - 1
    limited = clopt.compile(case.model(), case.target, memory_limit=limit, choices=path)
    path.write_text(choices_text(choices_of(limited.module) or ()))
    again = clopt.compile(case.model(), case.target, choices=path)
    assert choices_text(choices_of(again.module) or ()) == path.read_text()
    for module in (again.module, limited.module):
        # Choices have the other possible words, too, and a demand opens those of closed sites.
        del module.attributes[CHOICES]
    del limited.module.attributes[REMARKS]
    assert str(again.module) == str(limited.module)
    assert again.memory.arena_bytes + again.memory.separate_bytes <= limit
    assert not again.remarks


def usage(*live: int, stored: tuple[Stored, ...] = ()) -> MemoryUsage:
    """The memory of a program, each of whose commands stems from an operation of its own."""
    operations = [frozenset({i}) for i in range(len(live))]
    return MemoryUsage(max(live), live, operations, stored, True, ["node"])


def option(site: str, saved: Mapping[int, int], time: float) -> Option:
    return Option(site, time, {command: size << 10 for command, size in saved.items()})


def test_cheapest_takes_the_least_time_for_the_bytes() -> None:
    program, limit = usage(200 << 10), 200 << 10
    small, large, dear = (
        option("a", {0: 10}, 1.0),
        option("b", {0: 100}, 20.0),
        option("c", {0: 100}, 30.0),
    )
    options = [dear, large, small]
    assert cheapest(program, options, limit - (10 << 10)).numbers == [2]
    # The small one costs least per byte, but is not needed once the large one is taken.
    assert cheapest(program, options, limit - (100 << 10)).numbers == [1]
    assert cheapest(program, options, limit - (105 << 10)).numbers == [1, 2]
    reached = cheapest(program, options, limit - (1000 << 10))
    assert reached.numbers == [0, 1, 2]
    assert not reached.is_within


def test_one_option_can_serve_two_commands() -> None:
    """Each command by itself would take the cheaper option that serves it alone."""
    program = usage(110 << 10, 110 << 10)
    options = [option("a", {0: 10}, 2.0), option("b", {1: 10}, 2.0), option("c", {0: 10, 1: 10}, 3)]
    assert cheapest(program, options, 100 << 10).numbers == [2]


def test_options_of_a_site_exclude_each_other() -> None:
    program = usage(100 << 10)
    options = [option("a", {0: 30}, 1.0), option("a", {0: 30}, 1.0), option("b", {0: 30}, 9.0)]
    assert cheapest(program, options, 70 << 10).numbers == [0]
    assert cheapest(program, options, 40 << 10).numbers == [0, 2]
    assert not cheapest(program, options, 10 << 10).is_within


def test_an_image_is_freed_when_all_values_have_left_it() -> None:
    shape = tir.Image(tir.ImageKind.Image2D, f32, 8, 8)
    first, second = (Stored(i, 50 << 10, i, i, shape) for i in range(2))
    program = usage(100 << 10, 100 << 10, stored=(first, second))
    options = [
        Option("first", 1.0, {}, frozenset({first})),
        Option("second", 1.0, {}, frozenset({second})),
        option("other", {0: 50, 1: 50}, 2.5),
    ]
    assert cheapest(program, options, 50 << 10).numbers == [0, 1]
    assert cheapest(program, options[1:], 50 << 10).numbers == [1]


def test_a_change_of_time_is_shared_by_the_alternatives_that_touch_the_launch() -> None:
    def alternative(digest: str, *operations: int) -> Alternative:
        site, numbers = Site(SiteKind.LAYOUT, digest), frozenset(operations)
        choice = StringAttr("plain")
        return Alternative(1, 0.0, site=site, choice=choice, operations=numbers, nodes=digest)

    read, written, apart = alternative("a", 0), alternative("b", 1), alternative("c", 3)
    touched = {0: frozenset({0}), 1: frozenset({0, 1}), 2: frozenset({1, 2})}
    before = ProgramTimes({0: 5.0, 1: 8.0, 2: 3.0}, touched)
    after = ProgramTimes({0: 4.0, 1: 2.0, 4: 1.5}, touched)
    changes = before.changes(after, [read, written, apart])
    # Launch 1 is 6 us shorter, and launch 2 vanishes. Nothing taken explains launch 4.
    assert changes == {read: -1.0 - 3.0, written: -3.0 - 3.0, apart: 0.0}


def test_a_program_takes_no_limit() -> None:
    program = clopt.compile(convolutions(4, 4, 4), "pocl").module
    with pytest.raises(clopt.CloptError, match="this program already has a memory plan"):
        clopt.compile(program, memory_limit=1000)
