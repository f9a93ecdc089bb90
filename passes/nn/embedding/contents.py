"""The networks of a module, and what other compilers have beside them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    ModuleOp,
    NoneAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnregisteredOp,
)
from xdsl.ir import Attribute, Operation, Region
from xdsl.traits import SymbolTable

from ....dialects import cl, nn, tir
from ....dialects.offload import OffloadGraphOp
from ....errors import CloptError
from ...locations import node_name, op_name

_LOWERED = cl.KernelOp | cl.ProgramOp | nn.KernelOp | tir.FuncOp | OffloadGraphOp
"""The operations of a module that our passes make of networks."""


@dataclass(frozen=True)
class ModuleContents:
    """The operations of a module, sorted by whose they are."""

    networks: dict[str, func.FuncOp] = field(default_factory=dict[str, func.FuncOp])
    """Functions of nn operations alone, by name."""
    foreign: list[Operation] = field(default_factory=list[Operation])
    """Everything else, without the results of our passes."""
    names: set[str] = field(default_factory=set[str])
    """The symbols of the module."""

    @property
    def mixed(self) -> list[Operation]:
        """The foreign operations that hold nn operations, too."""
        return [op for op in self.foreign if _holds_nn(op)]

    @property
    def calls(self) -> list[func.CallOp]:
        """The calls of networks."""
        calls = (op for op in self.in_scope() if isinstance(op, func.CallOp))
        return [op for op in calls if op.callee.root_reference.data in self.networks]

    def refuse_mixed(self, remedy: str) -> None:
        """Raise CloptError for nn operations that are in no network."""
        for op in self.mixed:
            reason = foreign_part(op) if isinstance(op, func.FuncOp) else "it is no func.func"
            raise CloptError(f"{label(op)} has operations of nn, but {reason}; {remedy}.")

    def in_scope(self) -> Iterator[Operation]:
        """Yield the foreign operations that see the module's symbols, the inner ones, too."""
        for op in self.foreign:
            yield from _in_scope(op)


def checked_contents(module: ModuleOp, callers: Collection[Operation] = ()) -> ModuleContents:
    """Return the contents of a module whose networks can be lowered; `callers` will be networks.

    Raises CloptError for a marked function that is no network, for networks in a nested module, and
    for a use of a network that could not become a run of its program.
    """
    contents = ModuleContents()
    contents.names.update(name for op in module.ops if (name := symbol_name(op)) is not None)
    for op in module.ops:
        if isinstance(op, func.FuncOp) and (nn.is_network(op) or nn.is_marked_network(op)):
            reason = foreign_part(op)
            if reason is None or op in callers:
                contents.networks[op.sym_name.data] = op
                continue
            if nn.is_marked_network(op):
                raise CloptError(
                    f"@{op.sym_name.data} is marked nn.network, but {reason}; remove the mark, and "
                    "nn-outline-islands moves its nn operations to networks of their own."
                )
        if nn.is_operation(op) and not isinstance(op, _LOWERED):
            raise CloptError(f"{node_name(op)} is in no function; put it into a func.func.")
        if not isinstance(op, _LOWERED):
            contents.foreign.append(op)
    for op in contents.in_scope():
        if _has_symbols(op) and _holds_nn(op):
            raise CloptError(f"{label(op)} has operations of nn, but {_out_of_reach(op)}.")
        _check_use(op, contents.networks)
    return contents


def foreign_part(function: func.FuncOp, with_calls: bool = False) -> str | None:
    """Return what keeps a function from becoming a program, as a clause; None for a network.

    Calls do, unless it is asked `with_calls`.
    """
    type_, blocks = function.function_type, function.body.blocks
    if len(blocks) != 1:
        return f"it has {len(blocks)} blocks"
    for each in (*type_.inputs, *type_.outputs):
        if not isinstance(each, TensorType):
            return f"it takes or returns {each}, which is no tensor"
    for op in function.body.block.ops:
        if isinstance(op, func.CallOp):
            if with_calls:
                continue
            return f"it calls @{op.callee.root_reference.data}"
        if not (nn.is_operation(op) or isinstance(op, func.ReturnOp)):
            return f"it has the operation {op_name(op)}"
    return None


def symbol_name(op: Operation) -> str | None:
    """Return the name of an operation as a symbol of its module."""
    name = op.get_attr_or_prop("sym_name")
    return name.data if isinstance(name, StringAttr) else None


def label(op: Operation) -> str:
    """Return how messages name an operation of a module."""
    name = symbol_name(op)
    return op_name(op) if name is None else f"@{name}"


def _check_use(op: Operation, networks: Mapping[str, func.FuncOp]) -> None:
    """Refuse a use of a network that cannot become a run of its program."""
    if isinstance(op, func.CallOp):
        network = networks.get(op.callee.root_reference.data)
        if network is not None and not has_plain_tensors(network):
            raise CloptError(
                f"@{network.sym_name.data} has images or layouts among its parameters, so "
                "func.call cannot pass it tensors; leave these out, or run its program by cl.run."
            )
        return
    for name in symbols_in((*op.attributes.values(), *op.properties.values())):
        if name in networks and not nn.wants_wrapper(networks[name]):
            raise CloptError(
                f"{op_name(op)} names @{name}, which becomes a program; give @{name} the attribute "
                "nn.wrapper, which keeps a function of that name."
            )


def has_plain_tensors(network: func.FuncOp) -> bool:
    """Return whether no parameter is an image or has a layout."""
    if nn.images_of(network.arg_attrs) or nn.images_of(network.res_attrs):
        return False
    type_ = network.function_type
    tensors = (cast("TensorType[Attribute]", each) for each in (*type_.inputs, *type_.outputs))
    return all(isinstance(tensor.encoding, NoneAttr) for tensor in tensors)


def symbols_in(attributes: Iterable[Attribute]) -> Iterator[str]:
    """Yield the names of the symbols that attributes refer to."""
    for attribute in attributes:
        match attribute:
            case SymbolRefAttr():
                yield attribute.root_reference.data
            case ArrayAttr():
                yield from symbols_in(attribute.data)
            case DictionaryAttr():
                yield from symbols_in(attribute.data.values())
            case _:
                pass


def _in_scope(op: Operation) -> Iterator[Operation]:
    yield op
    inner = () if _has_symbols(op) else (each for region in op.regions for each in _ops_of(region))
    for each in inner:
        yield from _in_scope(each)


def _ops_of(region: Region) -> Iterator[Operation]:
    return (op for block in region.blocks for op in block.ops)


def _has_symbols(op: Operation) -> bool:
    """Return whether operations inside of `op` see its symbols, and not those around it.

    xDSL takes every operation of an unknown dialect for one that has symbols.
    """
    return bool(op.regions) and op.has_trait(SymbolTable)


def _out_of_reach(op: Operation) -> str:
    """Return why nothing inside of an operation with symbols can call a network, and a remedy."""
    if isinstance(op, UnregisteredOp):
        return "its dialect is unknown, so nothing inside of it can call them; register the dialect"
    return "is a module in another; lower it alone, or move its functions to the outer one"


def _holds_nn(op: Operation) -> bool:
    return any(map(nn.is_operation, op.walk()))
