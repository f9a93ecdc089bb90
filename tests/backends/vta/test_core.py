"""The core on every OpenCL runtime against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from clopt.backends.vta.core import CoreForm
from clopt.dialects.vta.config import BATCH_2, BLOCK_16, BLOCK_32, Config
from support.vta import products  # noqa: F401  (its cases join the table)
from support.vta.cases import CASES
from support.vta.streams import machine

VECTORS = CoreForm(lanes=1, vector=16)
LANES = CoreForm(lanes=64, vector=1)

# Forms take seconds to compile, so each configuration comes in one; oclgrind/ has others.
FORMS = ((BLOCK_16, VECTORS), (BLOCK_32, VECTORS), (BATCH_2, LANES))


@pytest.mark.parametrize(("config", "form"), FORMS, ids=lambda value: getattr(value, "name", ""))
@pytest.mark.by_default(cases=1)
def test_core_computes_what_numpy_does(config: Config, form: CoreForm, device: str):
    vta = machine(device, config, form)
    for name, build in CASES.items():
        case = build(config, np.random.default_rng(2))
        case.check(vta.run(case), name)
