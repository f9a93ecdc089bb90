"""The costs by which layouts and offload are chosen, against counted slots; facts that fit them.

Where a launch and memory cost nothing, the model of `passes/nn/layout/cost.py` counts slots: those
of multiply-adds, of accesses and of results. The first cost one each; what the other two cost are
facts of a target, which `fit` finds for counts, or as well for a profile of a device.
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
"""An error below this counts like it, so that the rounds converge."""
_NOTHING = 1e-9


@dataclass(frozen=True)
class LayoutWork:
    """What the model counts for a kernel."""

    multiply_adds: float
    accesses: float
    """Loads and stores, in those that a fact `access_cost` of 1 makes a slot."""
    elements: float
    """Of the result, likewise for `result_cost`."""

    def slots(self, access_cost: float, result_cost: float) -> float:
        """By the model with these facts."""
        return self.multiply_adds + access_cost * self.accesses + result_cost * self.elements


@dataclass(frozen=True)
class Sample:
    """A kernel on a GPU."""

    gpu: str
    work: LayoutWork
    counted: float
    """Slots of a launch."""

    def error(self, access_cost: float, result_cost: float) -> float:
        """Of the model with these facts, relative to the count; negative where it is less."""
        return self.work.slots(access_cost, result_cost) / self.counted - 1


def layout_work(module: ModuleOp, target: cl.Target) -> Iterator[tuple[str, LayoutWork]]:
    """Return the kernels of a module after `nn-fuse` by the name of their node."""
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
    """`access_cost` and `result_cost` with the least sum of relative errors.

    By least squares whose weights are the errors of the round before (iteratively reweighted:
    E. J. Schlossmacher, Journal of the American Statistical Association 68, 1973).
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
    """How well the facts of each GPU's target do, and those that fit the counts of all."""
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
