"""What a C package has in addition where CLML computes a part of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...dialects import cl
from ...weights import Weights
from .graph_source import print_graphs
from .graphs import constant_keys, make_graphs

_HERE = Path(__file__).parent

_SOURCE = """/* The operations of "{name}" that CLML computes. Generated: do not edit. */
#include "clopt_clml.h"

#include <math.h>

{tables}"""


class Offload:
    """The graphs of a program, and the C runtime for them."""

    symbol = "clopt_clml"
    """The table of functions that the runtime calls; the folder of its sources and its target."""

    def __init__(self, program: cl.ProgramOp, weights: Weights) -> None:
        """CloptError where the weights are not those of the graphs."""
        self.graphs = make_graphs(cl.ml_graphs(program), weights)

    @property
    def keys(self) -> list[str]:
        """The arrays that its constants need."""
        return list(constant_keys(self.graphs))

    def tables(self, offsets: Mapping[str, int], name: str) -> str:
        """The C source `<name>_clml.c`; `offsets` are places in the weights file."""
        return _SOURCE.format(name=name, tables=print_graphs(self.graphs, offsets, name))

    def files(self) -> dict[str, str]:
        """Those that are the same for every model, by their paths in the package.

        They compile against the header beside them, or against that of the vendor's SDK.
        """
        headers = _HERE / "reference" / "include"
        paths = {f"{self.symbol}/{file.name}": file for file in _HERE.glob("runtime/*.[ch]")}
        paths |= {f"clml/CL/{file.name}": file for file in headers.glob("CL/*.h")}
        return {path: paths[path].read_text(encoding="utf-8") for path in sorted(paths)}

    def template(self, name: str) -> str:
        """The part of the package's file `name` that is about CLML, with `@names@` in it."""
        return (_HERE / "templates" / f"{name}.in").read_text(encoding="utf-8")

    def describe(self) -> dict[str, object]:
        """What the package's description says of it."""
        return {
            "version": max(graph.op.version for graph in self.graphs),
            "operations": sum(len(graph.rows) for graph in self.graphs),
        }
