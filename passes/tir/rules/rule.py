"""The protocol of schedule rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic

from ....dialects import cl
from ..schedule import Schedule
from .naive_kernel import NaiveKernel
from .space import Facts, Misfit, Params, Space


@dataclass(frozen=True)
class Rule(Generic[Facts]):
    """A way to schedule kernels of some shape.

    `space` looks at a kernel, changes nothing, and returns the decisions that there are, or why the
    rule does not fit. `default` decides them by a model of the target. `apply` carries any point of
    the space out, with primitives only; it gets the schedule's kernel as seen before the first
    step. `cost` is that of a point by the rule's model, in units that compare points of one kernel.

    The version counts the meanings of the parameters: a plan of another version is refused.
    """

    name: str
    version: int
    space: Callable[[NaiveKernel, cl.Target], Space[Facts] | Misfit]
    default: Callable[[Space[Facts]], Params]
    apply: Callable[[Schedule, NaiveKernel, Params], None]
    cost: Callable[[Space[Facts], Params], float] | None = None
