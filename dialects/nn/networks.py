"""Tells the networks of a module from functions that belong to other compilers."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation

from ..offload import OffloadCallOp
from ..properties import text
from .base import NNOp

_OURS = "nn."
"""The prefix of operations that belong to a network, besides those of classes of `NNOp`."""

_NAME = "nn.name"

_IMAGE = "nn.image"
"""Marks a parameter that the application gives as an image."""

_NETWORK = "nn.network"
"""Marks a function that has operations of a network alone."""

_WRAPPER = "nn.wrapper"
"""Asks for a function with the name and signature of a network, beside its program."""


def is_network(function: func.FuncOp) -> bool:
    """Return whether passes take a function for a network: it is marked, or its parameters have
    names from a frontend, or it has operations of a network.

    Marks and names identify networks that simplify to their inputs and have no operations left.
    """
    if len(function.body.blocks) != 1:
        return False
    attrs = [*(function.arg_attrs or ()), *(function.res_attrs or ())]
    is_named = any(_NAME in entries.data for entries in attrs)
    return is_named or is_marked_network(function) or has_operations(function)


def is_marked_network(function: func.FuncOp) -> bool:
    """Return whether a function has the mark of networks."""
    return _NETWORK in function.attributes


def mark_network(function: func.FuncOp) -> None:
    """Mark a function as a network."""
    function.attributes[_NETWORK] = UnitAttr()


def wants_wrapper(network: func.FuncOp) -> bool:
    """Return whether a function with the network's name and signature is to run its program."""
    return _WRAPPER in network.attributes


def without_marks(attributes: Mapping[str, Attribute]) -> dict[str, Attribute]:
    """Return the attributes of a network, or of a parameter, that mean nothing to our passes."""
    return {name: each for name, each in attributes.items() if not name.startswith(_OURS)}


def has_operations(function: func.FuncOp) -> bool:
    """Whether a function has operations of a network, of any dialect."""
    return any(map(is_operation, function.body.walk()))


def is_operation(op: Operation) -> bool:
    """Return whether an operation is one of a network, of any dialect."""
    return isinstance(op, NNOp | OffloadCallOp) or op.name.startswith(_OURS)


def networks_of(module: ModuleOp) -> list[func.FuncOp]:
    """The networks of a module, in order; passes leave all other functions as they found them."""
    return [op for op in module.ops if isinstance(op, func.FuncOp) and is_network(op)]


def name_parameters(function: func.FuncOp) -> None:
    """Name the inputs and results that have no name, by number.

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
    """The names of the inputs, then of the results, each of which has one."""
    attrs = [*(function.arg_attrs or ()), *(function.res_attrs or ())]
    return [text(entries.data[_NAME]) or "" for entries in attrs]


def mark_images(function: func.FuncOp, names: Collection[str]) -> None:
    """Mark the inputs and results of these names as images."""
    function.arg_attrs = _marked(function.arg_attrs, names)
    function.res_attrs = _marked(function.res_attrs, names)


def images_of(attrs: ArrayAttr[DictionaryAttr] | None) -> set[int]:
    """The positions of the images among a function's inputs, or among its results."""
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
