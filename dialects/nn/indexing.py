"""Gathers and scatters; negative indices count from the end of their axis."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from ..inferred import FORMAT, Properties, require
from ..properties import I64, integer, ints
from .attributes import ScatterReduction, ScatterReductionAttr
from .base import NNOp, axis_of, normalize_axis, require_same_element
from .interfaces import HalfRule, Role
from .types import Array, Tensor, is_integer, shape_of, with_shape


def _require_indices(type: Tensor) -> None:
    require(is_integer(type.element_type), f"indices must be integers but are {type.element_type}")


class IndexedOp(NNOp):
    """An operation whose second operand holds indices into the first."""

    HALF: ClassVar[HalfRule] = HalfRule.FOLLOWS
    x = operand_def(TensorType)
    indices = operand_def(TensorType)

    @abstractmethod
    def indexed(self, indices: Array) -> tuple[Array, Sequence[int]]:
        """Return the indices as rows of vectors, and the sizes of the indexed dimensions."""

    def check_value(self, position: int, value: Array) -> None:
        if position != 1 or not value.size:
            return
        rows, sizes = self.indexed(value)
        for low, high, size in zip(rows.min(0), rows.max(0), sizes, strict=True):
            if not -size <= low <= high < size:
                wrong = low if low < -size else high
                raise VerifyException(
                    f"the index {wrong} is outside a dimension of {size} elements, whose indices "
                    f"are {-size} to {size - 1}"
                )


class AlongAxisOp(IndexedOp):
    """An operation with indices along one axis of x."""

    axis = prop_def(I64)

    def indexed(self, indices: Array) -> tuple[Array, Sequence[int]]:
        return indices.reshape(-1, 1), [shape_of(self.x)[self.axis.value.data]]


def _vectors(indices: Array, shape: Sequence[int]) -> tuple[Array, Sequence[int]]:
    """Return the vectors along the last dimension, which index the first dimensions of a shape."""
    depth = indices.shape[-1]
    return indices.reshape(-1, depth), shape[:depth]


def _require_element_indices(x: Tensor, indices: Tensor, axis: int) -> None:
    """Check indices of elementwise gathers: the rank of x, no longer than x outside the axis."""
    _require_indices(indices)
    shape, other = x.get_shape(), indices.get_shape()
    require(
        len(shape) == len(other),
        f"indices have rank {len(other)} but the input has rank {len(shape)}",
    )
    for i, (n, m) in enumerate(zip(shape, other, strict=True)):
        require(i == axis or m <= n, f"indices exceed dimension {i} of the input: {m} > {n}")


@irdl_op_definition
class GatherOp(AlongAxisOp):
    """Slices of x along an axis, selected by indices (ONNX Gather)."""

    name = "nn.gather"
    ROLE: ClassVar[Role | None] = Role.INDEX
    ACCEPTS_NARROW: ClassVar[bool] = True
    MOVES_AXES: ClassVar[bool] = True
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(self, x: SSAValue, indices: SSAValue, axis: int = 0):
        axis = normalize_axis(axis, len(shape_of(x)))
        super().__init__([x, indices], {"axis": integer(axis)})

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        x, indices = operand_types
        _require_indices(indices)
        shape = x.get_shape()
        axis = axis_of(properties["axis"], len(shape))
        return [with_shape(x, (*shape[:axis], *indices.get_shape(), *shape[axis + 1 :]))]


@irdl_op_definition
class GatherElementsOp(AlongAxisOp):
    """result[i, j, ..] = x[i, indices[i, j, ..], ..] for axis 1 (ONNX GatherElements)."""

    name = "nn.gather_elements"
    ROLE: ClassVar[Role | None] = Role.WINDOW
    ACCEPTS_NARROW: ClassVar[bool] = True
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(self, x: SSAValue, indices: SSAValue, axis: int = 0):
        axis = normalize_axis(axis, len(shape_of(x)))
        super().__init__([x, indices], {"axis": integer(axis)})

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        x, indices = operand_types
        axis = axis_of(properties["axis"], x.get_num_dims())
        _require_element_indices(x, indices, axis)
        return [with_shape(x, indices.get_shape())]


@irdl_op_definition
class GatherNDOp(IndexedOp):
    """Slices of x addressed by the last dimension of indices (ONNX GatherND)."""

    name = "nn.gather_nd"
    ROLE: ClassVar[Role | None] = Role.WINDOW
    ACCEPTS_NARROW: ClassVar[bool] = True
    batch_dims = prop_def(I64, default_value=integer(0))
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(self, x: SSAValue, indices: SSAValue, batch_dims: int = 0):
        super().__init__([x, indices], {"batch_dims": integer(batch_dims)})

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        x, indices = operand_types
        _require_indices(indices)
        shape, at = x.get_shape(), indices.get_shape()
        (batch,) = ints(properties["batch_dims"])
        require(len(shape) >= 1 and len(at) >= 1, "operands of gather_nd must have rank 1 or more")
        require(
            0 <= batch < min(len(shape), len(at)),
            f"batch_dims {batch} must be less than the ranks of both operands",
        )
        require(shape[:batch] == at[:batch], f"the first {batch} dimensions of the operands differ")
        depth = list(at)[-1]
        if not 1 <= depth <= len(shape) - batch:
            raise VerifyException(
                f"index vectors of {depth} entries do not address rank {len(shape) - batch}"
            )
        return [with_shape(x, (*at[:-1], *shape[batch + depth :]))]

    def indexed(self, indices: Array) -> tuple[Array, Sequence[int]]:
        return _vectors(indices, shape_of(self.x)[self.batch_dims.value.data :])


_GROWING = (ScatterReduction.ADD, ScatterReduction.MUL)
"""Reductions whose results may overflow f16."""


@irdl_op_definition
class ScatterElementsOp(AlongAxisOp):
    """A copy of x with updates written to x[.., indices[i], ..] (ONNX ScatterElements)."""

    name = "nn.scatter_elements"
    ROLE: ClassVar[Role | None] = Role.WINDOW
    # Redeclared because xDSL orders the operands of a class before those of its bases.
    x = operand_def(TensorType)
    indices = operand_def(TensorType)
    updates = operand_def(TensorType)
    reduction = prop_def(ScatterReductionAttr)
    result = result_def(TensorType)
    assembly_format = "$reduction " + FORMAT

    def __init__(
        self,
        x: SSAValue,
        indices: SSAValue,
        updates: SSAValue,
        axis: int = 0,
        reduction: ScatterReduction | str = ScatterReduction.NONE,
    ):
        super().__init__(
            [x, indices, updates],
            {
                "reduction": ScatterReductionAttr(ScatterReduction(reduction)),
                "axis": integer(normalize_axis(axis, len(shape_of(x)))),
            },
        )

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        x, indices, updates = operand_types
        require_same_element([x, updates])
        axis = axis_of(properties["axis"], x.get_num_dims())
        _require_element_indices(x, indices, axis)
        require(indices.get_shape() == updates.get_shape(), "indices and updates differ in shape")
        return [x]

    def half_rule(self) -> HalfRule:
        return HalfRule.SINGLE if self.reduction.data in _GROWING else self.HALF


@irdl_op_definition
class ScatterNDOp(IndexedOp):
    """A copy of x with slices replaced by updates (ONNX ScatterND)."""

    name = "nn.scatter_nd"
    ROLE: ClassVar[Role | None] = Role.WINDOW
    # Redeclared because xDSL orders the operands of a class before those of its bases.
    x = operand_def(TensorType)
    indices = operand_def(TensorType)
    updates = operand_def(TensorType)
    reduction = prop_def(ScatterReductionAttr)
    result = result_def(TensorType)
    assembly_format = "$reduction " + FORMAT

    def __init__(
        self,
        x: SSAValue,
        indices: SSAValue,
        updates: SSAValue,
        reduction: ScatterReduction | str = ScatterReduction.NONE,
    ):
        super().__init__(
            [x, indices, updates],
            {"reduction": ScatterReductionAttr(ScatterReduction(reduction))},
        )

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        x, indices, updates = operand_types
        require_same_element([x, updates])
        _require_indices(indices)
        shape, at = x.get_shape(), indices.get_shape()
        require(len(at) >= 1, "indices of scatter_nd must have rank 1 or more")
        depth = at[-1]
        if not 1 <= depth <= len(shape):
            raise VerifyException(
                f"index vectors of {depth} entries do not address rank {len(shape)}"
            )
        expected = (*at[:-1], *shape[depth:])
        if updates.get_shape() != expected:
            raise VerifyException(
                f"updates must have shape {list(expected)} but have {list(updates.get_shape())}"
            )
        return [x]

    def indexed(self, indices: Array) -> tuple[Array, Sequence[int]]:
        return _vectors(indices, shape_of(self.x))

    def half_rule(self) -> HalfRule:
        return HalfRule.SINGLE if self.reduction.data in _GROWING else self.HALF


@irdl_op_definition
class InsertSliceOp(NNOp):
    """A copy of x whose elements along an axis, from `start` on, are those of another tensor.

    Elements that would be outside of x are left out. `start` is a scalar, or has a number for each
    element of axis 0, such as the lengths of caches in a batch.
    """

    name = "nn.insert_slice"
    ROLE: ClassVar[Role | None] = Role.WINDOW
    ACCEPTS_NARROW: ClassVar[bool] = True
    HALF: ClassVar[HalfRule] = HalfRule.FOLLOWS
    x = operand_def(TensorType)
    inserted = operand_def(TensorType)
    start = operand_def(TensorType)
    axis = prop_def(I64)
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(self, x: SSAValue, inserted: SSAValue, start: SSAValue, axis: int):
        axis = normalize_axis(axis, len(shape_of(x)))
        super().__init__([x, inserted, start], {"axis": integer(axis)})

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        x, inserted, start = operand_types
        require_same_element([x, inserted])
        axis = axis_of(properties["axis"], x.get_num_dims())
        shapes = [each.get_shape() for each in (x, inserted)]
        outside = [(*shape[:axis], *shape[axis + 1 :]) for shape in shapes]
        require(
            len(shapes[0]) == len(shapes[1]) and outside[0] == outside[1],
            f"the slice has the shape {list(shapes[1])}, which differs from {list(shapes[0])} "
            f"outside axis {axis}",
        )
        require(is_integer(start.element_type), f"start must be an integer but is {start}")
        by_row = (shapes[0][0],) if axis else ()
        require(
            start.get_shape() in ((), by_row),
            f"start must be a scalar or have a number for each row but is {start}",
        )
        return [x]
