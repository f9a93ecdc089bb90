"""The kernels of a model in either choice of fusion: as the model has them, and the other way.

`tir-join-strips` makes one kernel of two, or leaves them apart. The times of all three decide.
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
"""Kernels are tried that the model holds to cost at most so many times what their parts cost."""


def tasks_in_fusions(module: ModuleOp, weights: Weights, tuning: Tuning) -> list[Task]:
    """The tasks of a module as `tir-join-strips` gets it, with the joins of tuning databases.

    Behind them those of the kernels that it has by other joins only; they have no `launches`, but
    `other_launches`.
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
    """The pairs of kernels that are joined or not, in a module as `tir-join-strips` gets it."""
    found: list[Pair] = []

    def is_joined(pair: Pair) -> bool:
        found.append(pair)
        return False

    join_strips(module, is_joined)
    return found
