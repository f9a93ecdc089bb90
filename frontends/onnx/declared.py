"""The inputs and outputs that a model declares, with sizes that may be open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import onnx
from google.protobuf.message import EncodeError
from onnx import ModelProto, TypeProto, ValueInfoProto
from onnx.helper import make_opsetid, make_tensor_value_info

from ...tensor_info import TensorInfo
from .containers import container_of
from .model import Model, declared_outputs_of, inputs_of
from .tensors import DTYPES, open_dimensions

_LARGEST_READ = 1024
"""Elements of the largest constant that shape inference sees, such as the operand of a Reshape."""


def declared_inputs(model: Model, dims: Mapping[str, int]) -> list[TensorInfo]:
    """Return the inputs of a model, with the sizes in `dims`."""
    return [_declared(model, _port(value.name, value.type, dims)) for value in inputs_of(model)]


def declared_outputs(model: Model, dims: Mapping[str, int]) -> list[TensorInfo]:
    """Return the outputs of a model, with the sizes in `dims`; infer the shapes it omits."""
    outputs = declared_outputs_of(model)
    tensors = (value.type for value in outputs if container_of(value.type) is None)
    if any(not type.tensor_type.HasField("shape") for type in tensors):
        inferred = _inferred(model)
        outputs = [inferred.get(value.name, value) for value in outputs]
    return [_declared(model, _port(value.name, value.type, dims)) for value in outputs]


def _declared(model: Model, port: TensorInfo) -> TensorInfo:
    """Return a port as the map that it is unless the elements of all containers are known."""
    if model.elements is not None or port.name not in model.maps:
        return port
    declared = model.maps[port.name]
    return replace(port, container=declared.kind, keys=declared.keys)


def ranged_ports(model: Model, dims: Mapping[str, int], symbol: str) -> list[str]:
    """Return the inputs and outputs whose outermost axis, except for axes of 1, is a symbol.

    `dims` has the sizes of the others.
    """
    others = {name: size for name, size in dims.items() if name != symbol}
    return [
        port.name
        for port in (*declared_inputs(model, others), *declared_outputs(model, others))
        if not port.container
        and port.symbols.count(symbol) == 1
        and all(size == 1 for size in port.shape[: port.symbols.index(symbol)])
    ]


def _port(name: str, proto: TypeProto, dims: Mapping[str, int]) -> TensorInfo:
    if (found := container_of(proto)) is not None:
        return replace(_port(name, found.element, dims), container=found.kind)
    tensor = proto.tensor_type
    # An output without a type holds objects until a program computes it.
    dtype = DTYPES.get(tensor.elem_type, np.dtype(object))
    if not tensor.HasField("shape"):
        return TensorInfo(name, (), dtype, is_ranked=False)
    named = {axis: symbol for symbol, axis in open_dimensions(proto, name)}
    free = {axis: symbol for axis, symbol in named.items() if symbol not in dims}
    sizes = [dims.get(named.get(i, ""), dim.dim_value) for i, dim in enumerate(tensor.shape.dim)]
    shape = tuple(-1 if axis in free else size for axis, size in enumerate(sizes))
    symbols = tuple(free.get(axis, "") for axis in range(len(shape))) if free else ()
    return TensorInfo(name, shape, dtype, symbols=symbols)


def _inferred(model: Model) -> Mapping[str, ValueInfoProto]:
    """Return the outputs with the shapes that onnx infers, without the model's large constants."""
    proto = ModelProto(ir_version=onnx.IR_VERSION)
    proto.graph.CopyFrom(model.graph)
    proto.functions.extend(model.functions.values())
    proto.opset_import.extend(make_opsetid(*entry) for entry in model.opsets.items())
    del proto.graph.initializer[:]
    listed = {value.name for value in model.graph.input}
    for tensor in model.graph.initializer:
        if np.prod(tensor.dims) <= _LARGEST_READ and not tensor.external_data:
            proto.graph.initializer.append(tensor)
        elif tensor.name not in listed:
            form = make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
            proto.graph.input.append(form)
    try:
        found = onnx.shape_inference.infer_shapes(proto)
    except (onnx.shape_inference.InferenceError, EncodeError, ValueError, RuntimeError):
        return {}
    known = {symbol for each in inputs_of(model) for symbol, _ in open_dimensions(each.type, "")}
    for value in found.graph.output:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param not in known:  # a name that onnx made up
                dim.ClearField("dim_param")
    return {value.name: value for value in found.graph.output}
