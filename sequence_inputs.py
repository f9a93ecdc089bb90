"""The tensors of inputs and outputs that are sequences or optionals, and the sizes that name them.

A program has one input for each element: `seq_0`, `seq_1`, ... for a sequence `seq`. Maps are not
among them: they are always one tensor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from .errors import CloptError
from .messages.open_sequences import OpenSequencesError
from .messages.printable import printable
from .tensor_info import OPTIONAL, OPTIONAL_SEQUENCE, Ranks, TensorInfo, element_names

_T = TypeVar("_T")


def containers_of(ports: Sequence[TensorInfo]) -> list[TensorInfo]:
    """Return the ports that are sequences or optionals."""
    return [port for port in ports if port.container and not port.keys]


def stated_elements(ports: Sequence[TensorInfo], dims: Mapping[str, int]) -> dict[str, Ranks]:
    """Return the elements of the inputs whose lengths `dims` states.

    An optional has 0 or 1 of them; an optional sequence of length 0 is absent. Raises
    OpenSequencesError if a length or a rank is missing.
    """
    containers = containers_of(ports)
    open_ports = [
        port
        for port in containers
        if port.name not in dims or (dims[port.name] and not port.is_ranked)
    ]
    if open_ports:
        named = [(p.name, p.container, p.is_ranked) for p in open_ports]
        raise OpenSequencesError(named)
    return {port.name: _stated(port, dims[port.name]) for port in containers}


def _stated(port: TensorInfo, length: int) -> Ranks:
    most = 1 if port.container == OPTIONAL else None
    if length < 0 or (most is not None and length > most):
        wanted = "0 (absent) or 1 (present)" if most else "a length of 0 or more"
        raise CloptError(
            f"dims gives {length} to the {port.container} '{printable(port.name)}'; give {wanted}."
        )
    if not length and port.container in (OPTIONAL, OPTIONAL_SEQUENCE):
        return None
    return (len(port.shape),) * length


def element_sizes(
    ports: Sequence[TensorInfo], elements: Mapping[str, Ranks], sizes: Mapping[str, _T]
) -> dict[str, _T]:
    """Return `sizes` of open dimensions by the names that they have for a program's inputs.

    The open dimensions of a sequence are those of each element: `seq_0.1` for axis 1.
    """
    containers = containers_of(ports)
    shared = {
        symbol
        for port in ports
        if not port.container or (port.container == OPTIONAL and elements[port.name] is not None)
        for symbol in port.symbols
    }
    own = {name for port in containers for name in (port.name, *port.symbols)} - shared
    found = {name: size for name, size in sizes.items() if name not in own}
    for port in containers:
        names = element_names(port.name, port.container, len(elements[port.name] or ()))
        for name in names if port.container != OPTIONAL else ():
            for axis, symbol in enumerate(port.symbols):
                if symbol in sizes:
                    found[f"{name}.{axis}"] = sizes[symbol]
    return found
