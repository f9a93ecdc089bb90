"""Operators that ONNX defines by functions, and the bodies to inline for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, cast

import onnx
from onnx import AttributeProto, FunctionProto, NodeProto, TypeProto
from onnx.defs import OpSchema, SchemaError
from onnx.helper import make_tensor_type_proto
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from ...dialects.nn.types import shape_of
from ..builder import dtype_of_value
from .tensors import onnx_type

_LARGEST_OPSET = 2**31 - 1
"""onnx reads an opset version into a C int."""


class FunctionSchema(Protocol):
    """Members of OpSchema that the type stubs of onnx omit."""

    has_function: bool
    has_context_dependent_function: bool
    function_opset_versions: Sequence[int]
    context_dependent_function_opset_versions: Sequence[int]

    def get_function_with_opset_version(self, version: int) -> bytes:
        """Return the serialised body."""
        ...

    def get_context_dependent_function_with_opset_version(
        self, version: int, node: bytes, types: Sequence[bytes]
    ) -> bytes:
        """Return the serialised body for a node and the types of its inputs."""
        ...


def schema_of(domain: str, op_type: str, opset: int) -> OpSchema | None:
    """Return the ONNX schema of an operator as of an opset, or None."""
    if not 0 < opset <= _LARGEST_OPSET:
        return None
    try:
        return onnx.defs.get_schema(op_type, opset, domain)
    except SchemaError:
        return None


def _function_opset(schema: OpSchema, opset: int) -> int | None:
    """Return the opset of the newest definition by a function, or None."""
    source = cast(FunctionSchema, schema)
    if source.has_function:
        known = source.function_opset_versions
    elif source.has_context_dependent_function:
        known = source.context_dependent_function_opset_versions
    else:
        return None
    return max((version for version in known if version <= opset), default=None)


def is_defined(schema: OpSchema, opset: int) -> bool:
    """Return whether ONNX defines an operator by a function."""
    return _function_opset(schema, opset) is not None


def definition(
    schema: OpSchema, node: NodeProto, inputs: Sequence[SSAValue | None], opset: int
) -> FunctionProto | None:
    """Return the function by which ONNX defines an operator, or None if it is primitive."""
    source = cast(FunctionSchema, schema)
    version = _function_opset(schema, opset)
    if version is None:
        return None
    if source.has_function:
        body = source.get_function_with_opset_version(version)
    else:
        types = [_type_proto(value).SerializeToString() for value in inputs]
        try:
            body = source.get_context_dependent_function_with_opset_version(
                version, node.SerializeToString(), types
            )
        except (RuntimeError, ValueError) as error:
            raise VerifyException("onnx has no definition for these attributes") from error
    function = FunctionProto()
    function.ParseFromString(body)
    for attribute in schema.attributes.values():
        if attribute.default_value.name:
            function.attribute_proto.append(attribute.default_value)
    return function


def bind_attributes(function: FunctionProto, node: NodeProto) -> Sequence[NodeProto]:
    """Return the function's nodes with attribute references replaced by the values of the call."""
    values = {attribute.name: attribute for attribute in function.attribute_proto}
    values.update((attribute.name, attribute) for attribute in node.attribute)
    return [_bind_node(inner, values) for inner in function.node]


def _bind_node(node: NodeProto, values: Mapping[str, AttributeProto]) -> NodeProto:
    bound = NodeProto()
    bound.CopyFrom(node)
    del bound.attribute[:]
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            if attribute.ref_attr_name in values:
                bound.attribute.append(values[attribute.ref_attr_name])
                bound.attribute[-1].name = attribute.name
        else:
            bound.attribute.append(attribute)
            if attribute.HasField("g"):
                inner = [_bind_node(n, values) for n in attribute.g.node]
                del bound.attribute[-1].g.node[:]
                bound.attribute[-1].g.node.extend(inner)
    return bound


def _type_proto(value: SSAValue | None) -> TypeProto:
    if value is None:
        return TypeProto()
    return make_tensor_type_proto(onnx_type(dtype_of_value(value)), shape_of(value))
