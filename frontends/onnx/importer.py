"""From an ONNX model to a module of the nn dialect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from onnx import ModelProto, ValueInfoProto
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Block, Region, SSAValue

from ...dialects.nn.types import Array, array_type, shape_of
from ...errors import CloptError
from ...weights import Weights
from .builder import Builder, name_value
from .graph import GraphImporter, Scope
from .model import Model, read_model
from .tensors import open_dimensions, tensor_type_of


def import_onnx(
    source: str | Path | bytes | ModelProto,
    weights: Weights,
    dims: Mapping[str, int] | None = None,
    values: Mapping[str, Array] | None = None,
) -> ModuleOp:
    """Import a model as `func.func @main` in the nn dialect, all shapes static.

    Large initialisers go to `weights`. `dims` binds symbolic dimensions by name; a dimension
    without a name is called `input.axis`. `values` fixes inputs at import, which makes shapes that
    depend on them static; these are no parameters of the function any more. Whatever cannot be
    imported exactly raises CloptError.
    """
    model = read_model(source)
    dims = dims or {}
    _check_dims(model, dims)
    block = Block()
    builder = Builder(block, weights)
    scope = Scope()
    scope.add_initializers(model.graph)
    fixed = dict(values or {})
    names: list[str] = []
    for value in model.graph.input:
        if value.name in scope.initializers:
            continue
        if value.name in fixed:
            scope.values[value.name] = _fixed_value(value, dims, fixed.pop(value.name), builder)
            continue
        type = tensor_type_of(value.type, dims, value.name, "input")
        if 0 in type.get_shape():
            raise CloptError(f"the input '{value.name}' has no elements: its type is {type}.")
        argument = block.insert_arg(type, len(block.args))
        name_value(argument, value.name)
        scope.values[value.name] = argument
        names.append(value.name)
    if fixed:
        raise CloptError(f"{model.name} has no input '{next(iter(fixed))}' whose value to fix.")
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


def _fixed_value(
    value: ValueInfoProto, dims: Mapping[str, int], array: Array, builder: Builder
) -> SSAValue:
    """An input as a constant; dimensions that `dims` leaves open are those of the array."""
    open_dims = open_dimensions(value.type, value.name)
    sizes = {s: n for s, axis in open_dims.items() for n in array.shape[axis : axis + 1]}
    declared = tensor_type_of(value.type, {**sizes, **dims}, value.name, "input")
    if array_type(array) != declared:
        raise CloptError(f"the input '{value.name}' is {declared}, the value {array_type(array)}.")
    return builder.constant(array, value.name)


def _import_graph(model: Model, builder: Builder, scope: Scope) -> Sequence[SSAValue]:
    if not model.graph.output:
        raise CloptError(f"{model.name} computes nothing: its graph has no output.")
    for value in model.graph.output:
        kind = value.type.WhichOneof("value")
        if kind not in ("tensor_type", None):
            raise CloptError(
                f"the output '{value.name}' has a {kind.removesuffix('_type')} type; "
                "only tensors are supported."
            )
    importer = GraphImporter(builder, model.opsets, model.functions, model.folder)
    values = importer.import_graph(model.graph, scope)
    for output, value in zip(model.graph.output, values, strict=True):
        if 0 in shape_of(value):
            raise CloptError(f"the output '{output.name}' has no elements, so there is no result.")
    return [builder.place(value) for value in values]


def _check_dims(model: Model, dims: Mapping[str, int]) -> None:
    known = [s for v in model.graph.input for s in open_dimensions(v.type, v.name)]
    for name, size in dims.items():
        if name not in known:
            listed = ", ".join(dict.fromkeys(known)) or "none, all are fixed"
            raise CloptError(f"{model.name} has no dimension '{name}' to bind; it has: {listed}.")
        if size < 1:
            raise CloptError(f"the dimension '{name}' must be at least 1 but is {size}.")


def _named(names: Sequence[str]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr([DictionaryAttr({"nn.name": StringAttr(name)}) for name in names])
