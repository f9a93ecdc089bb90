"""The accelerators: one row each, whose columns name the modules that implement it.

Each layer imports only its own column, on first use. So dialects still know no passes, and passes
know no backends. Other packages add rows by entry points of the group `clopt.accelerators`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from .plugins import plugins, refuse_twice

GROUP = "clopt.accelerators"
"""The group of entry points for accelerators; each names a `Row`."""


@dataclass(frozen=True)
class Row:
    """The parts of an accelerator, each as `module:name`; modules of clopt begin with a dot."""

    dialect: str
    """The dialect: a `Dialect` with an `OffloadGraphOp` and an `OffloadCallOp`."""
    facts: str
    """The facts that it adds to a target: a `machine.accelerator.AcceleratorFacts`."""
    offers: str
    """Its part of `nn-choose`: a `passes.nn.offload.accelerator.Accelerator`; empty if graphs are
    only written by other programs."""
    commands: str
    """The implementation of its commands: a `CommandKernels` or a `CommandLibrary` of
    `backends.offload`."""
    runtime: str = ""
    """The library on this machine's devices, if commands are calls of a library: a
    `backends.pyopencl_runtime.library_runtime.LibraryRuntime`."""
    extension: str = ""
    """The OpenCL extension of devices with that library, if its answers can differ between
    processes; models compiled for such devices are not cached."""

    def load(self, column: str) -> Any:
        """Import and return the object that a column names."""
        module, _, name = str(getattr(self, column)).partition(":")
        return getattr(import_module(module, __package__), name)


ACCELERATORS: dict[str, Row] = {
    "clml": Row(
        dialect=".dialects.clml:CLML",
        facts=".dialects.clml.facts:CLMLFacts",
        offers=".passes.nn.clml.accelerator:CLML",
        commands=".backends.clml.offload:CLMLLibrary",
        runtime=".backends.clml.device:CLMLRuntime",
        extension="cl_qcom_ml_ops",
    ),
    "vta": Row(
        dialect=".dialects.vta:VTA",
        facts=".dialects.vta.facts:VTAFacts",
        offers=".passes.nn.vta.accelerator:VTA",
        commands=".backends.vta.commands:VTAKernels",
    ),
}
"""clopt's own accelerators by the name of their dialect, in the order in which `nn-choose` asks
them."""


@cache
def accelerators() -> Mapping[str, Row]:
    """Return all rows: clopt's own, then those of other packages by name."""
    rows = dict(ACCELERATORS)
    for name, row in plugins(GROUP).items():
        refuse_twice(GROUP, name, rows)
        rows[name] = row
    return rows
