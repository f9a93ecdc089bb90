"""The report of a planned program agrees with bytes counted by hand."""

from __future__ import annotations

from clopt.dialects.cl import Target
from clopt.reports.memory import Waste
from support.cl.reported_programs import BUFFERS, IMAGES, UNPLANNED, report


def test_buffers_and_a_launch_in_place() -> None:
    found = report(BUFFERS)
    assert [(row.name, row.kind, row.bytes, row.first, row.last) for row in found.rows] == [
        ("a", "buffer", 100, 0, 3),
        ("b", "buffer", 100, 1, 2),
        ("c", "in place", 100, 2, 3),
        ("d", "buffer", 20, 4, 4),
    ]
    assert found.rows[0].kernels == ("f", "add")
    assert found.rows[3].kernels == ("copy",)
    # a, then a and b, then a and what is b and c at once, then a and c, then d.
    assert found.live == (100, 200, 200, 200, 20)
    assert (found.lower_bound, found.busiest) == (200, 1)
    # b and c lie from 128 to 228; that is what alignment costs, and 300 - 228 are left.
    assert (found.peak, found.arena_bytes) == (228, 300)
    assert found.waste == Waste(pitch=0, alignment=28, fragmentation=72)
    assert found.ratio == 1.5
    assert found.without_reuse == 320
    assert (found.weights, found.inputs, found.outputs) == (40, 200, 100)
    assert (found.separate, found.objects_without_views, found.without_views) == (0, 0, 228)
    assert found.total == 300 + 40 + 200 + 100


def test_images_with_a_pitch_and_objects() -> None:
    found = report(
        IMAGES,
        Target.from_facts(
            "generic", {"image_pitch_alignment_bytes": 64, "image_base_alignment_bytes": 64}
        ),
    )
    by_name = {row.name: row for row in found.rows}
    assert [by_name[name].bytes for name in "aptb"] == [384, 288, 288, 384]
    assert [by_name[name].kind for name in "aptb"] == ["image", "separate", "image", "image"]
    assert (by_name["t"].arena, by_name["b"].offset) == (1, 384)
    # From the sixth command on there are a, b and t; a and b have 96 bytes of padding each.
    assert found.live == (384, 384, 384, 384, 672, 1056, 1056, 384)
    assert (found.busiest, found.waste) == (5, Waste(pitch=192, alignment=0, fragmentation=0))
    assert (found.arenas, found.peak, found.ratio) == ((768, 288), 1056, 1.0)
    # p is written last, so neither q nor r can have its place; q is still read when r is written.
    assert (found.separate, found.separate_bytes) == (3, 3 * 288)
    # t stays in its arena, a and b are live at once.
    assert (found.objects_without_views, found.without_views) == (5, 288 + 5 * 288)
    assert [by_name[name].pitch for name in "apt"] == [64, None, None]
    assert found.without_reuse == 2 * 384 + 288 + 3 * 288
    assert found.total == 1056 + 3 * 288 + 2 * 288


def test_without_a_plan_every_buffer_is_separate() -> None:
    found = report(UNPLANNED)
    assert (found.arena_bytes, found.lower_bound, found.ratio) == (0, 0, 1.0)
    assert (found.separate, found.separate_bytes, found.without_reuse) == (1, 100, 100)
    assert found.total == 300


def test_commands_are_named_by_their_nodes() -> None:
    named = BUFFERS.replace(
        "cl.enqueue_copy %part, %d : memref<5xf32>",
        'cl.enqueue_copy %part, %d : memref<5xf32> loc("tail")',
    )
    found = report(named)
    assert found.commands == ("f", "f", "relu", "add", "tail")
