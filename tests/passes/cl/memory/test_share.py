"""Whole buffers that tensors take turns in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clopt.passes.cl.memory import LiveTensor, share

TENSORS = st.lists(
    st.builds(
        lambda size, first, life: LiveTensor(size, first, first + life),
        st.integers(1, 100),
        st.integers(0, 20),
        st.integers(0, 6),
    ),
    max_size=25,
)


@given(TENSORS)
def test_tensors_of_an_arena_are_never_needed_together(tensors: list[LiveTensor]) -> None:
    plan = share(tensors)
    assert set(plan.offsets) <= {0}
    assert plan.bytes >= plan.lower_bound
    for i, one in enumerate(tensors):
        assert one.size <= plan.sizes[plan.arenas[i]]
        for j, other in enumerate(tensors[:i]):
            assert plan.arenas[i] != plan.arenas[j] or not one.meets(other)


def test_a_chain_takes_turns_in_two() -> None:
    chain = [LiveTensor(size, i, i + 1) for i, size in enumerate([40, 100, 30, 60, 20])]
    plan = share(chain)
    assert plan.sizes == (100, 40)
    assert plan.arenas == (1, 0, 1, 0, 1)
