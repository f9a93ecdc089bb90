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
from .package_sizes import PackageSizes
from .tables import RootKind, Tables, make_tables


@dataclass(frozen=True)
class PackagePlan:
    """A planned program, the OpenCL C of its kernels, and the part that a library computes."""

    tables: Tables
    source: str
    offload: CommandLibrary | None
    sizes: PackageSizes | None = None
    sizes_key: str = ""
    """The key of the contents of inputs for sizes."""

    @property
    def size_tables(self) -> str:
        """The tables of sizes."""
        return "" if self.sizes is None else self.sizes.print_tables(self.tables)

    @property
    def size_fields(self) -> dict[str, str]:
        """The fields of a `clopt_program` with ranges of sizes."""
        return {} if self.sizes is None else self.sizes.fields(self.tables, self.sizes_key)

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


def make_plan(
    module: ModuleOp, source: str, weights: Weights, sizes: PackageSizes | None = None
) -> PackagePlan:
    """Return the plan of a compiled module; raise CloptError if it cannot run as C.

    With `sizes`, their contents are added to `weights`.
    """
    refuse_calls(program_of(module))
    key = ""
    if sizes is not None:
        key = sizes.add_contents(weights)
        module = sizes.hidden(module, key)
    tables = make_tables(with_launches(module, weights), weights)
    return PackagePlan(tables, source, library_of(tables.program, weights), sizes, key)
