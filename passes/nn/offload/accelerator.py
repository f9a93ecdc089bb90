"""What an accelerator tells `nn-choose`: the operations it computes, their costs, its graphs.

Its mode is the fact of the target with its name: `prefer`, `auto` or `off`.
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
    """What an accelerator tells `nn-choose`."""

    name: ClassVar[str]
    """Its name in the IR and the fact of its mode: `toy`. Graphs are called `toy_0` and so on."""
    title: ClassVar[str]
    """Its name for people, that of its graphs: `Toy`."""
    producer_reason: ClassVar[str] = "it reads what an operation of the same graph computed"
    """Why a match is in no graph that needs its producer there."""
    most_tensors: ClassVar[int | None] = None
    """The most tensors that a graph may take and return together; None for any number."""

    @abstractmethod
    def absence(self, target: cl.Target) -> str:
        """Why the target has no such accelerator, with the remedy; empty if it has one."""

    def prepare(self, function: func.FuncOp) -> None:
        """Bring a function into a form with more matches that our kernels compute as well."""
        del function

    @abstractmethod
    def find_matches(self, function: func.FuncOp, target: cl.Target, weights: Weights) -> Matches:
        """What it can compute of a function; no operation is in two matches."""

    @abstractmethod
    def microseconds(self, match: Match, target: cl.Target) -> float:
        """The time of a match, without copies, on the scale of the target's own costs."""

    @abstractmethod
    def copy_microseconds(self, size: int, target: cl.Target) -> float:
        """The time of a copy of `size` bytes between a plain buffer and an opaque tensor."""

    def entry_microseconds(self, target: cl.Target) -> float:
        """The time to enter a graph and leave it again, beyond its commands and copies: what fences
        and a queue of the device's own take.
        """
        del target
        return 0.0

    @abstractmethod
    def outline(
        self, region: Region, name: str, weights: Weights
    ) -> tuple[OffloadGraphOp, OffloadCallOp]:
        """The graph `@name` of a region, and the call that takes the region's place.

        The region's operations are erased (`calls.replace_region`); the graph is not inserted yet.
        Constants in another order than the model's are added to `weights`.
        """
