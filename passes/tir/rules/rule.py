"""The protocol of schedule rules: what a rule states, and in which order it is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic

from ....dialects import cl
from ....targets import multiplies_bytes
from ..schedule import Schedule
from .naive_kernel import NaiveKernel
from .space import (
    Decision,
    Domains,
    NotApplicable,
    Parameter,
    Params,
    Space,
    Structure,
    Value,
)


@dataclass(frozen=True)
class Needs:
    """A rule's requirements on the device and the kernel; None where it takes both kinds."""

    device: str | None = None
    """`cpu` or `gpu`."""
    texels: bool | None = None
    """Kernels that access texels, or kernels in plain memory."""
    reductions: bool | None = None
    """Kernels with producer stages (reductions, or inputs of reductions), or without."""
    byte_products: bool = False
    """An instruction that adds four products of bytes to a sum."""

    def __str__(self) -> str:
        kinds = {True: "with", False: "without"}
        needs = [] if self.device is None else [f"a {self.device.upper()}"]
        needs += ["products of bytes"] if self.byte_products else []
        needs += [] if self.texels is None else [f"kernels {kinds[self.texels]} texels"]
        needs += [] if self.reductions is None else [f"kernels {kinds[self.reductions]} reductions"]
        return ", ".join(needs)

    def unmet(self, kernel: NaiveKernel, target: cl.Target) -> NotApplicable | None:
        """Return the first need that the device or the kernel does not meet."""
        if self.device not in (None, target.device.device_type):
            return NotApplicable(f"it needs a {self.device.upper()}")
        if self.reductions not in (None, bool(kernel.producers)):
            return NotApplicable("it has no reduction" if self.reductions else "it has a reduction")
        if self.texels is not None and self.texels != (target.uses_textures and kernel.is_packed):
            return NotApplicable("it accesses no texels" if self.texels else "it accesses texels")
        if self.byte_products and not multiplies_bytes(target):
            return NotApplicable("it needs an instruction for products of bytes")
        return None


@dataclass(frozen=True)
class Rule(Generic[Structure]):
    """A way to schedule kernels of some structure.

    The version changes with the meaning of a parameter: plans of other versions are refused.
    """

    name: str
    version: int
    needs: Needs
    parameters: tuple[Parameter, ...]
    """All decisions that the rule has for any kernel: the schema of its plans."""
    structure: Callable[[NaiveKernel], Structure | NotApplicable]
    """Finds the structure of a kernel, which stays unchanged; the same for every target."""
    domains: Callable[[Structure, cl.Target], Domains | NotApplicable]
    """The legal values of the parameters that the kernel has on a target, fast or slow."""
    default: Callable[[Space[Structure]], Params]
    """The point that the rule's model of the target prefers; there is always one."""
    apply: Callable[[Schedule, Structure, Params], None]
    """Schedules the kernel as a point says. The structure is that of the schedule's own copy of the
    kernel, found before the first step."""
    objection: Callable[[Space[Structure]], str | None] | None = None
    """Returns why a later rule suits the kernel better, or None."""
    splits: bool = False
    """Whether it makes several kernels, whose plans are then part of its plan."""

    def space(self, kernel: NaiveKernel, target: cl.Target) -> Space[Structure] | NotApplicable:
        """Return the rule's search space for `kernel`, or why the rule does not apply."""
        unmet = self.needs.unmet(kernel, target)
        if unmet is not None:
            return unmet
        structure = kernel.once(self.structure)
        if isinstance(structure, NotApplicable):
            return structure
        domains = self.domains(structure, target)
        if isinstance(domains, NotApplicable):
            return domains
        decisions = [Decision(name, self.declared(name), domains[name]) for name in domains]
        return Space(decisions, structure, target)

    def make(self, schedule: Schedule, space: Space[Structure], params: Params) -> None:
        """Make a point of the space of a schedule's own kernel.

        Parameters that the kernel does not have get the values that stand for their absence.
        """
        absent = {each.name: each.absent for each in self.parameters if each.absent is not None}
        values = {**absent, **params.values}
        self.apply(schedule, space.structure, Params(values))

    def declared(self, name: str) -> Parameter:
        """Return the declaration of a parameter; KeyError if there is none."""
        for parameter in self.parameters:
            if parameter.declares(name):
                return parameter
        raise KeyError(f"rule '{self.name}' declares no parameter '{name}'")

    def schema_fault(self, values: Mapping[str, Value]) -> str | None:
        """Return why no kernel has a plan of this rule with these `values`, or None."""
        for name, value in values.items():
            parameter = next((each for each in self.parameters if each.declares(name)), None)
            if parameter is None:
                return f"it has no parameter '{name}'"
            if not parameter.kind.holds(value):
                return f"its {name} is a {parameter.kind.value}, not {value!r}"
        for parameter in self.parameters:
            if not parameter.when and parameter.name not in values:
                return f"its plan lacks '{parameter.name}'"
        return None

    def objection_to(self, space: Space[Structure]) -> str | None:
        """Return why a later rule suits the kernel of a space better, or None."""
        return None if self.objection is None else self.objection(space)
