"""A compiled model holds the weights that it reads, and not those that passes replaced."""

from __future__ import annotations

import pytest

import clopt
from clopt.backends.programs import weights_read
from clopt.context import CloptContext
from clopt.frontends.onnx import import_onnx
from support.onnx import builders


@pytest.mark.by_default(cases=1)
@pytest.mark.parametrize("target", ["pocl", "adreno-740 clml=auto"])
@pytest.mark.parametrize("name", ["resnet18", "unet"])  # folded norms; transposed convolutions
def test_nothing_unread_stays(name: str, target: str) -> None:
    compiled = clopt.compile(builders.NETWORKS[name](), target)
    assert set(compiled.weights.keys()) == weights_read(compiled.module)


def test_the_store_of_the_caller_loses_nothing() -> None:
    ctx = CloptContext()
    module = import_onnx(builders.NETWORKS["resnet18"](), ctx.weights)
    before = set(ctx.weights.keys())
    compiled = clopt.compile(module, "pocl", weights=ctx.weights)
    assert before <= set(ctx.weights.keys())
    assert not before <= set(compiled.weights.keys())
