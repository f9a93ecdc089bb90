"""The constants of a program, unchanged or packed once into the layout that kernels read."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from ....dialects import cl, nn
from ....errors import CloptError
from ....weights import Weights
from ...locations import node_name
from ...packing import pack


@dataclass
class ProgramConstants:
    """The constants of a function in a program, which all iterations of a loop share."""

    plain: dict[nn.ConstantOp, SSAValue] = field(default_factory=dict[nn.ConstantOp, SSAValue])
    packed: dict[tuple[nn.ConstantOp, Attribute], SSAValue] = field(
        default_factory=dict[tuple[nn.ConstantOp, Attribute], SSAValue]
    )


def buffer_type_of(value: SSAValue) -> MemRefType:
    """Return the type of the buffer that holds a value."""
    return nn.buffer_type(nn.tensor_type(value))


def plain_constant(op: nn.ConstantOp, weights: Weights) -> cl.ConstantOp | None:
    """Return the program's constant for an nn constant; None if it has no plain reader."""
    readers = [use.operation for use in op.result.uses]
    if readers and all(isinstance(reader, nn.RelayoutOp) for reader in readers):
        return None
    if isinstance(op.value, nn.WeightAttr):
        key = op.value.key.data
    elif not readers:
        return None
    else:
        array = nn.constant_value(op.result)
        assert array is not None, "an inline constant has its value"
        key = weights.add(array)
    return cl.ConstantOp(key, nn.buffer_type(nn.tensor_type(op.result)))


def packed_constant(op: nn.RelayoutOp, weights: Weights) -> cl.ConstantOp:
    """Return the program's constant for an nn constant in another layout; add it to `weights`."""
    constant = source_constant(op)
    array = nn.attr_array(constant.value, nn.tensor_type(constant.result), weights)
    if array is None:
        raise CloptError(
            f"{node_name(op)}: the weights of {op.x.type} are not in the store, so they cannot be "
            "packed into their layout; pass the store that belongs to this module"
        )
    key = weights.add(packed_array(array, nn.layout_of(op.result)), nn.hint_of(constant.result))
    return cl.ConstantOp(key, nn.buffer_type(nn.tensor_type(op.result)))


def source_constant(op: nn.RelayoutOp) -> nn.ConstantOp:
    """Return the constant of a relayout; `outline_relayouts` has left no other relayouts."""
    constant = nn.constant_of(op.result)
    assert constant is not None, "a relayout of anything else has become a region"
    return constant


def packed_array(array: nn.Array, layout: nn.LayoutAttr | None) -> nn.Array:
    """Return the array in a layout's order: blocked axes split, tails zero."""
    if layout is None:
        return array
    dims = [AffineExpr.dimension(axis) for axis in range(array.ndim)]
    physical = AffineMap(array.ndim, 0, layout.physical_index(dims))
    return pack(array, physical, layout.physical_shape(array.shape))
