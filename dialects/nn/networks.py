"""Distinguishes the networks of a module from functions that belong to other compilers."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation

from ..offload import OffloadCallOp
from ..properties import text
from .base import NNOp

_OURS = "nn."
"""The prefix of operations that belong to a network, besides subclasses of `NNOp`."""

_NAME = "nn.name"

_IMAGE = "nn.image"
"""Marks a parameter that the application passes as an image."""

_NETWORK = "nn.network"
"""Marks a function that contains only operations of a network."""

_WRAPPER = "nn.wrapper"
"""Requests a wrapper function with the name and signature of the network."""


def is_network(function: func.FuncOp) -> bool:
    """Return whether passes treat a function as a network.

    It is a network if it is marked, if a frontend named its parameters, or if it has operations of
    a network. Marks and names identify networks that simplify to their inputs and have no
    operations left.
    """
    if len(function.body.blocks) != 1:
        return False
    attrs = [*(function.arg_attrs or ()), *(function.res_attrs or ())]
    is_named = any(_NAME in entries.data for entries in attrs)
    return is_named or is_marked_network(function) or has_operations(function)


def is_marked_network(function: func.FuncOp) -> bool:
    """Return whether a function is marked as a network."""
    return _NETWORK in function.attributes


def mark_network(function: func.FuncOp) -> None:
    """Mark a function as a network."""
    function.attributes[_NETWORK] = UnitAttr()


def wants_wrapper(network: func.FuncOp) -> bool:
    """Return whether a function with the network's name and signature shall run its program."""
    return _WRAPPER in network.attributes


def without_marks(attributes: Mapping[str, Attribute]) -> dict[str, Attribute]:
    """Return the attributes of a network or parameter that clopt's passes do not use."""
    return {name: attribute for name, attribute in attributes.items() if not name.startswith(_OURS)}


def has_operations(function: func.FuncOp) -> bool:
    """Return whether a function contains operations of a network, of any dialect."""
    return any(map(is_operation, function.body.walk()))


def is_operation(op: Operation) -> bool:
    """Return whether an operation belongs to a network, in any dialect."""
    return isinstance(op, NNOp | OffloadCallOp) or op.name.startswith(_OURS)


def networks_of(module: ModuleOp) -> list[func.FuncOp]:
    """Return the networks of a module in order; passes leave all other functions unchanged."""
    return [op for op in module.ops if isinstance(op, func.FuncOp) and is_network(op)]


def name_parameters(function: func.FuncOp) -> None:
    """Give the inputs and results without a name numbered names.

    The names identify a network that simplifies to nothing.
    """
    type_ = function.function_type
    function.arg_attrs = _named(function.arg_attrs, "input", len(type_.inputs))
    function.res_attrs = _named(function.res_attrs, "output", len(type_.outputs))


def _named(
    attrs: ArrayAttr[DictionaryAttr] | None, kind: str, count: int
) -> ArrayAttr[DictionaryAttr]:
    given = list(attrs) if attrs else [DictionaryAttr({})] * count
    return ArrayAttr(
        [
            DictionaryAttr({_NAME: StringAttr(f"{kind}{i}"), **entry.data})
            for i, entry in enumerate(given)
        ]
    )


def parameter_names(function: func.FuncOp) -> list[str]:
    """Return the names of the inputs, then of the results; all must be named."""
    attrs = [*(function.arg_attrs or ()), *(function.res_attrs or ())]
    return [text(entries.data[_NAME]) or "" for entries in attrs]


def mark_images(function: func.FuncOp, names: Collection[str]) -> None:
    """Mark the inputs and results with these names as images."""
    function.arg_attrs = _marked(function.arg_attrs, names)
    function.res_attrs = _marked(function.res_attrs, names)


def images_of(attrs: ArrayAttr[DictionaryAttr] | None) -> set[int]:
    """Return the positions of the images among a function's inputs, or among its results."""
    return {i for i, entries in enumerate(attrs or ()) if _IMAGE in entries.data}


def _marked(
    attrs: ArrayAttr[DictionaryAttr] | None, names: Collection[str]
) -> ArrayAttr[DictionaryAttr] | None:
    return attrs and ArrayAttr(
        DictionaryAttr({**entries.data, _IMAGE: UnitAttr()})
        if text(entries.data.get(_NAME)) in names
        else entries
        for entries in attrs
    )
