"""Smaller ONNX models: fewer outputs, nodes, attributes and elements, and plain names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, ValueInfoProto, numpy_helper

from .search import Judge, least


def reduce_onnx(content: bytes, judge: Judge) -> bytes:
    """Return the smallest interesting model; repeat rounds until none shrinks it."""
    model = onnx.load_from_string(content)
    before = None
    while (size := _size(model)) != before:
        before = size
        for step in (_outputs, _end_early, _nodes, _bypasses, _attributes, _extents, _names):
            model = step(model, judge)
    return _write(model)


def describe_onnx(content: bytes) -> str:
    """Return the size of a model in words."""
    nodes, elements, _ = _size(onnx.load_from_string(content))
    return f"{nodes} node{'s' * (nodes != 1)}, {elements} elements of inputs and weights"


def _size(model: ModelProto) -> tuple[int, int, int]:
    graph = model.graph
    extents = [[d.dim_value for d in v.type.tensor_type.shape.dim] for v in graph.input]
    extents += [list(tensor.dims) for tensor in graph.initializer]
    attributes = sum(len(node.attribute) for node in graph.node)
    return len(graph.node), sum(int(np.prod(dims)) for dims in extents), attributes


def _write(model: ModelProto) -> bytes:
    return model.SerializeToString(deterministic=True)


def _try(model: ModelProto, judge: Judge, change: Callable[[ModelProto], bool | None]) -> bool:
    """Apply `change` to a copy; return whether it applies and the copy is interesting."""
    candidate = ModelProto()
    candidate.CopyFrom(model)
    possible = change(candidate) is not False and bool(candidate.graph.output)
    return possible and judge(_write(candidate))


def _keep(model: ModelProto, judge: Judge, change: Callable[[ModelProto], bool | None]) -> None:
    """Apply `change` to the model if the result is interesting."""
    if _try(model, judge, change):
        change(model)


def _outputs(model: ModelProto, judge: Judge) -> ModelProto:
    """Reduce the outputs, and remove nodes that no output needs."""

    def only(names: list[str]) -> Callable[[ModelProto], None]:
        def change(model: ModelProto) -> None:
            kept = [v for v in model.graph.output if v.name in names]
            _replace(model.graph.output, kept)
            _drop_unused(model)

        return change

    names = least(
        [v.name for v in model.graph.output], lambda names: _try(model, judge, only(names))
    )
    _keep(model, judge, only(names))
    return model


def _end_early(model: ModelProto, judge: Judge) -> ModelProto:
    """Return the earliest value that is interesting as the only output."""
    types = _types(model)
    for node in model.graph.node:
        for name in node.output:
            if name not in types:
                continue

            def change(model: ModelProto, name: str = name) -> None:
                _replace(model.graph.output, [types[name]])
                _drop_unused(model)

            if _try(model, judge, change):
                change(model)
                return model
    return model


def _nodes(model: ModelProto, judge: Judge) -> ModelProto:
    """Remove nodes; their results become inputs."""
    types = _types(model)

    def without(left: list[NodeProto]) -> Callable[[ModelProto], bool | None]:
        names = {name for node in left for name in node.output}

        def change(model: ModelProto) -> bool | None:
            graph = model.graph
            kept = [node for node in graph.node if names.intersection(node.output)]
            made = {name for node in kept for name in node.output}
            gone = {n for node in graph.node for n in node.output if n} - made
            if any(v.name in gone for v in graph.output):
                return False
            read = [n for node in kept for n in _reads(node) if n in gone]
            if any(name not in types for name in read):
                return False
            graph.input.extend(types[name] for name in dict.fromkeys(read))
            _replace(graph.node, kept)
            _drop_unused(model)
            return None

        return change

    left = least(list(model.graph.node), lambda nodes: _try(model, judge, without(nodes)))
    _keep(model, judge, without(left))
    return model


def _bypasses(model: ModelProto, judge: Judge) -> ModelProto:
    """Replace a node's first result by an input of the same type and shape."""
    types = _types(model)
    for output in [node.output[0] for node in model.graph.node]:
        for source in _sources(model, output, types):

            def change(model: ModelProto, output: str = output, source: str = source) -> None:
                for node in model.graph.node:
                    renamed = [source if name == output else name for name in node.input]
                    _replace(node.input, renamed)
                _drop_unused(model)

            before = len(model.graph.node)
            _keep(model, judge, change)
            if len(model.graph.node) < before:
                break
    return model


def _sources(model: ModelProto, output: str, types: dict[str, ValueInfoProto]) -> list[str]:
    node = next((node for node in model.graph.node if output in node.output), None)
    if node is None or output not in types:
        return []
    return [n for n in node.input if n in types and types[n].type == types[output].type]


def _attributes(model: ModelProto, judge: Judge) -> ModelProto:
    """Remove attributes whose defaults are as interesting."""
    for i, node in enumerate(model.graph.node):
        for name in [attribute.name for attribute in node.attribute]:

            def change(model: ModelProto, i: int = i, name: str = name) -> None:
                kept = [a for a in model.graph.node[i].attribute if a.name != name]
                _replace(model.graph.node[i].attribute, kept)

            _keep(model, judge, change)
    return model


