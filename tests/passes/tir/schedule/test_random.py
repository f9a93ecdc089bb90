"""Random kernels keep their results under every schedule that the primitives accept."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from fuzz.schedules.check import check
from fuzz.schedules.device import run_all
from fuzz.schedules.known import known_kernel
from fuzz.schedules.nests import random_nest

from support import effort

BATCH = 10


@pytest.mark.by_default(cases=1)
@pytest.mark.parametrize("draw", [random_nest, known_kernel])
@pytest.mark.parametrize("first", effort.seeds(6, long=500))
def test_accepted_steps_keep_the_results(
    first: int, draw: Callable[[np.random.Generator], str]
) -> None:
    """After each step the kernel verifies; in the end, and lowered, it computes the same."""
    outcomes = [check(first * BATCH + i, draw) for i in range(BATCH)]
    assert not [str(outcome) for outcome in outcomes if outcome.fault]


def test_a_device_computes_the_same(device: str) -> None:
    start = effort.seed() * BATCH
    found = [check(seed) for seed in range(start, start + effort.examples(8, long=400))]
    lowered = [outcome for outcome in found if outcome.lowered is not None]
    # About half: kernels with temporaries in global memory must be split first.
    assert 3 * len(lowered) > len(found)
    run_all(lowered, device)
    assert not [str(outcome) for outcome in lowered if outcome.fault]
