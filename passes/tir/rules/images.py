"""Plans for programs that also serve smaller batches (`cl.range`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

from xdsl.dialects.builtin import ModuleOp

from ....dialects import cl, tir

_MOST_IMAGES = 32
"""The largest batch that is served by smaller tiles. The rows of a longer sequence are many tiles.
"""
_BATCH_TILE = 1.15
"""The cost of a tile of several images relative to one image, if the batch may be smaller."""


@dataclass(frozen=True)
class ImageRange:
    """The images of a program that also serves fewer of them."""

    most: int
    least: int

    @staticmethod
    def of(module: ModuleOp) -> ImageRange | None:
        """Return the images of a module's programs; None if their number is fixed."""
        found = cl.range_of(module)
        if found is None or found.largest > _MOST_IMAGES:
            return None
        return ImageRange(found.largest, found.least)

    @staticmethod
    def of_kernel(func: tir.FuncOp) -> ImageRange | None:
        """Return the images of the programs that run a kernel; None if their number is fixed."""
        module = func.get_toplevel_object()
        return ImageRange.of(module) if isinstance(module, ModuleOp) else None

    @property
    def ratio(self) -> int:
        """How many times the smallest batch the largest one is."""
        return self.most // self.least

    def cores(self, target: cl.Target) -> int:
        """Return the device's own number of cores, which `target_of_smallest` multiplied."""
        return max(1, target.device.compute_units // self.ratio)

    def are(self, extent: int) -> bool:
        """Return whether a variable of this extent has the images as its values."""
        return extent == self.most

    def cost(self, extent: int, count: int) -> float:
        """Return the relative cost of tiles with `count` values of a variable of this extent.

        A tile of several images does as much for one. The cost is the geometric mean for the
        largest and the smallest batch.
        """
        if count == 1 or not self.are(extent):
            return 1.0
        return max(_BATCH_TILE, sqrt(min(count, self.ratio)))


def target_of_smallest(module: ModuleOp) -> cl.Target:
    """Return the target whose default plans keep all cores busy with the smallest batch.

    It has more cores: if the work-items of n images keep n * c cores busy, those of each image keep
    c cores busy. Larger batches take no longer, because work-items are long in either case. GPUs
    keep their cores, which many more work-items share.
    """
    target, images = cl.target_of(module), ImageRange.of(module)
    if images is None or target.device.device_type != "cpu":
        return target
    units = target.device.compute_units * images.ratio
    return replace(target, device=replace(target.device, compute_units=units))
