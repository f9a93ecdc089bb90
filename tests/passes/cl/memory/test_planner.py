"""Plans of bare numbers: valid for any tensors, and the least for those of networks."""

from __future__ import annotations

import random
from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clopt.passes.cl.memory import ArenaPlan, LiveTensor, lower_bound, plan
from clopt.passes.cl.memory.search import stack
from support import effort


def check(tensors: list[LiveTensor], found: ArenaPlan) -> None:
    """Every tensor in an arena, aligned, and no two at the same bytes at the same time."""
    assert len(found.offsets) == len(found.arenas) == len(tensors)
    for tensor, offset, arena in zip(tensors, found.offsets, found.arenas, strict=True):
        assert offset % tensor.alignment == 0
        assert 0 <= offset <= found.sizes[arena] - tensor.size
    for i, j in combinations(range(len(tensors)), 2):
        if found.arenas[i] == found.arenas[j] and max(tensors[i].first, tensors[j].first) <= min(
            tensors[i].last, tensors[j].last
        ):
            low, high = sorted((i, j), key=lambda k: (found.offsets[k], tensors[k].size))
            assert found.offsets[low] + tensors[low].size <= found.offsets[high]
    assert found.bytes >= found.lower_bound
    assert found.lower_bound == max(
        (sum(t.size for t in tensors if t.first <= at.first <= t.last) for at in tensors),
        default=0,
    )


@st.composite
def tensors(draw: st.DrawFn, most: int = 40) -> list[LiveTensor]:
    """Any lifetimes, sizes and alignments, dense enough to overlap."""
    result: list[LiveTensor] = []
    for _ in range(draw(st.integers(0, most))):
        first = draw(st.integers(0, 20))
        last = first + draw(st.integers(0, 12))
        result.append(
            LiveTensor(
                draw(st.integers(0, 300)), first, last, 2 ** draw(st.sampled_from((0, 0, 4, 7)))
            )
        )
    return result


@given(tensors())
@settings(max_examples=effort.examples(100))
def test_a_plan_is_valid_and_the_same_again(some: list[LiveTensor]):
    found = plan(some, effort=3_000)
    check(some, found)
    assert len(found.sizes) == bool(some)
    assert plan(some, effort=3_000) == found
    assert found.bytes <= plan(some, effort=0).bytes


