"""The named pipelines as passes, for drivers that know only passes, such as a stock `xdsl-opt`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from .pipelines import PIPELINES, apply_within

PREFIX = "clopt-"
"""Begins their names, since names of passes are shared with other packages."""


@dataclass(frozen=True)
class NamedPipeline(ModulePass):
    """A pipeline that is one pass; `clopt` itself runs, times and prints its passes one by one."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_within(ctx, op, PIPELINES[self.name.removeprefix(PREFIX)])


class SimplifyPipeline(NamedPipeline):
    """The pipeline `simplify`: constants and batch norms are folded, activations in one form."""

    name = "clopt-simplify"


class FusePipeline(NamedPipeline):
    """The pipeline `fuse`: accelerators' parts and layouts are chosen, and a region each kernel."""

    name = "clopt-fuse"


class LowerPipeline(NamedPipeline):
    """The pipeline `lower`: from regions to queue programs with naive kernels."""

    name = "clopt-lower"


class SchedulePipeline(NamedPipeline):
    """The pipeline `schedule`: each kernel gets its plan and its final loops."""

    name = "clopt-schedule"


class MemoryPipeline(NamedPipeline):
    """The pipeline `memory`: the order of the commands, and places for intermediate values."""

    name = "clopt-memory"


class OpenCLPipeline(NamedPipeline):
    """The pipeline `opencl`: all of it, from a network to programs that a backend takes."""

    name = "clopt-opencl"
