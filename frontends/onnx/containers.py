"""Inputs and outputs that are sequences or optionals: one tensor for each element.

The network has the tensors `seq_0`, `seq_1`, ... in place of a sequence `seq`. An optional tensor
keeps its name, and has no tensor if it is absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from onnx import TypeProto, ValueInfoProto
from xdsl.ir import SSAValue

from ...errors import CloptError
from ...messages.printable import printable
from ...tensor_info import OPTIONAL, OPTIONAL_SEQUENCE, SEQUENCE, Ranks, element_names
from ..builder import Builder

_KINDS: Mapping[tuple[str, ...], str] = {
    ("sequence_type",): SEQUENCE,
    ("optional_type",): OPTIONAL,
    ("optional_type", "sequence_type"): OPTIONAL_SEQUENCE,
}


class Container(NamedTuple):
    """The type of a sequence or an optional."""

    kind: str
    element: TypeProto
    """The type of its tensors."""


def container_of(proto: TypeProto) -> Container | None:
    """Return the container that a type is; None for tensors, and for unsupported types."""
    kinds: list[str] = []
    while (kind := proto.WhichOneof("value")) in ("sequence_type", "optional_type"):
        kinds.append(kind)
        proto = getattr(proto, kind).elem_type
    found = _KINDS.get(tuple(kinds))
    return None if found is None or kind != "tensor_type" else Container(found, proto)


def flat_inputs(value: ValueInfoProto, elements: Mapping[str, Ranks]) -> list[ValueInfoProto]:
    """Return the tensors of an input of which `elements` has the ranks."""
    container = container_of(value.type)
    if container is None:
        return [value]
    ranks = elements.get(value.name)
    names = element_names(value.name, container.kind, 0 if ranks is None else len(ranks))
    return [_tensor(name, container, rank) for name, rank in zip(names, ranks or (), strict=True)]


def _tensor(name: str, container: Container, rank: int) -> ValueInfoProto:
    """Return an element; the sizes of each element of a sequence are open on their own."""
    tensor = ValueInfoProto(name=name, type=container.element)
    dims = tensor.type.tensor_type.shape.dim
    if container.kind != OPTIONAL:
        for dim in dims:
            dim.ClearField("dim_param")
    tensor.type.tensor_type.shape.SetInParent()  # of rank 0, which is a shape, too
    for _ in range(rank - len(dims)):
        dims.add()
    return tensor


def container_value(
    builder: Builder, value: ValueInfoProto, ranks: Ranks, tensors: Mapping[str, SSAValue]
) -> SSAValue:
    """Return the input `value`, which is a container of some of the `tensors`."""
    container = container_of(value.type)
    assert container is not None
    if ranks is None:
        return builder.sequence(None)
    names = element_names(value.name, container.kind, len(ranks))
    found = [tensors[name] for name in names]
    return found[0] if container.kind == OPTIONAL else builder.sequence(found)


def flat_outputs(
    builder: Builder, ports: Sequence[ValueInfoProto], values: Sequence[SSAValue]
) -> dict[str, SSAValue]:
    """Return the tensors of all outputs by name; raise CloptError for other than declared types."""
    found: dict[str, SSAValue] = {}
    for port, value in zip(ports, values, strict=True):
        container = container_of(port.type)
        kind = "" if container is None else container.kind
        elements = _elements(builder, port.name, kind, value)
        names = element_names(port.name, kind, len(elements))
        _check_unique(names, [*found, *builder.inputs.values()] if kind else found)
        found |= zip(names, elements, strict=True)
    # A program has an output: if all sequences are empty and optionals absent, the length of one.
    return found or {f"{ports[0].name}.length": builder.constant(np.array(0))}


def _elements(builder: Builder, name: str, kind: str, value: SSAValue) -> Sequence[SSAValue]:
    """Return the tensors of an output of a declared kind, which is empty for a tensor."""
    what = f"the output '{printable(name)}'"
    is_list = builder.sequences.get(value) is not None
    if builder.is_absent(value):
        if kind in (OPTIONAL, OPTIONAL_SEQUENCE):
            return ()
        raise CloptError(f"{what} is an optional without an element; declare it as an optional.")
    if is_list != (kind in (SEQUENCE, OPTIONAL_SEQUENCE)):
        has = "a sequence" if is_list else "a tensor"
        raise CloptError(f"{what} is {has}; declare it with this type.")
    if not is_list:
        return (value,)
    elements = builder.sequences[value] or ()
    if not elements and kind == OPTIONAL_SEQUENCE:
        raise CloptError(f"{what} is an empty sequence in an optional; return the sequence alone.")
    return elements


def _check_unique(names: Iterable[str], others: Iterable[str]) -> None:
    for name in sorted({*names} & {*others}):
        raise CloptError(
            f"an input or output is called '{printable(name)}', and so is an element of a "
            "sequence; rename the sequence."
        )
