"""The accelerators: one row each, whose columns name the parts that an accelerator provides.

A layer imports only its own column, on first use, so dialects still know no pass and passes no
backend. Other packages add rows by entry points of the group `clopt.accelerators`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from .plugins import plugins, refuse_twice

GROUP = "clopt.accelerators"
"""The group of entry points, each of which names a `Row`."""


@dataclass(frozen=True)
class Row:
    """The parts of an accelerator, each as `module:name`; modules of clopt begin with a dot."""

    dialect: str
    """Its dialect, a `Dialect` with an `OffloadGraphOp` and an `OffloadCallOp`."""
    facts: str
    """Its facts of a target: a `machine.accelerator.AcceleratorFacts`."""
    offers: str
    """Its side of `nn-choose`: a `passes.nn.offload.accelerator.Accelerator`; empty if other
    programs write its graphs."""
    commands: str
    """Runs its commands: a `CommandKernels` or a `CommandLibrary` of `backends.offload`."""
    runtime: str = ""
    """If a library runs them, that library on this machine's devices: a
    `backends.pyopencl_runtime.library_runtime.LibraryRuntime`."""
    extension: str = ""
    """The OpenCL extension of devices with that library, if it may answer differently in another
    process: models compiled for those devices are not cached."""

    def load(self, column: str) -> Any:
        """Import and return what a column names."""
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
"""Those of clopt, by the name of their dialect. `nn-choose` asks them in this order."""


@cache
def accelerators() -> Mapping[str, Row]:
    """Return all rows: ours, then those of other packages by name."""
    rows = dict(ACCELERATORS)
    for name, row in plugins(GROUP).items():
        refuse_twice(GROUP, name, rows)
        rows[name] = row
    return rows
