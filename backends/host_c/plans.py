"""The plans of a package: ways to compute its network, each a program with its own tables.

Most packages have one plan. In a package with two, the first leaves part of the network to a
vendor's library. Devices that cannot run it run the second plan, which only has kernels.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ...weights import Weights
from ..offload import CommandLibrary, library_of, refuse_calls, with_launches
from ..programs import program_of
from .tables import RootKind, Tables, make_tables


@dataclass(frozen=True)
class PackagePlan:
    """A planned program, the OpenCL C of its kernels, and the part that a library computes."""

    tables: Tables
    source: str
    offload: CommandLibrary | None

    @property
    def name(self) -> str:
        """The name of the plan in `clopt_model_plan`."""
        return self.offload.library if self.offload else "kernels"

    @property
    def keys(self) -> list[str]:
        """The arrays that the plan's constants need."""
        keys = [root.key for root in self.tables.roots if root.kind is RootKind.Constant]
        return keys + (self.offload.keys if self.offload else [])

    @property
    def arenas(self) -> list[int]:
        """Bytes of each arena."""
        return [arena.bytes for arena in self.tables.arenas]


def make_plan(module: ModuleOp, source: str, weights: Weights) -> PackagePlan:
    """Return the plan of a compiled module; raise CloptError if it cannot run as C."""
    refuse_calls(program_of(module))
    tables = make_tables(with_launches(module, weights), weights)
    return PackagePlan(tables, source, library_of(tables.program, weights))
