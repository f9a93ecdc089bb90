"""Inputs and outputs that are maps: tensors with a column for each key, which the model states.

A network computes with the values alone. The keys, which may be texts, stay in Python.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from onnx import GraphProto, NodeProto, TypeProto, ValueInfoProto
from onnx.helper import make_tensor_value_info

from ...tensor_info import MAP, MAPS, Key

KEYS = {
    "DictVectorizer": ("int64_vocabulary", "string_vocabulary"),
    "ZipMap": ("classlabels_int64s", "classlabels_strings"),
}
"""The attributes of an operator with its keys: integers or texts, in the order of the columns."""

_KINDS: Mapping[tuple[str, ...], str] = {("map_type",): MAP, ("sequence_type", "map_type"): MAPS}


class MapPort(NamedTuple):
    """An input that is a map, or an output that is a sequence of maps."""

    kind: str
    keys: tuple[Key, ...]
    tensor: ValueInfoProto
    """The tensor that the network has in its place."""


def map_ports(graph: GraphProto) -> dict[str, MapPort]:
    """Return the inputs and outputs that are maps whose keys are known, by name."""
    found: dict[str, MapPort] = {}
    for value in graph.input:
        if _kind(value.type) == MAP:
            read = {_vocabulary(node) for node in graph.node if value.name in node.input}
            if len(read) == 1 and (keys := read.pop()):
                found[value.name] = _port(value, MAP, keys, value.type, 1)
    for value in graph.output:
        if _kind(value.type) == MAPS and (keys := _labels(value.name, graph)):
            found[value.name] = _port(value, MAPS, keys, value.type.sequence_type.elem_type, None)
    return found


def _port(
    value: ValueInfoProto, kind: str, keys: tuple[Key, ...], proto: TypeProto, rows: int | None
) -> MapPort:
    element = proto.map_type.value_type.tensor_type.elem_type
    return MapPort(kind, keys, make_tensor_value_info(value.name, element, [rows, len(keys)]))


def _kind(proto: TypeProto) -> str:
    kinds: list[str] = []
    while (kind := proto.WhichOneof("value")) == "sequence_type":
        kinds.append(kind)
        proto = proto.sequence_type.elem_type
    return _KINDS.get((*kinds, kind or ""), "")


def _labels(name: str, graph: GraphProto) -> tuple[Key, ...]:
    """Return the keys that a ZipMap gives to an output; none for other nodes."""
    zipped = (node for node in graph.node if node.op_type == "ZipMap" and name in node.output)
    node = next(zipped, None)
    return () if node is None else _listed(node)


def _vocabulary(node: NodeProto) -> tuple[Key, ...]:
    """Return the keys that a node reads from a map, in the order of its columns."""
    if node.op_type == "DictVectorizer":
        return _listed(node)
    attributes = {each.name: each for each in node.attribute}
    if node.op_type == "CastMap" and "map_form" in attributes:
        is_sparse = attributes["map_form"].s == b"SPARSE"
        size = attributes["max_map"].i if "max_map" in attributes else 1
        return tuple(range(size)) if is_sparse else ()
    return ()


def _listed(node: NodeProto) -> tuple[Key, ...]:
    integers, texts = KEYS[node.op_type]
    attributes = {each.name: each for each in node.attribute}
    if integers in attributes:
        return tuple(attributes[integers].ints)
    listed = attributes[texts].strings if texts in attributes else ()
    return tuple(text.decode(errors="replace") for text in listed)
