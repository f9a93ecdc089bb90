"""The parts of a C package that are specific to models with CLML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ...dialects import clml
from ...dialects.offload import OffloadGraphOp
from ...files.resources import read_sources, read_text
from ...weights import Weights
from ..offload import CommandLibrary
from .graph_source import print_graphs
from .graphs import constant_keys, make_graphs

_TITLE = '/* The operations of "{name}" that CLML computes. Generated: do not edit. */'
_SOURCE = """{title}
#include "clopt_clml.h"

#include <math.h>

{tables}"""
_OPTIONAL_SOURCE = """{title}
#include "clopt_tables.h"

#ifndef CLOPT_WITHOUT_CLML

#include "clopt_clml.h"

#include <math.h>

{tables}
#endif
"""
_NO_OTHER_DEVICES = "It runs only on devices whose driver has CLML."
_OTHERS = """If CLML is missing or
rejects an operation, kernels compute everything: `clopt_model_plan` returns the plan that a model
runs, and why the other was not used. `-DCLOPT_WITHOUT_CLML=ON` (for CMake) or
`-DCLOPT_WITHOUT_CLML` (for the compiler) builds the package without CLML. Then its header, `clml/`
and `clopt_clml/` are not needed."""
_OPTION = """
option(CLOPT_WITHOUT_CLML "Exclude CLML: kernels compute everything, no header is needed" OFF)
if(CLOPT_WITHOUT_CLML)
    set(clopt_clml_or_none clopt_runtime)
else()
    set(clopt_clml_or_none clopt_clml)
endif()
"""


class CLMLLibrary(CommandLibrary):
    """The graphs of a program, and the C runtime for them."""

    symbol: ClassVar[str] = "clopt_clml"
    library: ClassVar[str] = "CLML"
    texts: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "only": {"option": "", "condition": "", "devices": _NO_OTHER_DEVICES},
        "both": {
            "option": _OPTION,
            "condition": "NOT CLOPT_WITHOUT_CLML AND ",
            "devices": _OTHERS,
        },
    }

    def __init__(self, graphs: Mapping[str, OffloadGraphOp], weights: Weights) -> None:
        ours = {name: graph for name, graph in graphs.items() if isinstance(graph, clml.GraphOp)}
        self.graphs = make_graphs(ours, weights)

    @property
    def keys(self) -> list[str]:
        """The arrays that its constants need."""
        return list(constant_keys(self.graphs))

    def tables(self, offsets: Mapping[str, int], name: str, optional: bool) -> str:
        """Return the C source `<name>_clml.c`; `offsets` are byte offsets in the weights file.

        If `optional`, it needs no CLML header where CLOPT_WITHOUT_CLML is defined.
        """
        tables = print_graphs(self.graphs, offsets, name)
        source = _OPTIONAL_SOURCE if optional else _SOURCE
        return source.format(title=_TITLE.format(name=name), tables=tables)

    def files(self) -> dict[str, str]:
        """Return the files that are the same for every model, by their paths in the package.

        They compile against the header next to them, or against the header of the vendor's SDK.
        """
        runtime = read_sources(__name__, "runtime")
        headers = read_sources(__name__, "reference/include")
        texts = {f"{self.symbol}/{path}": text for path, text in runtime.items()}
        texts |= {f"clml/{path}": text for path, text in headers.items()}
        return dict(sorted(texts.items()))

    def template(self, name: str) -> str:
        """Return CLML's section of the package file `name`, a template with `@names@`."""
        return read_text(__name__, f"templates/{name}.in")

    def describe(self) -> dict[str, object]:
        """Return its entry in the package's description."""
        return {
            "version": max(graph.op.version for graph in self.graphs),
            "operations": sum(len(graph.rows) for graph in self.graphs),
        }
