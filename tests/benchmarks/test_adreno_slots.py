"""Slots of Adreno kernels, counted in instructions that were written by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from adreno_isa import Count, Counts, Loop, count
from adreno_kernels import Row, compile_network, loops_of, row_of, work_items
from adreno_model import Kernel, comparison, kernels_of
from adreno_slots import Result, read, report, worse, written
from adreno_tool import Compiled, parse_records
from onnx import TensorProto, helper, numpy_helper

from clopt.dialects.cl import target_of

NESTED = """\
; statistics
mov.f32f32 r0.x, c0.x
(ss)shpe
(sy)(rpt1)mov.f32f32 r0.x, c0.x
l3:
(nop2) add.s r1.x, r1.x, 1
l4:     (sy)(rpt3)mad.f32 r2.x, r3.x, r4.x, r2.x
(ss)(nop1) cmps.s.lt p0.x, r1.x, c1.x
br p0.x, #l4
mul.f r5.x, r5.x, r5.x
br p0.x, #l3
br p0.x, #l7
(rpt1)mad.f16 hr2.x, hr3.x, hr4.x, hr2.x
l7:
end
nop
nop
"""
"""A preamble of 2 slots, then 6 slots around a loop of 3 + 2 whose inner loop takes 4 + 2 + 1."""


def test_trips_multiply_the_slots_of_loops() -> None:
    loops = [Loop(5, (Loop(10, is_rolled=True),))]
    counted = count(NESTED, loops, 4 * 50 + 5 + 2)
    assert counted == Count(Counts(6 + 5 * (3 + 2 + 10 * 7), 202, 2, 4 * 50 + 5 + 2), True)
    assert counted.counts.at_double_rate == counted.counts.slots - 1


def test_arithmetic_on_halves_alone_is_fast() -> None:
    code = """\
