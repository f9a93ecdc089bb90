"""Import of an ONNX model as a module of the nn dialect."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from onnx import ModelProto, ValueInfoProto
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Block, Region, SSAValue

from ...errors import CloptError
from ...messages.open_dimensions import OpenDimension, OpenDimensionsError
from ...messages.printable import printable
from ...weights import Weights
from ..builder import Builder, name_value
from .graph import NodeImporter, ValueScope
from .model import Model, read_model
from .tensors import open_dimensions, tensor_type_of


def import_onnx(
    source: str | Path | bytes | ModelProto,
    weights: Weights,
    dims: Mapping[str, int] | None = None,
) -> ModuleOp:
    """Import a model as `func.func @main` in the nn dialect, with static shapes.

    Large initialisers are stored in `weights`. `dims` binds symbolic dimensions by name; a
    dimension without a name is called `input.axis`. Raises CloptError if any part of the model
    cannot be imported exactly.
    """
    model = read_model(source)
    dims = dims or {}
    block = Block()
    builder = Builder(block, weights)
    scope = ValueScope()
    scope.add_initializers(model.graph)
    _check_dims(model, dims, [v for v in model.graph.input if v.name not in scope.initializers])
    names: list[str] = []
    for value in model.graph.input:
        if value.name in scope.initializers:
            continue
        if value.name in scope.values:
            raise CloptError(
                f"{model.name} has two inputs '{printable(value.name)}'; names must be unique."
            )
        type = tensor_type_of(value.type, dims, value.name)
        argument = block.insert_arg(type, len(block.args))
        name_value(argument, value.name)
        scope.values[value.name] = builder.known_if_empty(argument)
        names.append(value.name)
    with _empty_dimensions_named(dims):
        outputs = _import_graph(model, builder, scope)
    block.add_op(func.ReturnOp(*outputs))
    main = func.FuncOp(
        "main",
        (block.arg_types, [value.type for value in outputs]),
        Region(block),
        arg_attrs=_named(names),
        res_attrs=_named([value.name for value in model.graph.output]),
    )
    return ModuleOp([main])


def _import_graph(model: Model, builder: Builder, scope: ValueScope) -> Sequence[SSAValue]:
    if not model.graph.output:
        raise CloptError(f"{model.name} computes nothing: its graph has no output.")
    for value in model.graph.output:
        kind = value.type.WhichOneof("value")
        if kind not in ("tensor_type", None):
            raise CloptError(
                f"the output '{printable(value.name)}' has a {kind.removesuffix('_type')} type; "
                "only tensors are supported."
            )
    importer = NodeImporter(builder, model.opsets, model.functions, model.folder)
    return [builder.place(value) for value in importer.import_model(model.graph, scope)]


def _check_dims(model: Model, dims: Mapping[str, int], inputs: Sequence[ValueInfoProto]) -> None:
    """Check that `dims` binds every open dimension of the inputs, and no other name."""
    dimensions = [
        OpenDimension(symbol, value.name, axis)
        for value in inputs
        for symbol, axis in open_dimensions(value.type, value.name)
    ]
    known = [dimension.name for dimension in dimensions]
    for name, size in dims.items():
        if name not in known:
            listed = ", ".join(map(printable, dict.fromkeys(known))) or "none, all are fixed"
            raise CloptError(f"{model.name} has no dimension '{name}' to bind; it has: {listed}.")
        if size < 0:
            raise CloptError(f"the dimension '{name}' must not be negative but is {size}.")
    unbound = [dimension for dimension in dimensions if dimension.name not in dims]
    if unbound:
        raise OpenDimensionsError([value.name for value in inputs], unbound)


@contextmanager
def _empty_dimensions_named(dims: Mapping[str, int]) -> Generator[None]:
    """Add the names of dimensions bound to 0, the likely cause, to errors raised in the body."""
    try:
        yield
    except CloptError as error:
        empty = " and ".join(f"'{printable(name)}'" for name, size in dims.items() if not size)
        if empty:
            raise CloptError(f"with {empty} bound to 0, tensors are empty: {error}") from error
        raise


def _named(names: Sequence[str]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr([DictionaryAttr({"nn.name": StringAttr(name)}) for name in names])
