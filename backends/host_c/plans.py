"""The plans of a package: ways to compute its network, each a program with tables of its own.

Most packages have one. With two, the first leaves a part of the network to a vendor's library, and
the device that cannot run it runs the second, kernels alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ...weights import Weights
from ..offload import CommandLibrary, library_of, refuse_calls, with_launches
from ..programs import program_of
from .tables import RootKind, Tables, make_tables


@dataclass(frozen=True)
class Plan:
    """A planned program, the OpenCL C of its kernels, and the part that a library computes."""

    tables: Tables
    source: str
    offload: CommandLibrary | None

    @property
    def name(self) -> str:
        """What `clopt_model_plan` calls it."""
        return self.offload.library if self.offload else "kernels"

    @property
    def keys(self) -> list[str]:
        """The arrays that its constants need."""
        own = [root.key for root in self.tables.roots if root.kind is RootKind.Constant]
        return own + (self.offload.keys if self.offload else [])

    @property
    def arenas(self) -> list[int]:
        """Bytes of each arena."""
        return [arena.bytes for arena in self.tables.arenas]


def make_plan(module: ModuleOp, source: str, weights: Weights) -> Plan:
    """The plan of a compiled module; CloptError where it is not compiled, or lacks weights."""
    refuse_calls(program_of(module))
    tables = make_tables(with_launches(module, weights), weights)
    return Plan(tables, source, library_of(tables.program, weights))