(rpt3)mul.f hr0.x, (r)hr1.x, hc2.x
(nop2) add.f hr0.x, hr1.x, (0.5)
mul.f hr0.x, r1.x, hr2.x
mul.f r0.x, r1.x, r2.x
cov.f32f16 hr0.x, r1.x
mad.f16 hr0.x, hr1.x, hc2.x, hr3.x
end
"""
    counts = count(code, [], 0).counts
    assert (counts.slots, counts.halves) == (4 + 3 + 1 + 1 + 1 + 1 + 1, 4 + 1 + 1)


def test_loops_that_are_not_found_count_once() -> None:
    assert count(NESTED, [Loop(5), Loop(10)], 1) == Count(Counts(18, 6, 2, 7), False)
    assert not count(NESTED, [], 1).is_matched


FLAT = """\
l0:
mad.f32 r0.x, r1.x, r2.x, r0.x
br p0.x, #l0
end
"""


@pytest.mark.parametrize(("arithmetic", "trips"), [(6, 6), (4, 4)])
def test_the_arithmetic_tells_which_loop_was_unrolled(arithmetic: int, trips: int) -> None:
    counted = count(FLAT, [Loop(4), Loop(6)], arithmetic)
    assert counted.counts.slots == 2 * trips + 1


def test_a_bound_that_is_an_argument_forbids_unrolling() -> None:
    assert count(FLAT, [Loop(4, is_rolled=True), Loop(6)], 6).counts.slots == 2 * 4 + 1
    assert not count(FLAT, [Loop(4, is_rolled=True), Loop(6, is_rolled=True)], 6).is_matched


def test_copies_of_an_unrolled_loop_contain_their_loops() -> None:
    twice = FLAT.replace("end\n", "") + FLAT.replace("l0", "l1")
    assert count(twice, [Loop(2, (Loop(3),))], 6).counts.slots == 2 * (2 * 3) + 1


def record(name: str, **facts: object) -> str:
    statistics = {"entry": name, "full": 24, "stp": 0, "ldp": 0, "max_waves": 4}
    wave = {"threadsize_base": 64, "double_threadsize": True}
    return f"@@BEGIN {json.dumps(statistics | wave | facts)}\n{FLAT}\n@@END\n"


def test_the_last_record_of_a_kernel_counts() -> None:
    text = record("__wrapped_a", full=1) + record("a", full=20, stp=3, ldp=4) + record("b")
    kernels = parse_records(text)
    assert list(kernels) == ["a", "b"]
    assert (kernels["a"].registers, kernels["a"].spills, kernels["a"].threads) == (20, 7, 512)
    assert kernels["a"].assembly == FLAT + "\n"


def two_convolutions() -> onnx.ModelProto:
    """Between them is an image; the second has 8 blocks of 4 input channels."""
    weights = [
        numpy_helper.from_array(np.ones((32, channels, 3, 3), np.float32), name)
        for name, channels in (("v", 16), ("w", 32))
    ]
    nodes = [
        helper.make_node("Conv", ["x", "v"], ["h"], "first", pads=[1, 1, 1, 1]),
        helper.make_node("Conv", ["h", "w"], ["y"], "second", pads=[1, 1, 1, 1]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 16, 56, 56])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 32, 56, 56])
    return helper.make_model(helper.make_graph(nodes, "g", [x], [y], weights))


def test_our_kernels_tell_loops_and_multiply_adds(tmp_path: Path) -> None:
    onnx.save(two_convolutions(), tmp_path / "two.onnx")
    network = compile_network(tmp_path / "two.onnx", "660", "f32")
    first, second = (32 * 56 * 56 * channels * 9 for channels in (16, 32))
    assert network.multiply_adds == first + second
    (name,) = (name for name, number in network.of_kernel.items() if number == second)
    assert sum(network.of_kernel.values()) == first + second

    function, target = network.functions[name], target_of(network.module)
    assert loops_of(function, target) == [Loop(8, (Loop(3, is_rolled=True),))]
    facts = parse_records(record(name))[name].statistics
    row = row_of(function, target, Compiled(facts, NESTED), ["second"], second)
    assert row.is_matched
    assert row.slots == 6 + 8 * (5 + 3 * 7)
    assert row.items == work_items(function) >= 56 * 56 * 32 // 4 // 14

    (kernel,) = kernels_of("two f32 660", network, [row])
    assert kernel.counted == (row.slots - 1) * row.items / second
    assert kernel.share == 1
    assert kernel.rule == "texel-tile"
    assert 1 < kernel.modelled <= kernel.cost


def result(**changes: object) -> Result:
    rows = (
        Row("conv_0", ("a", "b"), 100, 10, 20, 0, 256, 24, 0, True),
        Row("conv_1", ("c",), 100, 10, 10, 2, 128, 24, 0, True),
    )
    rows = (replace(rows[0], **changes), rows[1])
    return Result("resnet18", "f32", "740", "today", 300, rows)


def test_figures_of_a_network() -> None:
    network = result()
    assert network.cost == 2 * 10 * 20 + 10 * 9
    assert network.raw == 500 / 300
    assert network.threads == (400 * 256 + 90 * 128) / 490
    assert network.full == 400 / 490


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ({"slots": 20}, 0),
        ({"slots": 21}, 2),  # the kernel, and with it the network
        ({"slots": 19}, 0),
        ({"spills": 1}, 1),
        ({"kernel": "conv_7", "nodes": ("b", "a")}, 0),
        ({"nodes": ("new", "other")}, 0),
    ],
)
def test_a_kernel_that_became_worse_is_listed(changes: dict[str, object], lines: int) -> None:
    assert len(list(worse(result(), result(**changes)))) == lines


def test_results_are_kept_and_shown() -> None:
    results = {result().key: result()}
    assert read(written(results)) == results
    text = report(results)
    assert "| resnet18 | f32 | 740 | 1.633 | 1.25 | 232 | 82% |  | today |" in text
    assert "| conv | a | 2 | 2.00 | 81.6% | 256 | 24 | 0 |" in text


def test_errors_of_the_model_are_medians_of_rules() -> None:
    kernels = [
        Kernel("net f32 740 conv_0 a", "tile", 9.0, 1.0, 2.0, 0.5),
        Kernel("net f32 740 conv_1 b", "tile", 9.0, 1.9, 2.0, 0.3),
        Kernel("net f32 740 conv_2 c", "tile", 9.0, 3.0, 2.0, 0.2),
    ]
    lines = list(comparison(kernels))
    assert lines[2] == "| tile | 740 | 3 | 0.95 | 50% | 47% | 33% |"
    assert lines[6] == "| net f32 740 conv_0 a | tile | 1.00 | 2.00 | 9.00 | 50.0% |"
