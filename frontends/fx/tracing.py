"""The interface to torch: export and tracing to ATen calls, and partitioning.

clopt is checked and installed without torch, and torch has no complete annotations, so its objects
are `Any` here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from ...errors import CloptError
from .decompositions import decompositions
from .operators import TABLE

AS_STRIDED = "aten.as_strided.default"


@cache
def torch_module(name: str = "") -> Any:
    """Return the package torch or one of its modules; raise CloptError if it is not installed."""
    try:
        return import_module(f"torch{name}")
    except ImportError as error:
        raise CloptError(
            'A torch model needs PyTorch; install it with `pip install "clopt[torch]"`.'
        ) from error


def _without_ours(table: Mapping[Any, Any]) -> dict[Any, Any]:
    return {op: how for op, how in table.items() if str(op) not in TABLE}


def drop_restriding(graph: Any) -> None:
    """Remove as_strided calls that leave every element at the same address.

    Decompositions of pooling append them to set the strides of dimensions of size 1.
    """
    for node in graph.graph.nodes:
        if str(node.target) != AS_STRIDED:
            continue
        before, after = node.args[0].meta["val"], node.meta["val"]
        if _places(before) == _places(after):
            node.replace_all_uses_with(node.args[0])
            graph.graph.erase_node(node)


def _places(tensor: Any) -> tuple[Any, ...]:
    steps = [(n, step) for n, step in zip(tensor.shape, tensor.stride(), strict=True) if n != 1]
    return tuple(tensor.shape), tensor.storage_offset(), steps


class ExportedGraph(NamedTuple):
    """An exported module as a graph, and the tensors that its constant placeholders hold."""

    graph: Any
    constants: Mapping[str, Any]


def export(module: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> ExportedGraph:
    """Export a module for the shapes of its arguments; raise CloptError if torch cannot."""
    exporter = torch_module(".export")
    try:
        with torch_module().no_grad():
            exported = exporter.export(module, tuple(arguments), dict(keywords))
            table = exporter.default_decompositions()
            for op in [op for op in table if str(op) in TABLE]:
                table.pop(op)
            table.update(decompositions(torch_module()))
            exported = exported.run_decompositions(table)
    except Exception as error:  # torch.export raises many unrelated types
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__).rstrip(".")
        raise CloptError(
            f"torch.export cannot export this module: {reason}; "
            'torch.compile(model, backend="clopt") compiles what it can.'
        ) from error
    signature = exported.graph_signature
    held = {**exported.constants, **exported.state_dict}
    constants = {
        spec.arg.name: held[spec.target] for spec in signature.input_specs if spec.target in held
    }
    changed = [s.target for s in signature.output_specs if s.kind.name.endswith("MUTATION")]
    if changed:
        raise CloptError(
            f"The module changes {changed[0]} when it runs; call eval() on it, or use "
            'torch.compile(model, backend="clopt").'
        )
    drop_restriding(exported.graph_module)
    return ExportedGraph(exported.graph_module, constants)


def with_numbers_as_tensors(graph: Any) -> Any:
    """Return a dynamo graph that reads tensors in place of Python numbers taken from them.

    dynamo passes a float that has changed between calls as a tensor without dimensions, and calls
    its `item`, which no trace can follow. Such a tensor computes what the number does.
    """
    items = [
        node
        for node in graph.graph.nodes
        if node.op == "call_method" and node.target == "item" and node.args[0].op == "placeholder"
    ]
    for node in items:
        node.replace_all_uses_with(node.args[0])
        graph.graph.erase_node(node)
    graph.recompile()
    return graph


def trace(
    graph: Any, arguments: Sequence[Any], compiler: Callable[[Any], Callable[..., Any]]
) -> Callable[..., Any]:
    """Return a function that computes a dynamo graph with `compiler` applied to its ATen calls.

    Mutations of arguments and results that are views are left to torch.
    """
    autograd = torch_module("._functorch.aot_autograd")
    table = torch_module("._decomp").core_aten_decompositions()
    real = torch_module("._subclasses.fake_tensor").unset_fake_temporarily

    def compile_graph(aten: Any, _: Sequence[Any]) -> Callable[..., Any]:
        drop_restriding(aten)
        with real():  # torch rejects real tensors (weights) while tracing
            return autograd.make_boxed_func(compiler(aten))

    return autograd.aot_module_simplified(
        graph,
        list(arguments),
        fw_compiler=compile_graph,
        inference_compiler=compile_graph,
        decompositions={**_without_ours(table), **decompositions(torch_module())},
    )


_MOVES = (
    "aten.view.default aten.unsqueeze.default aten.squeeze.dims aten.expand.default "
    "aten.permute.default aten.clone.default aten._to_copy.default aten.full.default "
    "aten.slice.Tensor aten.select.int aten.alias.default"
).split()
"""Operators that do not justify a separate program for a partition."""


def partition(graph: Any, computed: Collection[Any]) -> tuple[Any, Sequence[str]]:
    """Return the graph with partitions of the nodes in `computed` as modules, and their names."""
    support = torch_module(".fx.passes.operator_support")
    partitioner = torch_module(".fx.passes.infra.partitioner")

    class Support(support.OperatorSupportBase):  # pyright: ignore[reportUntypedBaseClass]
        def is_node_supported(self, submodules: object, node: Any) -> bool:
            return node in computed

    partitioning = partitioner.CapabilityBasedPartitioner(
        graph,
        Support(),
        allows_single_node_partition=True,
        non_compute_ops=_MOVES,
    )
    parts = partitioning.propose_partitions()
    partitioning.remove_bookend_non_compute_ops(parts)
    parts = [part for part in parts if part.nodes]
    fused = partitioning.fuse_partitions(parts, prefix="clopt_")
    names = [n.target for n in fused.graph.nodes if n.op == "call_module"]
    return fused, [name for name in names if name.startswith("clopt_")]
