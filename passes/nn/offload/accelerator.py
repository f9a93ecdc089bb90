"""The interface of an accelerator for `nn-choose`: what it computes, at what cost, in which graphs.

The target fact with the accelerator's name is its mode: `prefer`, `auto` or `off`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from xdsl.dialects import func

from ....dialects import cl
from ....dialects.offload import OffloadCallOp, OffloadGraphOp
from ....weights import Weights
from .matches import Match, Matches
from .regions import Region


class Accelerator(ABC):
    """An accelerator, as `nn-choose` sees it."""

    name: ClassVar[str]
    """The name in the IR and of the fact that holds its mode, such as `toy`; graphs are `toy_0`,
    `toy_1`, …
    """
    title: ClassVar[str]
    """The display name of the accelerator, which its graphs share, such as `Toy`."""
    producer_reason: ClassVar[str] = "it reads what an operation of the same graph computed"
    """Why a match that needs its producer in the same graph is in no graph."""
    most_tensors: ClassVar[int | None] = None
    """Most tensors that a graph may take and return together; None if unlimited."""

    @abstractmethod
    def absence(self, target: cl.Target) -> str:
        """Return why the target has no such accelerator, with the remedy; "" if it has one."""

    def prepare(self, function: func.FuncOp) -> None:
        """Rewrite a function to a form with more matches that costs OpenCL kernels nothing."""
        del function

    @abstractmethod
    def find_matches(self, function: func.FuncOp, target: cl.Target, weights: Weights) -> Matches:
        """Return the parts of a function that the accelerator can compute, without overlaps."""

    @abstractmethod
    def microseconds(self, match: Match, target: cl.Target) -> float:
        """Return the time of a match, without copies, on the scale of the target's own costs."""

    @abstractmethod
    def copy_microseconds(self, size: int, target: cl.Target) -> float:
        """Return the time to copy `size` bytes between a plain buffer and an opaque tensor."""

    def graph_microseconds(self, region: Region, target: cl.Target) -> float:
        """Return the time of the graph of a region, beyond its commands and copies.

        Fences, a separate queue, or transfers of the region's inputs and outputs cause such a cost.
        """
        del region, target
        return 0.0

    @abstractmethod
    def outline(
        self, region: Region, name: str, weights: Weights
    ) -> tuple[OffloadGraphOp, OffloadCallOp]:
        """Return the graph `@name` of a region and the call that replaces the region.

        The region's operations are erased (`calls.replace_region`); the graph is not inserted yet.
        Constants in another order than the model's are added to `weights`.
        """
