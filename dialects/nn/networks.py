"""Tells the networks of a module from functions that belong to other compilers."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr

from .base import NNOp

_OURS = ("nn.", "clml.")
"""The prefixes of operations that belong to a network, besides those of classes of `NNOp`."""

_NAME = "nn.name"


def is_network(function: func.FuncOp) -> bool:
    """Whether a function has operations of a network, or parameters that the frontend named.

    The names identify networks that simplify to their inputs and have no operations left.
    """
    attrs = [*(function.arg_attrs or ()), *(function.res_attrs or ())]
    if any(_NAME in entries.data for entries in attrs):
        return bool(function.body.blocks)
    return has_operations(function)


def has_operations(function: func.FuncOp) -> bool:
    """Whether a function has operations of a network, of any dialect."""
    return any(isinstance(op, NNOp) or op.name.startswith(_OURS) for op in function.body.walk())


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
