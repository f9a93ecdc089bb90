"""Compare the cost model for layouts and offload with counted issue slots, and fit its facts.

If launches and memory are free, the model of `passes/nn/layout/cost.py` counts slots of
multiply-adds, accesses and results. A multiply-add costs one slot. The costs of accesses and
results are facts of a target; `fit` computes them from counts, or from a profile of a device.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from clopt.dialects import cl, nn
from clopt.passes.locations import node_name
from clopt.passes.nn.layout.cost import LayoutCostModel
from clopt.passes.nn.layout.kernels import work_of_region

_ROUNDS = 100
_SMALL = 0.02
"""The smallest error used as a weight, so that the rounds converge."""
_NOTHING = 1e-9


@dataclass(frozen=True)
class LayoutWork:
    """The work that the model counts for a kernel."""

    multiply_adds: float
    accesses: float
    """Loads and stores, each costing one slot per unit of the fact `access_cost`."""
    elements: float
    """Elements of the result, each costing one slot per unit of `result_cost`."""

    def slots(self, access_cost: float, result_cost: float) -> float:
        """Return the slots by the model with these facts."""
        return self.multiply_adds + access_cost * self.accesses + result_cost * self.elements


@dataclass(frozen=True)
class Sample:
    """A kernel on a GPU."""

    gpu: str
    work: LayoutWork
    counted: float
    """Counted slots of a launch."""

    def error(self, access_cost: float, result_cost: float) -> float:
        """Return the model's error with these facts, relative to the count; negative if too low."""
        return self.work.slots(access_cost, result_cost) / self.counted - 1


def layout_work(module: ModuleOp, target: cl.Target) -> Iterator[tuple[str, LayoutWork]]:
    """Return the kernels of a module after `nn-fuse`, by the name of their node."""
    bare = target.with_facts(
        {
            "bandwidth": 1 / _NOTHING,
            "launch_microseconds": 0.0,
            "access_cost": _NOTHING,
            "result_cost": 0.0,
        }
    )
    models = [
        LayoutCostModel(facts)
        for facts in (
            bare,
            bare.with_facts({"access_cost": 1.0}),
            bare.with_facts({"result_cost": 1.0}),
        )
    ]
    for op in module.walk():
        if isinstance(op, nn.FusedOp):
            alone, accesses, elements = (_slots(op, model) for model in models)
            yield node_name(op), LayoutWork(alone, accesses - alone, elements - alone)


def _slots(op: nn.FusedOp, model: LayoutCostModel) -> float:
    work, result = work_of_region(op), nn.layout_of(op.results[0])
    pairs = zip(op.body.block.args, op.operands, strict=True)
    time = model.write(nn.tensor_type(work.result), result)
    time += sum(model.read(work, inner, nn.layout_of(outer), result) for inner, outer in pairs)
    return time * model.rate


def fit(samples: Sequence[Sample]) -> tuple[float, float]:
    """Return the `access_cost` and `result_cost` with the smallest sum of relative errors.

    Least squares with the errors of the previous round as weights (iteratively reweighted: E. J.
    Schlossmacher, Journal of the American Statistical Association 68, 1973).
    """
    counted = np.array([sample.counted for sample in samples])
    terms = np.array([(s.work.accesses, s.work.elements) for s in samples]) / counted[:, None]
    rest = 1 - np.array([sample.work.multiply_adds for sample in samples]) / counted
    weights, found = np.ones(len(samples)), np.zeros(2)
    for _ in range(_ROUNDS):
        found = np.linalg.lstsq(terms * weights[:, None], rest * weights, rcond=None)[0]
        weights = np.maximum(abs(terms @ found - rest), _SMALL) ** -0.5
    access_cost, result_cost = found.tolist()
    return access_cost, result_cost


def fitted(samples: Sequence[Sample], facts: Mapping[str, tuple[float, float]]) -> Iterator[str]:
    """Return the errors of each target's facts, and the facts that fit the counts of all GPUs."""
    best = fit(samples)
    yield "| facts of | kernels | access_cost | result_cost | ratio | median error | within 15 % |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for gpu, given in facts.items():
        same = [sample for sample in samples if sample.gpu == gpu]
        for name, pair in ((gpu, given), (f"{gpu}, fitted to all", best)):
            errors = [sample.error(*pair) for sample in same]
            sizes = [abs(error) for error in errors]
            within = sum(size <= 0.15 for size in sizes) / len(sizes)
            costs = " | ".join(f"{cost:.1f}" for cost in pair)
            ratios = f"{1 + median(errors):.2f} | {median(sizes):.0%} | {within:.0%}"
            yield f"| {name} | {len(same)} | {costs} | {ratios} |"
