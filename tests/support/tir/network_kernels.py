"""The naive kernels of the small networks and of the hard cases, on some targets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clopt.context import CloptContext
from clopt.dialects import cl, tir
from clopt.frontends.onnx import import_onnx
from clopt.passes.pipelines import run_pipeline
from clopt.targets import TargetChoice
from support.onnx import builders, hard_cases

TARGETS = ("pocl", "nvidia", "adreno-740 texture=prefer")
MODELS = {
    **builders.NETWORKS,
    **{f"hard {name}": lambda case=case: case(False) for name, case in hard_cases.CASES.items()},
}


@dataclass(frozen=True)
class NaiveKernel:
    """A kernel that no pass has scheduled, by itself."""

    model: str
    func: tir.FuncOp
    target: cl.Target


def kernels_of(model: str, target: str) -> Iterator[NaiveKernel]:
    """The kernels of one of `MODELS`, before the pipeline `schedule`."""
    ctx = CloptContext()
    module = import_onnx(MODELS[model](), ctx.weights, None)
    facts = TargetChoice.parse(target).load()
    assert facts is not None
    cl.set_target(module, facts)
    for pipeline in ("simplify", "fuse", "lower"):
        run_pipeline(ctx, module, pipeline)
    for op in module.ops:
        if isinstance(op, tir.FuncOp):
            yield NaiveKernel(model, op, facts)


def sample(items: Sequence[str], count: int) -> list[str]:
    """Some of a list, evenly spread."""
    return [items[i * len(items) // count] for i in range(count)]
