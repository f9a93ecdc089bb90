"""Import of an ONNX model as a module of the nn dialect."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from onnx import ModelProto, ValueInfoProto
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Block, Region, SSAValue

from ...dialects.nn.types import Array, Tensor, numpy_dtype
from ...errors import CloptError
from ...messages.open_dimensions import OpenDimension, OpenDimensionsError, OpenValuesError
from ...messages.open_sequences import OpenSequencesError
from ...messages.printable import printable
from ...output_sizes import count_name
from ...sequence_inputs import containers_of, element_sizes, stated_elements
from ...tensor_info import describe
from ...weights import Weights
from ..builder import Builder
from .containers import container_of, container_value, flat_outputs
from .declared import declared_inputs
from .graph import NodeImporter
from .model import (
    Model,
    declared_inputs_of,
    declared_outputs_of,
    has_containers,
    inputs_of,
    read_model,
)
from .scope import ValueScope
from .tensors import dtype_of, open_dimensions, tensor_type_of, type_text


def import_onnx(
    source: str | Path | bytes | ModelProto | Model,
    weights: Weights,
    dims: Mapping[str, int] | None = None,
    values: Mapping[str, Array] | None = None,
    *,
    strict_half: bool = False,
) -> ModuleOp:
    """Import a model as `func.func @main` in the nn dialect, with static shapes.

    Large initialisers are stored in `weights`. `dims` binds symbolic dimensions by name; a
    dimension without a name is called `input.axis`. `values` makes inputs constants, which `main`
    then does not take. With `strict_half`, operators on halves are imported by the steps that
    define them in ONNX.

    Raises CloptError if any part of the model cannot be imported exactly: an OpenDimensionsError
    if `dims` lacks a dimension, and an OpenValuesError if `values` lacks small inputs that decide
    shapes.
    """
    model = source if isinstance(source, Model) else read_model(source)
    dims, values = dims or {}, values or {}
    if model.elements is None and has_containers(model):
        model, dims = _with_stated_elements(model, dims)
    block = Block()
    builder = Builder(block, weights)
    scope = ValueScope(arrays=model.arrays)
    scope.add_initializers(model.graph)
    inputs = inputs_of(model)
    importer = NodeImporter(
        builder, model.opsets, model.functions, model.folder, strict_half=strict_half
    )
    _check_names(model, dims, values, inputs)
    if unbound := _unbound(inputs, dims):
        _add_inputs(
            inputs, {**dict.fromkeys((d.name for d in unbound), 1), **dims}, {}, scope, builder
        )
        _check_outputs(model)
        importer.check_operators(model.graph, scope)
        raise OpenDimensionsError([value.name for value in inputs], unbound)
    _add_inputs(inputs, dims, values, scope, builder)
    _add_containers(model, scope, builder)
    _check_outputs(model)
    with _empty_dimensions_named(dims):
        found = importer.import_model(model.graph, scope)
        tensors = flat_outputs(builder, declared_outputs_of(model), found)
        tensors |= _computed_sizes(builder, tensors)
        outputs = [builder.place(value) for value in tensors.values()]
    block.add_op(func.ReturnOp(*outputs))
    main = func.FuncOp(
        "main",
        (block.arg_types, [value.type for value in outputs]),
        Region(block),
        arg_attrs=_named([*builder.inputs.values()]),
        res_attrs=_named([*tensors]),
    )
    return ModuleOp([main, *builder.bodies])


def _computed_sizes(builder: Builder, outputs: Mapping[str, SSAValue]) -> dict[str, SSAValue]:
    """Return the sizes of outputs that only the device knows, by the names of further outputs."""
    counts = {
        count_name(name, size.axis): size.number
        for name, value in outputs.items()
        if (size := builder.data_sizes.get(value)) is not None
    }
    if same := [name for name in counts if name in outputs]:
        raise CloptError(
            f"the output '{printable(same[0])}' has the name of a size; rename the output."
        )
    return counts


def check_dims(model: Model, dims: Mapping[str, int]) -> None:
    """Raise CloptError if `dims` names no dimension of the model or lacks one.

    Before a dimension that is missing, this tells of what `import_onnx` cannot import for any size.
    """
    if has_containers(model):
        model, dims = _with_stated_elements(model, dims)
    inputs = inputs_of(model)
    _check_names(model, dims, {}, inputs)
    if _unbound(inputs, dims):
        import_onnx(model, Weights(), dims)


def _add_inputs(
    inputs: Sequence[ValueInfoProto],
    dims: Mapping[str, int],
    values: Mapping[str, Array],
    scope: ValueScope,
    builder: Builder,
) -> None:
    """Add the inputs to `scope`: as arguments of the network, or as the constants in `values`."""
    for value in inputs:
        type = tensor_type_of(value.type, dims, value.name)
        if value.name in values:
            array = values[value.name]
            _check_value(value.name, array, type)
            scope.values[value.name] = builder.constant(array, value.name)
        else:
            argument = builder.add_input(type, value.name)
            scope.values[value.name] = builder.known_if_empty(argument)


def _add_containers(model: Model, scope: ValueScope, builder: Builder) -> None:
    """Add the inputs that are sequences or optionals to `scope`, which has their tensors."""
    for value in declared_inputs_of(model):
        if container_of(value.type) is not None:
            ranks = (model.elements or {}).get(value.name)
            scope.values[value.name] = container_value(builder, value, ranks, scope.values)


def refuse_unknown_elements(model: Model) -> None:
    """Raise OpenSequencesError if inputs or outputs are sequences of unknown elements, or maps.

    Before that, this tells of what cannot be imported for any elements.
    """
    if model.elements is not None or not has_containers(model):
        return
    _check_containers(model)
    ports = containers_of(declared_inputs(model, {}))
    raise OpenSequencesError((port.name, port.container, port.is_ranked) for port in ports)


def _with_stated_elements(model: Model, dims: Mapping[str, int]) -> tuple[Model, Mapping[str, int]]:
    """Return a model whose sequences have the lengths in `dims`, and the sizes of their elements.

    Before a length that is missing, this tells of what cannot be imported for any length.
    """
    ports = declared_inputs(model, {})
    try:
        elements = stated_elements(ports, dims)
    except OpenSequencesError:
        _check_containers(model)
        raise
    return replace(model, elements=elements), element_sizes(ports, elements, dims)


def _check_containers(model: Model) -> None:
    """Raise CloptError for what cannot be imported whatever the elements of the inputs are."""
    builder, scope = Builder(Block(), Weights()), ValueScope(arrays=model.arrays)
    scope.add_initializers(model.graph)
    for value in declared_inputs_of(model):
        if (container := container_of(value.type)) is not None:
            tensor = container.element.tensor_type
            dtype_of(tensor.elem_type, f"the input '{printable(value.name)}'")
        scope.values[value.name] = builder.sequence(None)
    _check_outputs(model)
    importer = NodeImporter(builder, model.opsets, model.functions, model.folder)
    importer.check_operators(model.graph, scope)


def _check_value(name: str, array: Array, type: Tensor) -> None:
    """Check that a value has the type of the input that it replaces."""
    wanted = describe(type.get_shape(), numpy_dtype(type.element_type))
    if (given := describe(array.shape, array.dtype)) != wanted:
        raise CloptError(f"the value for the input '{printable(name)}' is {given}, not {wanted}.")


def _check_outputs(model: Model) -> None:
    if not model.graph.output:
        raise CloptError(f"{model.name} computes nothing: its graph has no output.")
    for value in declared_outputs_of(model):
        kind = value.type.WhichOneof("value")
        if kind not in ("tensor_type", None) and container_of(value.type) is None:
            raise CloptError(f"the output '{printable(value.name)}' has {type_text(value.type)}.")


def _dimensions(inputs: Sequence[ValueInfoProto]) -> list[OpenDimension]:
    return [
        OpenDimension(symbol, value.name, axis)
        for value in inputs
        for symbol, axis in open_dimensions(value.type, value.name)
    ]


def _unbound(inputs: Sequence[ValueInfoProto], dims: Mapping[str, int]) -> list[OpenDimension]:
    return [each for each in _dimensions(inputs) if each.name not in dims]


def _check_names(
    model: Model,
    dims: Mapping[str, int],
    values: Mapping[str, Array],
    inputs: Sequence[ValueInfoProto],
) -> None:
    """Check that `dims` and `values` name only dimensions and inputs of the model."""
    names: set[str] = set()
    for value in inputs:
        if value.name in names:
            raise CloptError(
                f"{model.name} has two inputs '{printable(value.name)}'; names must be unique."
            )
        names.add(value.name)
    for name in values:
        if name not in names:
            raise CloptError(f"{model.name} has no input '{printable(name)}' to make a constant.")
    known = [dimension.name for dimension in _dimensions(inputs)]
    for name, size in dims.items():
        if name not in known:
            listed = ", ".join(map(printable, dict.fromkeys(known))) or "none, all are fixed"
            raise CloptError(f"{model.name} has no dimension '{name}' to bind; it has: {listed}.")
        if size < 0:
            raise CloptError(f"the dimension '{name}' must not be negative but is {size}.")


@contextmanager
def _empty_dimensions_named(dims: Mapping[str, int]) -> Generator[None]:
    """Add the names of dimensions bound to 0, the likely cause, to errors raised in the body."""
    try:
        yield
    except OpenValuesError:
        raise
    except CloptError as error:
        empty = " and ".join(f"'{printable(name)}'" for name, size in dims.items() if not size)
        if empty:
            raise CloptError(f"with {empty} bound to 0, tensors are empty: {error}") from error
        raise


def _named(names: Sequence[str]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr([DictionaryAttr({"nn.name": StringAttr(name)}) for name in names])
