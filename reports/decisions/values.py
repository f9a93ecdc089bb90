"""The choices of a compilation, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ...messages.explanations import Explained, ExplainedPlan, plans_of


@dataclass(frozen=True)
class ReportedNode:
    """A node of the model, with the name that the importer or a pass gave it."""

    name: str
    operation: str
    """The operation of the network, such as `conv` or `unary relu`."""

    @property
    def label(self) -> str:
        """A short form of the operation, such as `relu`."""
        return self.operation.removeprefix("unary ").removeprefix("binary ")


@dataclass(frozen=True)
class ReportedTensor:
    """A value between kernels."""

    shape: tuple[int, ...]
    type: str
    """The element type, such as `f32`."""
    layout: str
    """The layout in memory: `plain`, `1 by 4, image2d [3]`."""
    is_texture: bool
    physical: tuple[int, ...]
    """The shape that kernels see, including the blocks of the layout."""

    @property
    def is_plain(self) -> bool:
        """Whether the elements are in memory in the order of the axes."""
        return self.physical == self.shape and not self.is_texture


@dataclass(frozen=True)
class ReportedRegion:
    """A part of the network that became a kernel, or became a part of another kernel's memory."""

    nodes: tuple[ReportedNode, ...]
    results: tuple[ReportedTensor, ...]
    kernel: str = ""
    """The kernel that computes it, by its name before launches were joined; empty if the region
    only names a part of another value's memory."""


@dataclass(frozen=True)
class Decisions:
    """The choices of the passes for a model, with reasons."""

    nodes: tuple[ReportedNode, ...]
    """The nodes of the network as imported, without constants."""
    regions: tuple[ReportedRegion, ...]
    commands: tuple[tuple[int, ...], ...]
    """For each command of the program, the regions that it computes."""
    explanations: Sequence[Explained]
    """The choices at all sites."""

    @cached_property
    def plans(self) -> Mapping[str, ExplainedPlan]:
        """The plan of each kernel by its name before launches were joined."""
        return {plan.kernel: plan for plan in plans_of(self.explanations)}
