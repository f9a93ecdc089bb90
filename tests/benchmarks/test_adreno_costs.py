"""The layout model's slots, and the facts of a target that fit counts."""

from __future__ import annotations

import numpy as np
import pytest
from adreno_costs import LayoutWork, Sample, fit, fitted, layout_work
from xdsl.parser import Parser

from clopt.context import CloptContext
from clopt.dialects import cl
from clopt.passes.pipelines import run_pipeline
from clopt.targets import load_target

CONVOLUTION = """
func.func @network(%x: tensor<1x64x28x28xf32>, %w: tensor<32x64x1x1xf32>) -> tensor<1x32x28x28xf32> {
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x64x28x28xf32>, tensor<32x64x1x1xf32>) -> tensor<1x32x28x28xf32>
  %z = nn.unary exp %y : (tensor<1x32x28x28xf32>) -> tensor<1x32x28x28xf32>
  func.return %z : tensor<1x32x28x28xf32>
}
"""  # noqa: E501


def test_the_model_counts_multiply_adds_accesses_and_results() -> None:
    ctx, target = CloptContext(), load_target("adreno-740")
    module = Parser(ctx, CONVOLUTION).parse_module()
    cl.set_target(module, target)
    run_pipeline(ctx, module, "fuse")
    works = dict(layout_work(module, target)).values()
    (work,) = (work for work in works if work.multiply_adds)
    assert work.multiply_adds == pytest.approx(64 * 32 * 28 * 28)
    assert work.elements == pytest.approx(32 * 28 * 28)
    assert work.accesses > work.multiply_adds / 16


def samples(noise: float) -> list[Sample]:
    """Kernels whose slots are those of facts 5 and 9, some of them far off."""
    rng = np.random.default_rng(7)
    found: list[Sample] = []
    for i in range(60):
        work = LayoutWork(1e6, *rng.uniform(1e4, 1e5, 2))
        factor = 4.0 if i % 10 == 0 else 1 + rng.uniform(-noise, noise)
        found.append(Sample("740", work, factor * work.slots(5.0, 9.0)))
    return found


def test_few_kernels_that_are_far_off_do_not_bend_the_fit() -> None:
    assert fit(samples(0.0)) == pytest.approx((5.0, 9.0), rel=0.02)
    assert fit(samples(0.05)) == pytest.approx((5.0, 9.0), rel=0.2)


def test_the_table_says_how_far_the_facts_of_a_target_are_off() -> None:
    *_, given, best = fitted(samples(0.0), {"740": (0.0, 0.0)})
    errors = [abs(sample.error(0.0, 0.0)) for sample in samples(0.0)]
    assert f"| {np.median(errors):.0%} |" in given
    assert "| 5.0 | 9.0 | 1.00 | 0% | 90% |" in best
