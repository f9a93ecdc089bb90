"""Values with a size that only the device knows, and the operators that may read them.

Such a value has room for the largest possible number of elements. The selected elements come first
along one axis. The rest is unspecified, except that indices stay valid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.ir import SSAValue

from ...dialects.nn.types import shape_of
from ..builder import Builder, DataSize
from .node import NodeContext, Results

DATA_SIZED = (
    "the size of an input depends on run-time values, and this operator needs to know it: keep all "
    "elements and mask them with Where or a product, or cut the model before this node "
    "(onnx.utils.extract_model)."
)

Rule = Callable[[NodeContext, int, int], "int | None"]
"""Maps the input at a position, sized along an axis, to the axis of the result; None to refuse."""


def sized(builder: Builder, value: SSAValue, axis: int, count: SSAValue) -> SSAValue:
    """Return `value` with `count` elements along an axis; cut it if the count is known."""
    known = builder.known(count)
    if known is not None:
        return builder.slice(value, axis, 0, int(known))
    builder.data_sizes[value] = DataSize(axis, count)
    return value


def carry_sizes(node: NodeContext, inputs: Sequence[SSAValue | None], results: Results) -> Results:
    """Mark the results of a node that reads values of unknown size; refuse other operators."""
    sizes = {
        i: node.builder.data_sizes[value]
        for i, value in enumerate(inputs)
        if value is not None and value in node.builder.data_sizes
    }
    if not sizes:
        return results
    rule = RULES.get(node.op_type)
    if rule is None or not isinstance(results, SSAValue):
        node.refuse(DATA_SIZED)
    counts = {size.number for size in sizes.values()}
    axes = {rule(node, i, size.axis) for i, size in sizes.items()}
    if len(axes) != 1 or len(counts) != 1 or None in axes:
        node.refuse(DATA_SIZED)
    ((axis,), (count,)) = axes, counts
    assert axis is not None
    return sized(node.builder, results, axis, count)


def _same(node: NodeContext, position: int, axis: int) -> int:
    return axis


def _broadcast(node: NodeContext, position: int, axis: int) -> int | None:
    """Return the axis of an elementwise result; the other operands must broadcast along it."""
    back = node.rank(position) - axis
    rank = max(node.rank(i) for i in range(len(node.inputs)))
    for value in node.present():
        shape = shape_of(value)
        if value not in node.builder.data_sizes and len(shape) >= back and shape[-back] != 1:
            return None
    return rank - back


def _gather(node: NodeContext, position: int, axis: int) -> int | None:
    along = node.axis(node.integer("axis", 0), node.rank())
    if position == 1:
        return along + axis
    if along == axis:
        return None
    return axis if axis < along else axis - 1 + node.rank(1)


def _gather_nd(node: NodeContext, position: int, axis: int) -> int | None:
    is_row = position == 1 and axis < node.rank(1) - 1 and not node.integer("batch_dims", 0)
    return axis if is_row else None


def _transpose(node: NodeContext, position: int, axis: int) -> int | None:
    perm = node.integers("perm") or tuple(reversed(range(node.rank())))
    return perm.index(axis)


def _slice(node: NodeContext, position: int, axis: int) -> int | None:
    if position or node.opset < 10:
        return None
    axes = node.constant_ints(3, "axes") if node.optional(3) is not None else None
    if axes is None:
        axes = range(len(node.constant_ints(1, "starts")))
    return None if axis in [node.axis(a, node.rank()) for a in axes] else axis


def _squeeze(node: NodeContext, position: int, axis: int) -> int | None:
    if position or node.opset < 13 or node.optional(1) is None:
        return None
    axes = [node.axis(a, node.rank()) for a in node.constant_ints(1, "axes")]
    return None if axis in axes else axis - sum(a < axis for a in axes)


def _unsqueeze(node: NodeContext, position: int, axis: int) -> int | None:
    if position or node.opset < 13:
        return None
    axes = node.constant_ints(1, "axes")
    rank = node.rank() + len(axes)
    new = {node.axis(a, rank) for a in axes}
    return [i for i in range(rank) if i not in new][axis]


_UNARY = (
    *("Abs", "Ceil", "Cos", "Erf", "Exp", "Floor", "IsInf", "IsNaN", "Log", "Neg", "Not", "Relu"),
    *("Reciprocal", "Round", "Sigmoid", "Sign", "Sin", "Sqrt", "Tanh", "Cast", "Identity"),
)
_ELEMENTWISE = (
    *("Add", "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max"),
    *("Min", "Mod", "Mul", "Or", "Pow", "Sub", "Where", "Xor"),
)
RULES: Mapping[str, Rule] = {
    **dict.fromkeys(_UNARY, _same),
    **dict.fromkeys(_ELEMENTWISE, _broadcast),
    "Gather": _gather,
    "GatherND": _gather_nd,
    "Slice": _slice,
    "Squeeze": _squeeze,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
}
"""The operators of the domain ai.onnx that compute each element along the sized axis alone."""
