"""Profiles of hand-made timings: medians, groups, rooflines, traces."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from xdsl.parser import Parser

from clopt.context import CloptContext
from clopt.dialects.cl import ProgramOp, Target
from clopt.reports.profile import Profile, ProfileWork, Roof, profile_of, trace_text

# @scale multiplies 1000 floats: 1000 multiply-adds and 8000 bytes. The empty launch never runs.
PROGRAM = """
tir.func @scale(%x: memref<1000xf32>, %y: memref<1000xf32>) attributes {
    outputs = array<i64: 1>, comment = "scale, in 2 launches",
    global_size = array<i64: 1000>, local_size = array<i64: 1>} {
  tir.for global_x %i = 0 to 1000 {
    %v = memref.load %x[%i] : memref<1000xf32>
    %a = arith.mulf %v, %v : f32
    memref.store %a, %y[%i] : memref<1000xf32>
  }
}
cl.kernel @none(memref<0xf32>, memref<0xf32>) outputs [1] global [0] local [1]
cl.kernel @known(memref<1000xf32>, memref<1000xf32>) outputs [1] global [1] local [1]
cl.program @main(%x: memref<1000xf32>, %y: memref<1000xf32>, %e: memref<0xf32>) inputs 1 {
  %a = cl.alloc : memref<1000xf32>
  cl.enqueue_kernel @scale(%x, %a) : memref<1000xf32>, memref<1000xf32> loc("first")
  %z = cl.alloc : memref<0xf32>
  cl.enqueue_kernel @none(%z, %e) : memref<0xf32>, memref<0xf32> loc("none")
  %b = cl.alloc : memref<1000xf32>
  cl.enqueue_kernel @scale(%a, %b) : memref<1000xf32>, memref<1000xf32> loc("second")
  cl.enqueue_copy %b, %y : memref<1000xf32> loc("second")
  cl.return
}
"""
# Arithmetic takes 1000 / (2 * 1) = 500 ns, memory 8000 / 10 = 800 ns.
TARGET = Target.from_facts(
    "generic", {"mads_per_nanosecond": 2.0, "compute_units": 1, "bandwidth": 10.0}
)


@dataclass(frozen=True)
class Timed:
    start: int
    nanoseconds: int


RUNS = [
    [Timed(5000, 1000), Timed(7000, 3000), Timed(10000, 500)],
    [Timed(20000, 1600), Timed(22000, 2000), Timed(25000, 400)],
    [Timed(30000, 9000), Timed(40000, 2200), Timed(43000, 800)],
]


def profile(text: str = PROGRAM) -> Profile:
    module = Parser(CloptContext(), text).parse_module()
    (program,) = (op for op in module.ops if isinstance(op, ProgramOp))
    return profile_of(program, TARGET, RUNS)


def test_rows_are_the_commands_that_run() -> None:
    rows = profile().rows
    assert [(row.name, row.kind, row.node) for row in rows] == [
        ("scale", "kernel", "first"),
        ("scale", "kernel", "second"),
        ("copy", "copy", "second"),
    ]
    assert [row.nanoseconds for row in rows] == [1600, 2200, 500]
    assert [row.least for row in rows] == [800, 800, 800]
    assert rows[0].fused == "scale, in 2 launches"
    assert rows[2].work.bytes == 8000


def test_groups_sum_medians_and_the_slowest_is_first() -> None:
    found = profile()
    kernels, nodes = found.by_kernel, found.by_node
    assert [(g.name, g.commands, g.nanoseconds) for g in kernels] == [
        ("scale", 2, 3800),
        ("copy", 1, 500),
    ]
    assert kernels[0].work.multiply_adds == 2000
    assert kernels[0].roofline == pytest.approx(1600 / 3800)
    assert [(g.name, g.others, g.nanoseconds) for g in nodes] == [
        ("second", ("scale", "copy"), 2700),
        ("first", ("scale",), 1600),
    ]
    assert found.total.nanoseconds == 4300


def test_the_whole_lasts_from_the_first_start_to_the_last_end() -> None:
    assert profile().nanoseconds == 5500  # 5500, 5400 and 13800


@pytest.mark.parametrize(("adds", "bound"), [(100, "memory"), (1000, "arithmetic"), (None, None)])
def test_the_longer_of_two_times_binds(adds: int | None, bound: str | None) -> None:
    roof, work = Roof(mads_per_nanosecond=10, bytes_per_nanosecond=4), ProfileWork(adds, 200)
    assert roof.bound(work) == bound
    assert roof.nanoseconds(work) == {"memory": 50, "arithmetic": 100, None: None}[bound]


def test_without_loops_the_roofline_is_unknown() -> None:
    found = profile(PROGRAM.replace("enqueue_kernel @scale(%a", "enqueue_kernel @known(%a"))
    by_name = {group.name: group for group in found.by_kernel}
    assert by_name["known"].work.multiply_adds is None
    assert by_name["known"].work.bytes == 8000
    assert by_name["known"].roofline is None
    assert by_name["scale"].roofline == 0.5
    assert found.total.roofline is None


def test_a_program_without_commands() -> None:
    head = PROGRAM[: PROGRAM.index("cl.program")]
    program = "cl.program @main(%x: memref<4xf32>) inputs 1 {\n  cl.return\n}"
    module = Parser(CloptContext(), head + program).parse_module()
    (op,) = (op for op in module.ops if isinstance(op, ProgramOp))
    found = profile_of(op, TARGET, [[], []])
    assert (found.rows, found.nanoseconds, found.total.nanoseconds) == ((), 0, 0)
    assert all(event["ph"] == "M" for event in json.loads(trace_text(found, "t"))["traceEvents"])


def test_a_trace_has_every_run_on_three_tracks() -> None:
    events: list[dict[str, Any]] = json.loads(trace_text(profile(), "the model"))["traceEvents"]
    tracks = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    slices = [event for event in events if event["ph"] == "X"]
    of_track = {
        name: [(e["name"], e["ts"], e["dur"]) for e in slices if e["tid"] == number]
        for number, name in tracks.items()
    }
    assert events[0]["args"]["name"] == "the model"
    assert of_track["commands"][:4] == [
        ("scale", 0.0, 1.0),
        ("scale", 2.0, 3.0),
        ("copy", 5.0, 0.5),
        ("scale", 15.0, 1.6),
    ]
    assert [name for name, _, _ in of_track["ONNX nodes"]] == ["first", "second", "second"] * 3
    assert of_track["inferences"][0] == ("inference 0", 0.0, 5.5)
    assert [e["args"]["share of the roofline"] for e in slices if e["tid"] == 1][:2] == [
        0.8,
        pytest.approx(0.8 / 3, abs=1e-4),
    ]
