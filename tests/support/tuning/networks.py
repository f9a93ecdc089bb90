"""Small networks as the tuner gets them: lowered up to the choice of plans."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from clopt.context import CloptContext
from clopt.dialects import cl, nn
from clopt.passes.pipelines import run_pipeline
from clopt.passes.tir.choose_plan import TIRChoosePlanPass
from clopt.passes.tir.rules.plans import default_plan
from clopt.tuning.programs import Programs
from clopt.tuning.tasks import tasks_of
from clopt.tuning.trial import Task, Trial
from support.nn.layout_graphs import Graph


def residual_network(
    target: cl.Target, channels: int = 8, precision: str = "f32"
) -> tuple[ModuleOp, CloptContext]:
    """Four convolutions, of which two are equal, a residual sum, and a product."""
    graph = Graph((1, channels, 6, 6))
    x = graph.x
    weight = graph.constant(channels, channels, 3, 3)
    for _ in range(4):
        x = graph.add(nn.ConvOp(x, weight, pads=[1] * 4))
    x = graph.relu(graph.binary(x, graph.x))
    rows = graph.add(nn.ReshapeOp(x, [1, channels * 36]))
    module = graph.module(
        graph.add(nn.MatmulOp(rows, graph.constant(channels * 36, 10))), target=target
    )
    ctx = CloptContext()
    for network in nn.networks_of(module):
        nn.name_parameters(network)
    run_pipeline(ctx, module, "opencl", precision=precision, until=TIRChoosePlanPass)
    return module, ctx


def residual_tasks(target: cl.Target, channels: int = 8, precision: str = "f32") -> list[Task]:
    """The tasks of `residual_network`."""
    module, ctx = residual_network(target, channels, precision)
    return tasks_of(module, ctx.weights)


def default_trial(task: Task) -> Trial:
    """The plan that a kernel gets without a tuner."""
    return Trial(task, default_plan(Programs(task).kernel, task.target).data)


def noise(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, np.float32)
