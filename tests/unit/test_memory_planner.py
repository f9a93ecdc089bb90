"""Plans on numbers alone: valid for whatever tensors, and the least for what networks look like."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clopt.passes.cl.memory import Plan, Tensor, lower_bound, plan


def check(tensors: list[Tensor], found: Plan) -> None:
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
def tensors(draw: st.DrawFn, most: int = 40) -> list[Tensor]:
    """Any lifetimes, sizes and alignments, dense enough to overlap."""
    result: list[Tensor] = []
    for _ in range(draw(st.integers(0, most))):
        first = draw(st.integers(0, 20))
        last = first + draw(st.integers(0, 12))
        result.append(
            Tensor(draw(st.integers(0, 300)), first, last, 2 ** draw(st.sampled_from((0, 0, 4, 7))))
        )
    return result


@given(tensors())
@settings(max_examples=200, deadline=None)
def test_a_plan_is_valid_and_the_same_again(some: list[Tensor]):
    found = plan(some)
    check(some, found)
    assert len(found.sizes) == bool(some)
    assert plan(some) == found


@given(tensors(), st.integers(300, 900))
@settings(max_examples=100, deadline=None)
def test_several_arenas_when_one_may_not_be_that_large(some: list[Tensor], capacity: int):
    found = plan(some, capacity)
    check(some, found)
    assert all(size <= capacity for size in found.sizes)
    assert len(found.sizes) >= -(-lower_bound(some) // capacity)


def test_a_tensor_larger_than_an_arena_is_refused_by_its_sizes():
    with pytest.raises(ValueError, match="tensor 1 takes 101 bytes, an arena may have 100"):
        plan([Tensor(100, 0, 1), Tensor(101, 2, 3)], 100)


def test_without_tensors_there_is_no_arena():
    assert plan([]) == Plan((), (), (), 0, "empty")
