"""The order in which the nodes of a graph are imported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnx import NodeProto

from ...errors import CloptError
from ...messages.printable import printable


def execution_order(
    nodes: Sequence[NodeProto], outputs: Sequence[str], known: set[str]
) -> list[tuple[int, NodeProto]]:
    """Return the nodes that `outputs` depend on in topological order, with their indices.

    Nodes keep the order of the graph if it is sorted, as ONNX requires. `known` are the names of
    inputs and constants. Raises CloptError for a cycle and for a name defined twice. Undefined
    names are ignored: the importer reports them.
    """
    producer: dict[str, int] = {}
    for index, node in enumerate(nodes):
        for name in filter(None, node.output):
            if name in producer or name in known:
                raise CloptError(
                    f"the name '{printable(name)}' is defined twice; names must be unique."
                )
            producer[name] = index
    order: list[tuple[int, NodeProto]] = []
    done: set[int] = set()
    for name in outputs:
        if name in producer:
            _visit(producer[name], nodes, producer, done, order)
    return sorted(order) if _is_sorted(order, producer) else order


def _is_sorted(order: Sequence[tuple[int, NodeProto]], producer: dict[str, int]) -> bool:
    return all(producer.get(name, -1) < index for index, node in order for name in read_names(node))


def _visit(
    root: int,
    nodes: Sequence[NodeProto],
    producer: dict[str, int],
    done: set[int],
    order: list[tuple[int, NodeProto]],
) -> None:
    """Append `root` and its dependences to `order`: an iterative depth-first search."""
    if root in done:
        return
    path: list[tuple[int, Iterator[str]]] = [(root, iter(read_names(nodes[root])))]
    active = {root}
    while path:
        index, names = path[-1]
        for name in names:
            next = producer.get(name)
            if next is None or next in done:
                continue
            if next in active:
                raise CloptError(_cycle([i for i, _ in path], next, nodes))
            active.add(next)
            path.append((next, iter(read_names(nodes[next]))))
            break
        else:
            path.pop()
            active.discard(index)
            done.add(index)
            order.append((index, nodes[index]))


def _cycle(path: Sequence[int], start: int, nodes: Sequence[NodeProto]) -> str:
    members = path[path.index(start) :]
    names = [f"'{printable(nodes[i].name or f'{nodes[i].op_type}_{i}')}'" for i in members]
    shown = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
    return f"the graph has a cycle through {shown}; a graph must be acyclic."


def read_names(node: NodeProto) -> list[str]:
    """Return the names that a node reads, including outer values read by its subgraphs."""
    names = [name for name in node.input if name]
    for attribute in node.attribute:
        for graph in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
            inside = [name for inner in graph.node for name in read_names(inner)]
            inside.extend(output.name for output in graph.output)
            defined = {name for inner in graph.node for name in inner.output}
            defined.update(value.name for value in (*graph.input, *graph.initializer))
            names.extend(name for name in inside if name not in defined)
    return names
