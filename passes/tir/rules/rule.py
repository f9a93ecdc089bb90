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
class Kernels:
    """The kernels that a rule is for; None where both kinds are."""

    device: str | None = None
    """`cpu` or `gpu`."""
    texels: bool | None = None
    """Those that access texels, or those in plain memory."""
    reductions: bool | None = None
    """Those with stages besides their outputs, which are reductions or feed some."""

    def misfit(self, kernel: NaiveKernel, target: cl.Target) -> Misfit | None:
        """Why a kernel is none of these."""
        if self.device not in (None, target.device_type):
            return Misfit(f"the device is no {self.device.upper()}")
        if self.reductions not in (None, bool(kernel.producers)):
            return Misfit("it has no reduction" if self.reductions else "it has a reduction")
        if self.texels is not None and self.texels != (target.uses_textures and kernel.is_packed):
            return Misfit("it accesses no texels" if self.texels else "it accesses texels")
        return None


@dataclass(frozen=True)
class Rule(Generic[Facts]):
    """A way to schedule kernels of some shape.

    `fit` looks at one of its kernels, changes nothing, and returns the decisions that there are, or
    why the rule cannot schedule it. `objection` says why a later rule suits a kernel better that
    this one can schedule; without one the kernel is the rule's. `default` decides by a model of the
    target. `apply` carries any point of the space out, with primitives only; it gets the schedule's
    kernel as seen before the first step. `cost` is that of a point by the rule's model, in units
    that compare points of one kernel.

    The version counts the meanings of the parameters: a plan of another version is refused.
    """

    name: str
    version: int
    kernels: Kernels
    fit: Callable[[NaiveKernel, cl.Target], Space[Facts] | Misfit]
    default: Callable[[Space[Facts]], Params]
    apply: Callable[[Schedule, NaiveKernel, Params], None]
    cost: Callable[[Space[Facts], Params], float] | None = None
    objection: Callable[[Space[Facts]], str | None] | None = None

    def space(self, kernel: NaiveKernel, target: cl.Target) -> Space[Facts] | Misfit:
        """The decisions that there are for a kernel, or why the rule does not fit."""
        return self.kernels.misfit(kernel, target) or self.fit(kernel, target)

    def objection_to(self, space: Space[Facts]) -> str | None:
        """Why a later rule suits the kernel of a space better; None where the rule takes it."""
        return None if self.objection is None else self.objection(space)
