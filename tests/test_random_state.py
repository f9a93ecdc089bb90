"""Generators of test modules, which each test finds as they were."""

from __future__ import annotations

import numpy as np
import pytest

RNG = np.random.default_rng(0)
FIRST = np.random.default_rng(0).random()


@pytest.mark.parametrize("turn", [1, 2])
def test_each_test_draws_the_same_numbers(turn: int):
    assert RNG.random() == FIRST
