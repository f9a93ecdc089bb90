"""Operators defined by other operators: their bodies, ready to be inlined."""

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
from .builder import dtype_of_value
from .tensors import onnx_type


class FunctionSchema(Protocol):
    """What onnx's type stubs leave out of OpSchema."""

    has_function: bool
    has_context_dependent_function: bool
    function_opset_versions: Sequence[int]
    context_dependent_function_opset_versions: Sequence[int]

    def get_function_with_opset_version(self, version: int) -> bytes:
        """The serialised body."""
        ...

    def get_context_dependent_function_with_opset_version(
        self, version: int, node: bytes, types: Sequence[bytes]
    ) -> bytes:
        """The serialised body for a node and the types of its inputs."""
        ...


def schema_of(domain: str, op_type: str, opset: int) -> OpSchema | None:
    """ONNX's own description of an operator as of an opset, or None."""
    try:
        return onnx.defs.get_schema(op_type, opset, domain)
    except SchemaError:
        return None


def definition(
    schema: OpSchema, node: NodeProto, inputs: Sequence[SSAValue | None], opset: int
) -> FunctionProto | None:
    """The function by which ONNX defines an operator, or None when it is primitive."""
    source = cast(FunctionSchema, schema)
    plain = source.has_function
    if not (plain or source.has_context_dependent_function):
        return None
    known = (
        source.function_opset_versions
        if plain
        else source.context_dependent_function_opset_versions
    )
    version = max((v for v in known if v <= opset), default=None)
    if version is None:
        return None
    if plain:
        body = source.get_function_with_opset_version(version)
    else:
        types = [_type_proto(value).SerializeToString() for value in inputs]
        try:
            body = source.get_context_dependent_function_with_opset_version(
                version, node.SerializeToString(), types
            )
        except RuntimeError as error:
            raise VerifyException("onnx has no definition for these attributes") from error
    function = FunctionProto()
    function.ParseFromString(body)
    for attribute in schema.attributes.values():
        if attribute.default_value.name:
            function.attribute_proto.append(attribute.default_value)
    return function


def bind_attributes(function: FunctionProto, node: NodeProto) -> Sequence[NodeProto]:
    """The function's nodes with references to its attributes replaced by the call's values."""
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
