"""Both simulators against numpy, for every instruction and three configurations."""

from __future__ import annotations

import numpy as np
import pytest

from clopt.dialects.vta.config import BATCH_2, BLOCK_16, BLOCK_32, Config
from support.vta import products  # noqa: F401  (its cases join the table)
from support.vta.cases import CASES
from support.vta.streams import simulate, simulate_stages

CONFIGS = (BLOCK_16, BLOCK_32, BATCH_2)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
@pytest.mark.parametrize("name", CASES)
def test_simulators_compute_what_numpy_does(name: str, config: Config):
    case = CASES[name](config, np.random.default_rng(1))
    case.check(simulate(case, config))
    for seed in range(3):
        case.check(simulate_stages(case, config, seed))
