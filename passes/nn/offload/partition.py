"""Partition of a function into graphs of an accelerator and remaining operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.traits import SymbolOpInterface

from ....dialects import cl, nn
from ....dialects.offload import OffloadGraphOp
from ....weights import Weights
from ...locations import kind_of, node_name, op_name
from .accelerator import Accelerator
from .calls import sort_block
from .regions import Region, form_regions


@dataclass(frozen=True)
class NodePlacement:
    """The placement of one operation."""

    name: str
    """The name of the model's node."""
    operation: str
    """The operation and its kind, such as `conv` or `pool max`."""
    graph: str = ""
    """The graph that computes it; "" if none does."""
    note: str = ""
    """The commands that compute it, or the reason why none does."""
    is_view: bool = False
    """Whether it is a reshape outside of graphs, which takes no time."""


@dataclass(frozen=True)
class Partition:
    """The graphs of a function and the placement of its operations."""

    nodes: tuple[NodePlacement, ...]
    graphs: tuple[OffloadGraphOp, ...]

    @property
    def offloaded(self) -> int:
        """Return the number of operations in graphs."""
        return sum(bool(node.graph) for node in self.nodes)

    @property
    def copies(self) -> int:
        """Return the number of commands that only change layouts."""
        return sum(graph.copies for graph in self.graphs)

    def outside(self, others: Sequence[Partition]) -> Partition:
        """Return the partition without the operations that are in graphs of others."""
        taken = {i for each in others for i, node in enumerate(each.nodes) if node.graph}
        nodes = tuple(node for i, node in enumerate(self.nodes) if i not in taken)
        return replace(self, nodes=nodes)


def partition(
    accelerator: Accelerator,
    module: ModuleOp,
    function: func.FuncOp,
    target: cl.Target,
    weights: Weights,
    minimum: int = 1,
) -> Partition:
    """Move all operations of a function that an accelerator can compute to graphs of its module.

    Constants that the accelerator needs in another order are added to `weights`, the module's
    store.
    """
    accelerator.prepare(function)
    matches = accelerator.find_matches(function, target, weights)
    reasons = dict(matches.reasons)
    found = {accelerator: matches.legal}
    regions = form_regions(function, found, minimum, {accelerator: reasons})
    return write_graphs(accelerator, module, function, regions, weights, function, reasons)


def write_graphs(
    accelerator: Accelerator,
    module: ModuleOp,
    function: func.FuncOp,
    regions: Sequence[Region],
    weights: Weights,
    model: func.FuncOp,
    reasons: Mapping[Operation, str],
) -> Partition:
    """Move the regions of a function to graphs of its module.

    `model` is the function in which the matches of the regions were found; its operations are the
    nodes of the result. `reasons` explain why operations are in no graph.
    """
    names = _free_names(module, accelerator.name, len(regions))
    nodes = tuple(_nodes(model, regions, names, reasons))
    graphs: list[OffloadGraphOp] = []
    for region, name in zip(regions, names, strict=True):
        graph, _ = accelerator.outline(region, name, weights)
        graphs.append(graph)
    if graphs:
        sort_block(function)
        block = function.parent
        assert block is not None
        block.insert_ops_before(graphs, function)
    return Partition(nodes, tuple(graphs))


def _free_names(module: ModuleOp, prefix: str, count: int) -> list[str]:
    symbols = (op.get_trait(SymbolOpInterface) for op in module.ops)
    used = {
        name.data
        for op, symbol in zip(module.ops, symbols, strict=True)
        if symbol is not None and (name := symbol.get_sym_attr_name(op)) is not None
    }
    free = (f"{prefix}_{i}" for i in range(count + len(used)))
    return [name for name in free if name not in used][:count]


def _nodes(
    function: func.FuncOp,
    regions: Sequence[Region],
    names: Sequence[str],
    reasons: Mapping[Operation, str],
) -> list[NodePlacement]:
    graph_of: dict[Operation, tuple[str, str]] = {}
    for region, name in zip(regions, names, strict=True):
        for match in region.matches:
            graph_of |= dict.fromkeys(match.model, (name, match.note))
    return [
        NodePlacement(
            node_name(op),
            operation_text(op),
            *graph_of.get(op, ("", reasons.get(op, ""))),
            is_view=isinstance(op, nn.ReshapeOp) and op not in graph_of,
        )
        for op in function.body.block.ops
        if not isinstance(op, nn.ConstantOp | func.ReturnOp)
    ]


def operation_text(op: Operation) -> str:
    """Return an operation's name without its dialect, followed by its kind."""
    return f"{op_name(op).removeprefix('nn.')} {kind_of(op)}".rstrip()
