"""A naive kernel as rules see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeVar, cast

from ....dialects import tir
from .shared.contraction import Contraction, contraction_of
from .space import NotApplicable
from .stages import KernelStage, main_output, stages_of

_T = TypeVar("_T")


class NaiveKernel:
    """The stages of a kernel that no schedule has touched."""

    def __init__(self, func: tir.FuncOp):
        self.func = func
        self.stages = stages_of(func)
        self.outputs = [stage for stage in self.stages if stage.is_output]
        """The stages that write parameters."""
        self.producers = [stage for stage in self.stages if not stage.is_output]
        """The stages that write temporaries, in program order."""
        self._structures: dict[object, object] = {}

    def once(self, structure: Callable[[NaiveKernel], _T]) -> _T:
        """Return `structure(self)`; rules that share a structure look for it a single time."""
        if structure not in self._structures:
            self._structures[structure] = structure(self)
        return cast("_T", self._structures[structure])

    def with_roles(self, form: str, roles: Sequence[str]) -> list[KernelStage] | None:
        """Return the stages of these roles if the lowering stated `form`; None otherwise.

        In that case every producer has a role: the kernel computes nothing else before its output.
        """
        if self.func.roles is None:
            return None
        stated = {str(label): role for role, label in self.func.roles.data.items()}
        by_role = {stated.get(str(stage.block.label)): stage for stage in self.producers}
        stages = [by_role[name] for role in roles if (name := f"{form}.{role}") in by_role]
        return stages if len(stages) == len(roles) == len(self.producers) else None

    @cached_property
    def main(self) -> KernelStage:
        """The only output that reads the producers' results; ScheduleError if several do."""
        return main_output(self.func, self.outputs, self.producers)

    @property
    def borders(self) -> list[KernelStage]:
        """The outputs beside the main one."""
        return [output for output in self.outputs if output is not self.main]

    @cached_property
    def contraction(self) -> Contraction | None:
        """The reduction that the kernel is, if its output reads that element by element."""
        if not self.producers:
            return None
        return contraction_of(self.func, self.producers, self.main, self.borders)

    @cached_property
    def is_packed(self) -> bool:
        """Whether some stage accesses texels."""
        if any(stage.lane is not None or stage.reduce_lane is not None for stage in self.stages):
            return True
        return not self.producers and any(stage.view is not None for stage in self.stages)


def whole_contraction(kernel: NaiveKernel) -> Contraction | NotApplicable:
    """Return the contraction that a kernel is."""
    if kernel.contraction is None:
        return NotApplicable("it is not one reduction that an output reads element by element")
    return kernel.contraction
