"""Lifetimes, the bytes of values, and which images can be one object."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.ir import SSAValue
from xdsl.parser import Parser

from clopt.context import CloptContext
from clopt.dialects import cl
from clopt.dialects.cl.byte_set import ByteSet

IMAGE = "memref<2x8x4xf32, #tir.scope<texture, [1]>>"
BUFFER = "memref<2x8x4xf32>"


def parse(commands: str) -> cl.ProgramOp:
    """A program of these commands, from `%x` to `%y`."""
    head = (
        f'cl.program @main(%x: {BUFFER} {{cl.name = "x"}}, %y: {BUFFER} {{cl.name = "y"}}) inputs 1'
    )
    module = Parser(CloptContext(), f"{head} {{\n{commands}\ncl.return\n}}").parse_module()
    module.verify()
    (program,) = module.ops
    assert isinstance(program, cl.ProgramOp)
    return program


def named(program: cl.ProgramOp, found: dict[SSAValue, object]) -> dict[str | None, object]:
    return {value.name_hint: what for value, what in found.items()}


def test_a_value_lives_from_its_first_slice_to_the_last_use_of_a_view() -> None:
    program = parse(f"""
        %arena = cl.arena : memref<512xi8>
        %t = cl.alloc : {BUFFER}
        %u = cl.buffer_view %arena[128] : {BUFFER}
        %untouched = cl.alloc : {BUFFER}
        %head = cl.view %t[0] : {BUFFER} to memref<32xf32>
        %tail = cl.view %t[128] : {BUFFER} to memref<32xf32>
        %end = cl.view %tail[64] : memref<32xf32> to memref<16xf32>
        %from = cl.view %x[128] : {BUFFER} to memref<32xf32>
        cl.enqueue_copy %x, %u : {BUFFER}
        cl.enqueue_copy %from, %tail : memref<32xf32>
        cl.enqueue_copy %from, %head : memref<32xf32>
        cl.enqueue_copy %u, %y : {BUFFER}
        %other = cl.view %y[0] : {BUFFER} to memref<16xf32>
        cl.enqueue_copy %end, %other : memref<16xf32>
    """)
    assert len(cl.commands(program)) == 5
    assert named(program, cl.lifetimes(program)) == {
        "u": cl.Lifetime(0, 3),
        "t": cl.Lifetime(1, 4),
    }
    parts = cl.parts(program)
    assert named(program, {v: (p.root.name_hint, p.offset) for v, p in parts.items()}) == {
        "x": ("x", 0),
        "y": ("y", 0),
        "arena": ("arena", 0),
        "t": ("t", 0),
        "u": ("u", 0),
        "untouched": ("untouched", 0),
        "head": ("t", 0),
        "tail": ("t", 128),
        "end": ("t", 192),
        "from": ("x", 128),
        "other": ("y", 0),
    }
    extents = {
        v.name_hint: (e.memory.name_hint, e.begin, e.end)
        for v, e in ((v, cl.extent(v, p)) for v, p in parts.items())
    }
    assert extents["u"] == ("arena", 128, 384)
    assert extents["end"] == ("t", 192, 256)


def test_an_image_takes_its_pitch_for_every_row() -> None:
    program = parse(f"""
        %arena = cl.arena : memref<1024xi8>
        %i = cl.image_view %arena[256] pitch 192 : {IMAGE}
        cl.enqueue_copy %x, %i : {BUFFER} to {IMAGE}
        cl.enqueue_copy %i, %y : {IMAGE} to {BUFFER}
    """)
    ((value, part),) = [(v, p) for v, p in cl.parts(program).items() if v.name_hint == "i"]
    found = cl.extent(value, part)
    assert (found.begin, found.end) == (256, 256 + 2 * 192)


@pytest.mark.parametrize(("first", "last", "meets"), [(0, 2, True), (3, 3, True), (5, 9, False)])
def test_lifetimes_include_both_ends(first: int, last: int, meets: bool) -> None:
    assert cl.Lifetime(2, 4).overlaps(cl.Lifetime(first, last)) is meets
    assert cl.Lifetime(first, last).overlaps(cl.Lifetime(2, 4)) is meets


def test_images_share_an_object_when_they_are_equal_and_not_live_at_once() -> None:
    half = "memref<2x8x4xf16, #tir.scope<texture, [1]>>"
    reshaped = "memref<1x2x8x4xf32, #tir.scope<texture, [2]>>"
    program = parse(f"""
        %a = cl.alloc : {IMAGE}
        %b = cl.alloc : {IMAGE}
        %c = cl.alloc : {IMAGE}
        %d = cl.alloc : {IMAGE}
        %h = cl.alloc : {half}
        %r = cl.alloc : {reshaped}
        %untouched = cl.alloc : {IMAGE}
        %z = cl.view %x : {BUFFER} to memref<2x8x4x2xf16>
        %w = cl.view %z[0] : memref<2x8x4x2xf16> to memref<2x8x4xf16>
        %q = cl.view %x : {BUFFER} to memref<1x2x8x4xf32>
        cl.enqueue_copy %x, %b : {BUFFER} to {IMAGE}
        cl.enqueue_copy %b, %a : {IMAGE}
        cl.enqueue_copy %a, %c : {IMAGE}
        cl.enqueue_copy %w, %h : memref<2x8x4xf16> to {half}
        cl.enqueue_copy %q, %r : memref<1x2x8x4xf32> to {reshaped}
        cl.enqueue_copy %c, %d : {IMAGE}
        cl.enqueue_copy %d, %y : {IMAGE} to {BUFFER}
    """)
    images = [op.result for op in program.body.block.ops if isinstance(op, cl.AllocOp)]
    objects = named(program, cl.image_objects(program, images))
    # b: 0-1, a: 1-2, c: 2-5, r: 4 (the same image, of another rank), d: 5-6; h has another format.
    assert objects == {"untouched": 0, "b": 0, "a": 1, "c": 0, "h": 2, "r": 1, "d": 1}
    assert cl.image_objects(program, reversed(images)) == cl.image_objects(program, images)


RANGES = st.tuples(st.integers(0, 30), st.integers(0, 12)).map(lambda r: (r[0], r[0] + r[1]))


@given(st.lists(RANGES, max_size=12), RANGES)
def test_sets_of_bytes(added: list[tuple[int, int]], asked: tuple[int, int]) -> None:
    bytes_ = ByteSet()
    for begin, end in added:
        bytes_.add(begin, end)
    there = {i for begin, end in added for i in range(begin, end)}
    missing = bytes_.first_missing(*asked)
    absent = [i for i in range(*asked) if i not in there]
    if not absent:
        assert missing is None
    else:
        run = next(i for i in range(absent[0], asked[1] + 1) if i in there or i == asked[1])
        assert missing == (absent[0], run)
