"""Networks whose kernels have plans drawn at random give onnxruntime's answers on every runtime."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import clopt
from clopt.backends.pyopencl_runtime import find_device, target_for
from clopt.context import CloptContext
from clopt.dialects import cl, nn, tir
from clopt.frontends.onnx import import_onnx
from clopt.passes.pipelines import run_pipeline
from clopt.passes.tir.rules.stages import is_naive
from support import effort
from support.onnx import builders
from support.onnx.on_devices import TOLERANCES, expected_outputs
from support.tir.plans import random_plan

NAMES = ("mobilenet_v2", "resnet18", "vit_tiny")


def compiled(model: onnx.ModelProto, device: str, rng: np.random.Generator) -> clopt.CompiledModel:
    """The model for this device, each kernel scheduled by a plan that `rng` draws."""
    ctx = CloptContext()
    module = import_onnx(model, ctx.weights, None)
    target = target_for(find_device(device))
    cl.set_target(module, target)
    for network in nn.networks_of(module):
        nn.name_parameters(network)
    for stage in ("simplify", "fuse", "lower"):
        run_pipeline(ctx, module, stage)
    for func in module.ops:
        if isinstance(func, tir.FuncOp) and is_naive(func):
            func.plan = random_plan(func, target, lambda values: values[rng.integers(len(values))])
    for stage in ("schedule", "memory"):
        run_pipeline(ctx, module, stage)
    return clopt.compile(module, target, device=device, weights=ctx.weights)


@pytest.mark.parametrize("seed", effort.seeds(1, long=30))
@pytest.mark.parametrize("name", NAMES)
def test_random_plans(name: str, seed: int, device: str) -> None:
    model = builders.NETWORKS[name]()
    inputs = builders.inputs_for(model)
    outputs = compiled(model, device, np.random.default_rng(seed)).run(inputs)
    for got, want in zip(outputs, expected_outputs(model, inputs), strict=True):
        assert np.abs(got - want).max() <= TOLERANCES["f32"] * np.abs(want).max()
