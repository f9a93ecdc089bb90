"""The kernels of a model with both choices of fusion: the cost model's, and the opposite.

`tir-join-strips` joins two kernels or leaves them apart, depending on the times of all three.
"""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp

from ..context import CloptContext
from ..passes.pipelines import Tuning
from ..passes.tir.join_strips import TIRJoinStripsPass, join_strips
from ..passes.tir.tuned_joins import Pair
from ..weights import Weights
from .tasks import tasks_of
from .trial import Task

_NEAR = 2.0
"""Joined kernels are tried up to this estimated cost, relative to the cost of their parts."""


def tasks_in_fusions(module: ModuleOp, weights: Weights, tuning: Tuning) -> list[Task]:
    """Return the tasks of a module before `tir-join-strips`, with the joins of tuning databases.

    They are followed by the kernels that only other joins make, with `other_launches` instead of
    `launches`.
    """
    found = _tasks(module, weights, TIRJoinStripsPass(**vars(tuning)))
    others: dict[str, Task] = {}
    for most in (_NEAR, 0.0):
        changed = module.clone()
        join_strips(changed, lambda pair, most=most: pair.ratio <= most)
        others |= {task.kernel: task for task in tasks_of(changed, weights)}
    return [
        *found,
        *(
            replace(task, launches=0, other_launches=task.launches)
            for key, task in others.items()
            if key not in {task.kernel for task in found}
        ),
    ]


def _tasks(module: ModuleOp, weights: Weights, joins: TIRJoinStripsPass) -> list[Task]:
    joined = module.clone()
    joins.apply(CloptContext(), joined)
    return tasks_of(joined, weights)


def pairs_of(module: ModuleOp) -> list[Pair]:
    """Return the pairs of kernels that can be joined, in a module before `tir-join-strips`."""
    found: list[Pair] = []

    def is_joined(pair: Pair) -> bool:
        found.append(pair)
        return False

    join_strips(module, is_joined)
    return found