def _extents(model: ModelProto, judge: Judge) -> ModelProto:
    """Shorten axes: all inputs and weights with the same extent together, or one alone."""
    for old, new in _shorter(model):

        def everywhere(model: ModelProto, old: int = old, new: int = new) -> bool:
            changed = [_shrink(model, at, old, new) for at in range(_axes(model))]
            return any(changed) and _infer_again(model)

        if _try(model, judge, everywhere):
            everywhere(model)
            continue
        for at in range(_axes(model)):

            def one(model: ModelProto, at: int = at, old: int = old, new: int = new) -> bool:
                return _shrink(model, at, old, new) and _infer_again(model)

            _keep(model, judge, one)
    return model


def _shorter(model: ModelProto) -> Iterator[tuple[int, int]]:
    shapes = [[d.dim_value for d in v.type.tensor_type.shape.dim] for v in model.graph.input]
    shapes += [list(tensor.dims) for tensor in model.graph.initializer]
    for old in sorted({n for shape in shapes for n in shape if n > 1}, reverse=True):
        for new in dict.fromkeys((1, 2, old // 2, old - 1)):
            if new < old:
                yield old, new


def _axes(model: ModelProto) -> int:
    ranks = [len(v.type.tensor_type.shape.dim) for v in model.graph.input]
    return sum(ranks) + sum(len(tensor.dims) for tensor in model.graph.initializer)


def _shrink(model: ModelProto, at: int, old: int, new: int) -> bool:
    """Shorten axis number `at`, counted over inputs and then weights, if it is `old` long."""
    for value in model.graph.input:
        dims = value.type.tensor_type.shape.dim
        if at < len(dims):
            if dims[at].dim_value != old:
                return False
            dims[at].dim_value = new
            return True
        at -= len(dims)
    for tensor in model.graph.initializer:
        if at < len(tensor.dims):
            if tensor.dims[at] != old:
                return False
            array = numpy_helper.to_array(tensor).take(range(new), axis=at)
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
            return True
        at -= len(tensor.dims)
    return False


def _infer_again(model: ModelProto) -> bool:
    """Infer the shapes of the outputs again; return False if the model is invalid."""
    del model.graph.value_info[:]
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    try:
        inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    except (onnx.shape_inference.InferenceError, ValueError):
        return False
    _replace(model.graph.output, list(inferred.graph.output))
    return True


def _names(model: ModelProto, judge: Judge) -> ModelProto:
    """Use plain names, unless the names make the model interesting."""

    def change(model: ModelProto) -> None:
        graph = model.graph
        values = [v.name for v in (*graph.input, *graph.initializer)]
        values += [name for node in graph.node for name in node.output if name]
        plain = {name: f"v{i}" for i, name in enumerate(dict.fromkeys(values))}
        for value in (*graph.input, *graph.output, *graph.initializer):
            value.name = plain.get(value.name, value.name)
        for i, node in enumerate(graph.node):
            node.name = f"n{i}"
            _replace(node.input, [plain.get(name, name) for name in node.input])
            _replace(node.output, [plain.get(name, name) for name in node.output])
        graph.name = "reduced"
        del graph.value_info[:]

    if not any(_reads(node) - set(node.input) for node in model.graph.node):
        _keep(model, judge, change)
    return model


def _reads(node: NodeProto) -> set[str]:
    """Return the values that a node reads, also in its subgraphs."""
    names = set(node.input)
    for attribute in node.attribute:
        for graph in (attribute.g, *attribute.graphs):
            for inner in graph.node:
                names |= _reads(inner)
            names |= {value.name for value in graph.output}
    return names - {""}


def _types(model: ModelProto) -> dict[str, ValueInfoProto]:
    """Return every value whose shape ONNX's inference knows."""
    try:
        graph = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    except (onnx.shape_inference.InferenceError, ValueError):
        graph = model.graph
    known = {v.name: v for v in (*graph.input, *graph.output, *graph.value_info)}
    return {
        name: value
        for name, value in known.items()
        if value.type.tensor_type.HasField("shape")
        and all(dim.HasField("dim_value") for dim in value.type.tensor_type.shape.dim)
    }


def _drop_unused(model: ModelProto) -> None:
    """Remove nodes, weights and inputs that no output needs."""
    graph = model.graph
    needed = {value.name for value in graph.output}
    kept: list[NodeProto] = []
    for node in reversed(graph.node):
        if needed.intersection(node.output):
            needed |= _reads(node)
            kept.insert(0, node)
    _replace(graph.node, kept)
    _replace(graph.initializer, [t for t in graph.initializer if t.name in needed])
    _replace(graph.input, [v for v in graph.input if v.name in needed])
    _replace(graph.value_info, [v for v in graph.value_info if v.name in needed])


def _replace(field: Any, items: list[Any]) -> None:
    """Replace the items of a repeated protobuf field."""
    copies = [cast("Any", type(item))() if hasattr(item, "CopyFrom") else item for item in items]
    for copy, item in zip(copies, items, strict=True):
        if hasattr(item, "CopyFrom"):
            copy.CopyFrom(item)
    del field[:]
    field.extend(copies)
