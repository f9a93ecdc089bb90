"""The networks of a module, and the operations of other compilers beside them."""

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
"""The operations of a module that our passes produce from networks."""


@dataclass(frozen=True)
class MixedModuleContents:
    """The operations of a module, sorted into networks and foreign operations."""

    networks: dict[str, func.FuncOp] = field(default_factory=dict[str, func.FuncOp])
    """Functions that contain only nn operations, by name."""
    foreign: list[Operation] = field(default_factory=list[Operation])
    """Everything else except the results of our passes."""
    names: set[str] = field(default_factory=set[str])
    """The symbols of the module."""

    @property
    def mixed(self) -> list[Operation]:
        """Return the foreign operations that contain nn operations."""
        return [op for op in self.foreign if _holds_nn(op)]

    @property
    def calls(self) -> list[func.CallOp]:
        """Return the calls of networks."""
        calls = (op for op in self.in_scope() if isinstance(op, func.CallOp))
        return [op for op in calls if op.callee.root_reference.data in self.networks]

    def refuse_mixed(self, remedy: str) -> None:
        """Raise CloptError for nn operations outside of networks."""
        for op in self.mixed:
            reason = foreign_part(op) if isinstance(op, func.FuncOp) else "it is not a func.func"
            raise CloptError(f"{label(op)} contains nn operations, but {reason}; {remedy}.")

    def in_scope(self) -> Iterator[Operation]:
        """Yield the foreign operations that see the module's symbols, nested ones included."""
        for op in self.foreign:
            yield from _in_scope(op)


def checked_contents(module: ModuleOp, callers: Collection[Operation] = ()) -> MixedModuleContents:
    """Return the contents of a module whose networks can be lowered.

    `callers` count as networks, whatever they contain. Raise CloptError for a marked function that
    is not a network, and for networks in a nested module. Also raise it for a use of a network that
    cannot become a run of its program.
    """
    contents = MixedModuleContents()
    contents.names.update(name for op in module.ops if (name := symbol_name(op)) is not None)
    for op in module.ops:
        if isinstance(op, func.FuncOp) and (nn.is_network(op) or nn.is_marked_network(op)):
            reason = foreign_part(op)
            if reason is None or op in callers:
                contents.networks[op.sym_name.data] = op
                continue
            if nn.is_marked_network(op):
                remedy = "remove the mark"
                if op.body.blocks:
                    remedy += ", and nn-outline-islands moves its nn operations to networks"
                raise CloptError(
                    f"@{op.sym_name.data} is marked nn.network, but {reason}; {remedy}."
                )
        if nn.is_operation(op) and not isinstance(op, _LOWERED):
            raise CloptError(f"{node_name(op)} is outside of any function; put it in a func.func.")
        if not isinstance(op, _LOWERED):
            contents.foreign.append(op)
    for op in contents.in_scope():
        if _has_symbols(op) and _holds_nn(op):
            raise CloptError(f"{label(op)} contains nn operations, but {_out_of_reach(op)}.")
        _check_use(op, contents.networks)
    return contents


def foreign_part(function: func.FuncOp, with_calls: bool = False) -> str | None:
    """Return what keeps a function from becoming a program, as a clause; None for a network.

    Calls count as foreign, unless `with_calls` is set.
    """
    type_, blocks = function.function_type, function.body.blocks
    if not blocks:
        return "it has no body"
    if len(blocks) != 1:
        return f"it has {len(blocks)} blocks"
    for port in (*type_.inputs, *type_.outputs):
        if not isinstance(port, TensorType):
            return f"it takes or returns {port}, which is not a tensor"
        if not nn.can_hold(cast("nn.Tensor", port)):
            return f"it takes or returns {port}, which programs cannot hold"
    for op in function.body.block.ops:
        if isinstance(op, func.CallOp):
            if with_calls:
                continue
            return f"it calls @{op.callee.root_reference.data}"
        if not (nn.is_operation(op) or isinstance(op, func.ReturnOp)):
            return f"it has the operation {op_name(op)}"
    return None


def symbol_name(op: Operation) -> str | None:
    """Return the symbol name of an operation, or None."""
    name = op.get_attr_or_prop("sym_name")
    return name.data if isinstance(name, StringAttr) else None


def label(op: Operation) -> str:
    """Return the name of an operation for messages: its symbol or its kind."""
    name = symbol_name(op)
    return op_name(op) if name is None else f"@{name}"


def _check_use(op: Operation, networks: Mapping[str, func.FuncOp]) -> None:
    """Raise CloptError for a use of a network that cannot become a run of its program."""
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
                "nn.wrapper to keep a function of that name."
            )


def has_plain_tensors(network: func.FuncOp) -> bool:
    """Return whether no parameter is an image or has a layout."""
    if nn.images_of(network.arg_attrs) or nn.images_of(network.res_attrs):
        return False
    type_ = network.function_type
    tensors = (cast("TensorType[Attribute]", port) for port in (*type_.inputs, *type_.outputs))
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
    inner = () if _has_symbols(op) else (op_ for region in op.regions for op_ in _ops_of(region))
    for child in inner:
        yield from _in_scope(child)


def _ops_of(region: Region) -> Iterator[Operation]:
    return (op for block in region.blocks for op in block.ops)


def _has_symbols(op: Operation) -> bool:
    """Return whether operations inside of `op` see its symbols instead of the surrounding ones.

    xDSL assumes that every operation of an unknown dialect has symbols.
    """
    return bool(op.regions) and op.has_trait(SymbolTable)


def _out_of_reach(op: Operation) -> str:
    """Return why operations inside of a symbol table cannot call a network, with a remedy."""
    if isinstance(op, UnregisteredOp):
        return "its dialect is unknown, so it may hide the module's symbols; register the dialect"
    return "it is a nested module; lower it alone, or move its functions to the outer module"


def _holds_nn(op: Operation) -> bool:
    """Return whether `op` is or contains an nn operation."""
    return any(map(nn.is_operation, op.walk()))
