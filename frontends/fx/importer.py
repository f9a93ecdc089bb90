"""Import of an FX graph of ATen calls as a network of nn operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Block, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...dialects import nn
from ...dialects.nn.types import Array, shape_of, tensor_type
from ...errors import LINE_BREAK, CloptError
from ...weights import Weights
from ..builder import Builder, name_location, name_value
from .call import Form, FxCall, FxError
from .operators import TABLE
from .tracing import AS_STRIDED

Constants = Mapping[str, Any]
"""Torch tensors of the placeholders that are constant, by placeholder name."""

_MOST_SHOWN = 10


class GraphImporter:
    """Importer of the nodes of a graph; `refused` maps unsupported nodes to the reasons."""

    def __init__(self, builder: Builder, block: Block, constants: Constants):
        self.names: list[str] = []
        self.refused: dict[Any, str] = {}
        self._builder = builder
        self._block = block
        self._constants = constants
        self._values: dict[Any, Any] = {}

    def run(self, graph: Any) -> Sequence[SSAValue]:
        """Import all nodes. Return the tensors that the graph returns."""
        for node in graph.graph.nodes:
            if node.op == "output":
                returned = node.args[0]
                several = isinstance(returned, list | tuple)
                results = cast("Sequence[Any]", returned if several else [returned])
                return [self._values[result] for result in results if result is not None]
            self._builder.location = name_location(node.name)
            try:
                self._values[node] = self._value(graph, node)
            except (FxError, VerifyException) as error:
                self.refused[node] = str(error).strip().rstrip(".")
                self._values[node] = _stand_in(node.meta.get("val"))
        raise CloptError("The graph has no output node, so there is nothing to compile.")

    def _value(self, graph: Any, node: Any) -> Any:
        if node.op == "placeholder":
            return self._placeholder(node)
        if node.op == "get_attr":
            return self._builder.constant(array_of(getattr(graph, node.target)), node.target)
        if node.op != "call_function":
            raise FxError("is not a call of an operator")
        name = str(node.target)
        if getattr(node.target, "__name__", "") == "getitem":
            return self._item(node)
        if name not in TABLE:
            raise FxError("is not a supported operator")
        return self._checked(node, TABLE[name](self._call(node, name)))

    def _placeholder(self, node: Any) -> Any:
        value = node.meta.get("val")
        if node.name in self._constants:
            return self._builder.constant(array_of(self._constants[node.name]), node.name)
        if value is None or isinstance(value, bool | int | float | str):
            return value
        argument = self._block.insert_arg(Form.of(value).type, len(self._block.args))
        name_value(argument, node.name)
        self.names.append(node.name)
        return self._builder.known_if_empty(argument)

    def _item(self, node: Any) -> SSAValue:
        source, index = node.args
        value = self._values[source][index]
        if value is None:
            self.refused.setdefault(source, f"is used for its result {index}")
            raise FxError(f"reads result {index} of {source.target}, which is not computed")
        return value

    def _call(self, node: Any, name: str) -> FxCall:
        arguments: dict[str, Any] = {}
        for i, argument in enumerate(node.target._schema.arguments):
            if i < len(node.args):
                given = node.args[i]
            else:
                given = node.kwargs.get(argument.name, argument.default_value)
            arguments[argument.name] = self._argument(given, node.__class__)
        value = node.meta.get("val")
        values = cast("Sequence[Any]", value if isinstance(value, list | tuple) else [value])
        return FxCall(name, arguments, [_form(v) for v in values], self._builder)

    def _argument(self, given: Any, node_type: type) -> Any:
        if isinstance(given, list | tuple):
            return [self._argument(element, node_type) for element in cast("Sequence[Any]", given)]
        return self._values[given] if isinstance(given, node_type) else given

    def _checked(self, node: Any, results: Any) -> Any:
        """Check that each result has the form that torch computed; return the results."""
        value = node.meta.get("val")
        several = isinstance(value, list | tuple)
        for result, expected in zip(
            results if several else [results],
            cast("Sequence[Any]", value if several else [value]),
            strict=True,
        ):
            if result is None:
                continue
            form = Form.of(expected)
            if shape_of(result) != form.shape or tensor_type(result).element_type != form.element:
                raise FxError(f"was imported as {result.type} but torch computes {form.type}")
        return results


def _form(value: Any) -> Form | None:
    try:
        return Form.of(value)
    except (FxError, AttributeError):
        return None


def _stand_in(value: Any) -> Any:
    """Return values without a defining operation, so that later nodes can be imported."""
    if isinstance(value, list | tuple):
        return [_stand_in(element) for element in cast("Sequence[Any]", value)]
    form = _form(value)
    return None if form is None else Block(arg_types=(form.type,)).args[0]


def array_of(tensor: Any) -> Array:
    """Return the elements of a tensor in host memory, without a copy."""
    _ = Form.of(tensor)
    return tensor.detach().numpy()


def refused_nodes(graph: Any, constants: Constants) -> Mapping[Any, str]:
    """Return the nodes that clopt cannot compute, with the reasons."""
    block = Block()
    importer = GraphImporter(Builder(block, Weights()), block, constants)
    importer.run(graph)
    refused = dict(importer.refused)
    for node in graph.graph.nodes:
        if str(node.target) == AS_STRIDED:
            return {n: "shares its storage with as_strided" for n in graph.graph.nodes}
        # A result that nn has no type for, or one of several, cannot enter a program.
        if any(n in refused and _form(n.meta.get("val")) is None for n in node.all_input_nodes):
            refused.setdefault(node, "reads a result computed by torch")
    return refused


def import_fx(graph: Any, weights: Weights, constants: Constants) -> ModuleOp:
    """Import a graph of ATen calls as `func.func @main`; its placeholders become inputs.

    Placeholders in `constants` become constants, stored in `weights` without a copy. Raises
    CloptError that lists all calls that cannot be imported.
    """
    block = Block()
    builder = Builder(block, weights)
    importer = GraphImporter(builder, block, constants)
    results = importer.run(graph)
    if importer.refused:
        raise CloptError(_listed(importer.refused))
    outputs = [builder.place(value) for value in results]
    block.add_op(func.ReturnOp(*outputs))
    names = [DictionaryAttr({"nn.name": StringAttr(name)}) for name in importer.names]
    main = func.FuncOp(
        "main",
        (block.arg_types, [value.type for value in outputs]),
        Region(block),
        arg_attrs=ArrayAttr(names),
    )
    nn.name_parameters(main)
    return ModuleOp([main])


def _listed(refused: Mapping[Any, str]) -> str:
    """Return one message that lists the refused calls."""
    lines = [f"{node.target} ('{node.name}') {reason}." for node, reason in refused.items()]
    shown = lines[:_MOST_SHOWN]
    if len(lines) > len(shown):
        shown.append(f"and {len(lines) - len(shown)} more")
    remedy = 'torch.compile(model, backend="clopt") leaves such calls in torch'
    if len(lines) == 1:
        return f"{shown[0].removesuffix('.')}; {remedy}."
    return LINE_BREAK.join([f"{len(lines)} calls cannot be compiled; {remedy}:", *shown])
