"""Orders of steps: allowed ones only, the best where all can be tried, unchanged without a gain."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from clopt.passes.cl.memory import QueueStep, order
from support import effort

Problem = tuple[list[QueueStep], list[int], list[int]]


def allowed(steps: Sequence[QueueStep], found: Sequence[int]) -> bool:
    """Every pair of steps of which one writes what the other touches stays in its order."""
    place = {step: i for i, step in enumerate(found)}
    return sorted(found) == list(range(len(steps))) and all(
        place[i] < place[j]
        for j, later in enumerate(steps)
        for i, earlier in enumerate(steps[:j])
        if set(earlier.writes) & {*later.reads, *later.writes}
        or set(earlier.reads) & set(later.writes)
    )


def peak(problem: Problem, found: Sequence[int]) -> int:
    """The most bytes live at one step, by asking of each tensor and step whether it is."""
    steps, sizes, kept = problem
    touched = [{*s.reads, *s.writes} for s in steps]
    lives: list[tuple[int, int, int]] = []
    for t, size in enumerate(sizes):
        places = [i for i, step in enumerate(found) if t in touched[step]]
        if places:
            first_step = next(s for s, tensors in zip(steps, touched, strict=True) if t in tensors)
            first = 0 if t in first_step.reads else places[0]
            lives.append((first, len(found) if t in kept else places[-1], size))
    return max(
        sum(size for first, last, size in lives if first <= i <= last) for i in range(len(found))
    )


@st.composite
def problems(draw: st.DrawFn, most: int) -> Problem:
    """Steps over a few tensors, with several writers, tensors given and tensors kept."""
    count = draw(st.integers(1, most))
    tensors = st.integers(0, count + 2)
    steps: list[QueueStep] = []
    for i in range(count):
        reads = draw(st.sets(st.integers(0, i + 1), max_size=2))
        writes = {i + 2} if draw(st.integers(0, 4)) else {draw(tensors)}
        steps.append(QueueStep(tuple(sorted(reads)), tuple(sorted(writes))))
    sizes = draw(st.lists(st.integers(0, 9), min_size=count + 3, max_size=count + 3))
    return steps, sizes, draw(st.lists(tensors, max_size=2))


# Two parts reach the peak; the second cannot be improved, so the first must stay as it is.
TWO_WORST = (
    [
        QueueStep((), (0,)),
        QueueStep((), (0,)),
        QueueStep((), (1,)),
        QueueStep((0,), (5,)),
        QueueStep((1,), (0,)),
        QueueStep((0,), (7,)),
    ],
    [0, 1, 0, 0, 0, 1, 0, 2, 0],
    [],
)


@given(problems(6))
@example(TWO_WORST)
@settings(max_examples=effort.examples(60))
def test_few_steps_get_the_best_of_all_orders(problem: Problem):
    steps, sizes, kept = problem
    found = order(steps, sizes, kept)
    assert allowed(steps, found)
    best = min(
        peak(problem, some) for some in permutations(range(len(steps))) if allowed(steps, some)
    )
    assert peak(problem, found) == best
    if peak(problem, range(len(steps))) == best:
        assert found == list(range(len(steps)))


@given(problems(30))
@settings(max_examples=effort.examples(40))
def test_no_order_is_worse_than_the_first(problem: Problem):
    steps, sizes, kept = problem
    found = order(steps, sizes, kept)
    assert allowed(steps, found)
    assert peak(problem, found) <= peak(problem, range(len(steps)))
    assert order(steps, sizes, kept) == found


def branches(count: int, length: int) -> Problem:
    """A module of branches, written level by level: each widens, then narrows to one byte."""
    steps = [QueueStep((), (0,))]
    sizes = [4]
    ends = [0] * count
    for level in range(length):
        for branch in range(count):
            sizes.append(100 if level < length - 1 else 1)
            steps.append(QueueStep((ends[branch],), (len(sizes) - 1,)))
            ends[branch] = len(sizes) - 1
    sizes.append(count)
    steps.append(QueueStep(tuple(ends), (len(sizes) - 1,)))
    return steps, sizes, [len(sizes) - 1]


def test_branches_are_done_one_after_the_other():
    problem = branches(4, 3)
    assert peak(problem, range(14)) == 500
    found = order(*problem)
    assert allowed(problem[0], found)
    assert peak(problem, found) == 4 + 2 + 200


def test_many_branches_are_done_so_without_counting_all_sets():
    problem = branches(40, 3)
    found = order(*problem)
    assert allowed(problem[0], found)
    assert peak(problem, found) == 4 + 38 + 200


def test_only_the_part_with_the_peak_changes():
    first, second = branches(4, 3)[0], branches(4, 3)
    shift = len(second[1])
    steps = [*first, QueueStep((shift - 1,), (shift,))]
    steps += [
        QueueStep(tuple(t + shift for t in s.reads), tuple(t + shift for t in s.writes))
        for s in second[0][1:]
    ]
    sizes = [size // 4 for size in second[1]] + second[1]
    found = order(steps, sizes)
    assert found[:14] == list(range(14))
    assert found[14:] != list(range(14, len(steps)))
    assert allowed(steps, found)


def test_a_chain_stays_as_it_is():
    steps = [QueueStep((i,), (i + 1,)) for i in range(50)]
    assert order(steps, [7] * 51) == list(range(50))
    assert order([], []) == []
