"""The convolutions of the benchmark are what their rows say."""

from __future__ import annotations

import onnx
import pytest
from convolutions import CONVOLUTIONS

import clopt


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_shapes_agree_with_onnx(name: str) -> None:
    case = CONVOLUTIONS[name]
    model = case.model()
    onnx.checker.check_model(model, full_check=True)
    (x,) = model.graph.input
    assert tuple(dim.dim_value for dim in x.type.tensor_type.shape.dim) == case.inputs()["x"].shape


def test_there_are_thirty_all_different() -> None:
    assert len({*CONVOLUTIONS.values()}) == len(CONVOLUTIONS) == 30


def test_work_is_counted_as_we_compile_it() -> None:
    case = CONVOLUTIONS["dilated 3x3, 256-256, 28, by 2"]
    assert case.gflop == pytest.approx(2e-9 * 256 * 256 * 9 * 28 * 28)
    assert clopt.compile(case.model(), "pocl").outputs[0].shape == (1, 256, 28, 28)
