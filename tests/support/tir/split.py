"""Models whose reductions are split into a number of parts, wherever that is possible."""

from __future__ import annotations

import onnx
from xdsl.dialects.builtin import ModuleOp

import clopt
from clopt.context import CloptContext
from clopt.dialects import cl, nn, tir
from clopt.frontends.onnx import import_onnx
from clopt.passes.nn.mixed_precision import NNMixedPrecisionPass
from clopt.passes.pipelines import run_pipeline
from clopt.passes.tir.rules.naive_kernel import NaiveKernel
from clopt.passes.tir.rules.plans import plan_of
from clopt.passes.tir.rules.shared.split_reduction import SPLIT_REDUCTION
from clopt.passes.tir.rules.space import Params, Space
from clopt.targets import TargetChoice


def split_kernels(module: ModuleOp, parts: int) -> int:
    """Give the naive kernels of a module plans that split them, with about `parts` parts.

    Returns how many kernels could be split.
    """
    target, count = cl.target_of(module), 0
    for func in module.ops:
        if isinstance(func, tir.FuncOp):
            space = SPLIT_REDUCTION.space(NaiveKernel(func), target)
            if isinstance(space, Space):
                along = space.structure.along
                _, domain = space.decisions
                numbers = [int(str(n)) for n in domain.domain_at(Params({"along": along}))]
                chosen = min(numbers, key=lambda n: abs(n - parts))
                func.plan = plan_of(SPLIT_REDUCTION, Params({"along": along, "parts": chosen}))
                count += 1
    return count


def compile_split(
    model: onnx.ModelProto, target: str, parts: int, precision: str = "f32"
) -> tuple[clopt.CompiledModel, int]:
    """A model for a target, and how many of its kernels are split."""
    ctx = CloptContext()
    module = import_onnx(model, ctx.weights, None)
    facts = TargetChoice.parse(target).load()
    assert facts is not None
    cl.set_target(module, facts)
    for network in nn.networks_of(module):
        nn.name_parameters(network)
    run_pipeline(ctx, module, "simplify")
    if precision != "f32":
        NNMixedPrecisionPass(precision=precision).apply(ctx, module)
    for stage in ("fuse", "lower"):
        run_pipeline(ctx, module, stage)
    count = split_kernels(module, parts)
    for stage in ("schedule", "memory"):
        run_pipeline(ctx, module, stage)
    return clopt.compile(module, facts, weights=ctx.weights), count
