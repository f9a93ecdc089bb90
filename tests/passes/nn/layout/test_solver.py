"""The cheapest choice: against all choices where these can be counted, and how long it takes."""

from __future__ import annotations

import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from solvers import random_problem

from clopt.passes.nn.layout.solver import Problem, solve
from support import effort


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Up to seven variables of up to four candidates, related at random."""
    problem = Problem()
    cost = st.integers(0, 20)
    count = draw(st.integers(1, 7))
    for _ in range(count):
        problem.add(draw(st.lists(cost, min_size=1, max_size=4)))
    for _ in range(draw(st.integers(0, 14))):
        a, b = (draw(st.integers(0, count - 1)) for _ in range(2))
        shape = len(problem.costs[a]), len(problem.costs[b])
        numbers = draw(st.lists(cost, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
        problem.relate(a, b, np.array(numbers, float).reshape(shape))
    return problem


def least(problem: Problem) -> float:
    """The cost of the best of all choices."""
    return min(map(problem.cost_of, product(*(range(len(c)) for c in problem.costs))))


@given(problems())
@settings(max_examples=effort.examples(200))
def test_small_graphs_are_exact(problem: Problem):
    solution = solve(problem)
    assert solution.exact
    assert solution.cost == problem.cost_of(solution.choice) == least(problem)


@given(problems())
@settings(max_examples=effort.examples(100))
def test_without_room_for_tables_it_says_so_and_is_no_worse_than_each_alone(problem: Problem):
    solution = solve(problem, largest_table=4)
    assert solution.cost == problem.cost_of(solution.choice) >= least(problem)
    assert not solution.exact or solution.cost == least(problem)
    around = problem.neighbours()
    for variable, choice in enumerate(solution.choice):
        costs = problem.local_costs(variable, solution.choice, around[variable])
        assert costs[choice] == pytest.approx(costs.min())


def chain_cost(problem: Problem) -> float:
    """Viterbi: the least cost of a chain, for each candidate of its end."""
    best = problem.costs[0]
    for i in range(1, len(problem.costs)):
        best = (best[:, None] + problem.pairs[i - 1, i]).min(axis=0) + problem.costs[i]
    return float(best.min())


def test_a_chain_of_5000_layers_is_exact_within_seconds():
    problem = random_problem(5000, [(i, i + 1) for i in range(4999)])
    start = time.process_time()  # others may be busy, too
    solution = solve(problem)
    assert time.process_time() - start < 5
    assert solution.exact
    assert solution.cost == pytest.approx(chain_cost(problem))


@pytest.mark.parametrize(
    "edges",
    [
        pytest.param([(i // 2, i) for i in range(1, 300)], id="tree"),
        pytest.param([(0, i) for i in range(1, 300)], id="star"),
        pytest.param(
            [(i, j) for i in range(299) for j in (i + 1, i + 3 * (i % 3 == 0)) if i < j < 300],
            id="residual",
        ),
        pytest.param(
            [(i, i + 1) for i in range(299)] + [(i, 299 - i) for i in range(0, 148)], id="u-net"
        ),
    ],
)
def test_the_graphs_of_networks_are_exact(edges: list[tuple[int, int]]):
    assert solve(random_problem(300, edges)).exact


def test_a_dense_graph_is_solved_well_and_the_same_each_time():
    edges = [(i, j) for j in range(60) for i in range(j)]
    problem = random_problem(60, edges)
    first, second = solve(problem), solve(random_problem(60, edges))
    assert not first.exact
    assert first == second
    rng = np.random.default_rng(1)
    tried = [problem.cost_of(rng.integers(0, 5, 60).tolist()) for _ in range(2000)]
    assert first.cost < min(tried)


def test_a_group_moves_together_though_each_member_alone_costs_more():
    """Twenty kernels are cheaper on the other side of a costly border, but not nineteen of them."""
    problem = Problem()
    for _ in range(20):
        problem.add([0.0, 1.0])
    for b in range(20):
        for a in range(b):
            problem.relate(a, b, np.array([[1.0, 10.0], [10.0, 0.0]]))
    solution = solve(problem, largest_table=16)
    assert not solution.exact
    assert solution.choice == (1,) * 20


def test_ties_go_to_the_first_candidates():
    problem = Problem()
    for _ in range(3):
        problem.add([1.0, 1.0])
    problem.relate(0, 1, np.ones((2, 2)))
    problem.relate(1, 2, np.ones((2, 2)))
    assert solve(problem).choice == (0, 0, 0)
