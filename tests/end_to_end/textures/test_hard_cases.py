"""Networks that are hard for packed layouts give onnxruntime's answers, computed from images."""

from __future__ import annotations

import numpy as np
import pytest

from support.onnx import hard_cases, on_devices

VIEWS = frozenset({"unpack_pixels"})
"""Nothing but other names for the input: no kernel at all."""
IN_HALF = (
    "rgb_stem_7x7 rgb_stem_nhwc 771_channels 3_outputs_nhwc depthwise_63 depthwise_batch_4 "
    "pad_crossed groups_dilated groups_unaligned transposed_k4 conv_max_pool "
    "conv_average_pool_padded branching_pools residual_scaled unaligned_concat mean_added "
    "concat_split_transpose slice_channels squeeze_and_rank_6 attention wide_row global_pool_deep "
    "max_of_colours_odd pack unpack softmax_c mean_c sum_ch mean_hw layer_norm_hw depth_to_space "
    "pad_channels"
).split()
"""One of each way to read and write halves. Left out are what differs in arithmetic alone, what
makes large errors of small ones (a logarithm, a product) and what jumps at a threshold (argmax).
"""

pytestmark = pytest.mark.usefixtures("quick_builds")  # other tests have the drivers optimise


def _check(name: str, device: str, precision: str) -> None:
    model = hard_cases.CASES[name](False)
    shape = [dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim]
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    compiled = on_devices.check(model, {"x": x}, {device: device}, precision)
    assert "__read_only image" in compiled.source or name in VIEWS


@pytest.mark.in_turns
@pytest.mark.parametrize("name", list(hard_cases.CASES))
def test_float(name: str, device: str) -> None:
    _check(name, device, "f32")


@pytest.mark.by_default(cases=1)
@pytest.mark.in_turns
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if i % 2 else pytest.mark.long) for i, name in enumerate(IN_HALF)],
)
def test_half_storage(name: str, device: str) -> None:
    _check(name, device, "f16-storage")
