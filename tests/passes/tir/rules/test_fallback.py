"""The rule for any kernel takes those whose stages are read in several places."""

from __future__ import annotations

import numpy as np
import pytest

from clopt.passes.tir.lower_blocks import lower_blocks
from clopt.passes.tir.rules.naive_kernel import NaiveKernel
from clopt.passes.tir.rules.plans import plan_of, planned
from clopt.passes.tir.rules.shared.fallback import FALLBACK
from clopt.passes.tir.rules.space import Space
from clopt.targets import load_target
from support.tir import interpreter, kernels


@pytest.mark.parametrize("name", ["pocl", "nvidia"])
def test_a_stage_that_a_reduction_and_the_output_read(name: str) -> None:
    """It is computed around both, one row at a time."""
    func, target = kernels.parse(kernels.normalise(5, 12)), load_target(name)
    expected = interpreter.results(kernels.parse(kernels.normalise(5, 12)))
    space = FALLBACK.space(NaiveKernel(func), target)
    assert isinstance(space, Space)
    func.plan = plan_of(FALLBACK, FALLBACK.default(space))
    planned(func, target).commit()
    lower_blocks(func)
    found = interpreter.results(func)
    np.testing.assert_array_equal(found[-1], expected[-1])