@given(tensors(), st.integers(300, 900))
@settings(max_examples=effort.examples(60))
def test_several_arenas_when_one_may_not_be_that_large(some: list[LiveTensor], capacity: int):
    found = plan(some, capacity, effort=3_000)
    check(some, found)
    assert all(size <= capacity for size in found.sizes)
    assert len(found.sizes) >= -(-lower_bound(some) // capacity)


def test_a_tensor_larger_than_an_arena_is_refused_by_its_sizes():
    with pytest.raises(ValueError, match="tensor 1 takes 101 bytes, an arena may have 100"):
        plan([LiveTensor(100, 0, 1), LiveTensor(101, 2, 3)], 100)


def test_without_tensors_there_is_no_arena():
    assert plan([]) == ArenaPlan((), (), (), 0, "empty")


def least(some: list[LiveTensor]) -> int:
    """The least arena, by trying all orders: each tensor lies on top of those below it."""
    best = sum(t.size for t in some)
    for order in permutations(some):
        tops: list[tuple[LiveTensor, int]] = []
        for tensor in order:
            offset = max((top for other, top in tops if other.meets(tensor)), default=0)
            tops.append((tensor, offset + tensor.size))
        best = min(best, max((top for _, top in tops), default=0))
    return best


@st.composite
def few_tensors(draw: st.DrawFn) -> list[LiveTensor]:
    """Up to six, with few sizes and times, so that orders differ."""
    result: list[LiveTensor] = []
    for _ in range(draw(st.integers(1, 6))):
        first = draw(st.integers(0, 6))
        result.append(LiveTensor(draw(st.integers(1, 6)), first, first + draw(st.integers(0, 4))))
    return result


@given(few_tensors())
@settings(max_examples=effort.examples(100))
def test_few_tensors_get_the_least_arena(some: list[LiveTensor]):
    found = plan(some)
    check(some, found)
    assert found.bytes == least(some)


def test_where_no_order_by_size_reaches_the_bound_the_search_does():
    # A pinwheel of four around one in the middle, twice: no cut divides it.
    wheel = [(2, 0, 3), (4, 4, 5), (2, 2, 5), (4, 0, 1), (2, 2, 3)]
    some = [LiveTensor(s * 64, a + 6 * k, b + 6 * k, 64) for k in (0, 1) for s, a, b in wheel]
    some.append(LiveTensor(128, 0, 11, 64))
    found = plan(some)
    check(some, found)
    assert found.bytes == found.lower_bound == 8 * 64


def rectangles(seed: int, count: int) -> list[LiveTensor]:
    """A rectangle of time by 1000 bytes, cut at random: 1000 bytes hold it without a gap."""
    rng = random.Random(seed)
    parts = [(0, count, 0, 1000)]
    while len(parts) < count:
        i = max(range(len(parts)), key=lambda i: (parts[i][1] - parts[i][0]) * rng.random())
        a, b, low, high = parts[i]
        if b - a > 1 and rng.random() < 0.5:
            at = rng.randint(a + 1, b - 1)
            parts[i : i + 1] = [(a, at, low, high), (at, b, low, high)]
        elif high - low > 1:
            at = rng.randint(low + 1, high - 1)
            parts[i : i + 1] = [(a, b, low, at), (a, b, at, high)]
    return [LiveTensor(high - low, a, b - 1) for a, b, low, high in parts]


@pytest.mark.parametrize("seed", range(4))
def test_the_search_fills_a_cut_rectangle_without_a_gap(seed: int):
    some = rectangles(seed, 40)
    rough = plan(some, effort=0)
    found = plan(some, 1000)
    check(some, found)
    assert found.sizes == (1000,) == (found.lower_bound,)
    assert rough.bytes >= 1000


def test_fitting_one_arena_is_worth_more_than_a_smaller_one():
    """The search for a smaller arena would have given up before it finds this plan."""
    some = rectangles(7, 80)
    assert stack(some, 1000, 4_000)[0] is None
    assert len(plan(some, 1000, effort=0).sizes) == 2
    found = plan(some, 1000, effort=4_000)
    check(some, found)
    assert found.sizes == (1000,)


def network(blocks: int) -> list[LiveTensor]:
    """Inverted bottlenecks with skip connections: expand, depthwise, project, sometimes add."""
    some: list[LiveTensor] = []
    time, size, narrow = 0, 802_816, 401_408
    for block in range(blocks):
        wide, skip = size // (1 + block // 2), block % 2
        some += [
            LiveTensor(narrow, time, time + (3 if skip else 1), 128),
            LiveTensor(wide, time + 1, time + 2, 128),
            LiveTensor(wide // (1 if skip else 4), time + 2, time + 3, 128),
        ]
        time += 3
        narrow = max(narrow // (1 if skip else 2), 6272)
    return some


@pytest.mark.parametrize("blocks", [1, 5, 17, 60])
def test_networks_need_no_more_than_is_live_at_once(blocks: int):
    some = network(blocks)
    found = plan(some)
    check(some, found)
    assert found.bytes == found.lower_bound
    assert found.method.startswith("by ")


def test_offsets_known_beforehand():
    chain = [LiveTensor(100, 0, 1, 64), LiveTensor(300, 1, 2, 64), LiveTensor(100, 2, 3, 64)]
    found = plan(chain)
    assert (found.offsets, found.sizes, found.lower_bound) == ((320, 0, 320), (420,), 400)
    assert found.method == "by size, tightest gap"


def test_hundreds_of_tensors_with_long_and_short_lives():
    rng = random.Random(0)
    for longest in (4, 400):
        some = [
            LiveTensor(rng.randint(1, 999) * 64, i, i + rng.randint(1, longest), 64)
            for i in range(400)
        ]
        found = plan(some)
        check(some, found)
        assert found.bytes < 1.25 * found.lower_bound
