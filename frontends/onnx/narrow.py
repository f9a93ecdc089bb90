"""Operators on element types that tensors only store: they compute in a wider type."""

from __future__ import annotations

from collections.abc import Sequence

from onnx import NodeProto
from onnx.defs import OpSchema
from xdsl.ir import Attribute, SSAValue

from ...dialects.narrow import is_narrow, wide_type
from ...dialects.nn.types import tensor_type
from ..builder import Builder
from .node import Results

DIRECT = frozenset(
    "Cast CastLike Concat ConstantOfShape DepthToSpace DequantizeLinear Expand Flatten Gather "
    "GatherElements GatherND Identity If Loop QuantizeLinear Reshape Scan Shape Size Slice "
    "SpaceToDepth Split Squeeze Tile Transpose Unsqueeze Where".split()
)
"""Operators that move or convert narrow elements themselves."""

_LIKE = frozenset({"Bernoulli", "EyeLike", "RandomNormalLike", "RandomUniformLike"})
"""Operators whose result has the element type of the input, unless the attribute `dtype` is set."""


def computes_wide(op_type: str, inputs: Sequence[SSAValue | None]) -> bool:
    """Return whether an operator has narrow inputs and computes with them."""
    return op_type not in DIRECT and any(
        value is not None and is_narrow(tensor_type(value).element_type) for value in inputs
    )


def widened(builder: Builder, inputs: Sequence[SSAValue | None]) -> list[SSAValue | None]:
    """Cast the narrow inputs to the type in which operators compute."""

    def wide(value: SSAValue | None) -> SSAValue | None:
        if value is None or not is_narrow(element := tensor_type(value).element_type):
            return value
        return builder.cast(value, wide_type(element))

    return [wide(value) for value in inputs]


def rounded(
    builder: Builder,
    schema: OpSchema | None,
    node: NodeProto,
    inputs: Sequence[SSAValue | None],
    results: Results,
) -> list[SSAValue | None]:
    """Cast the results that have the type of a narrow input: they round once."""
    values: list[SSAValue | None] = [results] if isinstance(results, SSAValue) else list(results)
    if schema is None:
        return values
    narrow: dict[str, Attribute] = {}
    for position, value in enumerate(inputs):
        if value is not None and is_narrow(element := tensor_type(value).element_type):
            narrow[_type_name(schema.inputs, position)] = element
    if node.op_type in _LIKE and all(each.name != "dtype" for each in node.attribute):
        narrow[_type_name(schema.outputs, 0)] = narrow[_type_name(schema.inputs, 0)]

    def cast(position: int, value: SSAValue | None) -> SSAValue | None:
        element = narrow.get(_type_name(schema.outputs, position))
        return value if value is None or element is None else builder.cast(value, element)

    return [cast(position, value) for position, value in enumerate(values)]


def _type_name(parameters: Sequence[OpSchema.FormalParameter], position: int) -> str:
    """Return the name of the type of an input or output; the last one may be variadic."""
    return parameters[min(position, len(parameters) - 1)].type_str
