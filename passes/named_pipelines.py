"""The named pipelines as passes, for drivers that accept only passes, such as `xdsl-opt`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from .pipelines import PIPELINES, apply_within

PREFIX = "clopt-"
"""Prefix of the passes' names, since `xdsl-opt` shares one namespace between packages."""


@dataclass(frozen=True)
class NamedPipeline(ModulePass):
    """A pipeline as a single pass; `clopt` itself runs, times and prints its passes one by one."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_within(ctx, op, PIPELINES[self.name.removeprefix(PREFIX)])


class SimplifyPipeline(NamedPipeline):
    """The pipeline `simplify`: fold constants and batch norms, canonicalise activations."""

    name = "clopt-simplify"


class FusePipeline(NamedPipeline):
    """The pipeline `fuse`: choose accelerators and layouts, then form one region per kernel."""

    name = "clopt-fuse"


class LowerPipeline(NamedPipeline):
    """The pipeline `lower`: turn regions into queue programs with naive kernels."""

    name = "clopt-lower"


class SchedulePipeline(NamedPipeline):
    """The pipeline `schedule`: give each kernel a plan and its final loops."""

    name = "clopt-schedule"


class MemoryPipeline(NamedPipeline):
    """The pipeline `memory`: order the commands and place intermediate values in memory."""

    name = "clopt-memory"


class OpenCLPipeline(NamedPipeline):
    """The pipeline `opencl`: all stages, from a network to programs that a backend can emit."""

    name = "clopt-opencl"
