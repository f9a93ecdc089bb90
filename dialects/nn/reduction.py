"""Reductions, index reductions, cumulative sums and top-k."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects.builtin import TensorType, UnitAttr, i64
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from ..inferred import FORMAT, Properties, require
from ..properties import I64, I64_ARRAY, flag, int_array, integer, ints
from .attributes import ArgReduceKind, ArgReduceKindAttr, ReduceKind, ReduceKindAttr
from .base import KIND_FORMAT, NNOp, axis_of, normalize_axis
from .interfaces import HalfRule, Role, Zeros
from .types import Tensor, is_bool, shape_of, with_shape


def _reduced(shape: Sequence[int], axes: Sequence[int], keepdims: bool) -> tuple[int, ...]:
    if keepdims:
        return tuple(1 if i in axes else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in axes)


_GROWING = frozenset(map(ReduceKind, "sum prod l1 l2 sum_square".split()))
"""Reductions whose results often overflow f16."""


@irdl_op_definition
class ReduceOp(NNOp):
    """A reduction over `axes` (ascending), which are kept with size 1 if `keepdims`."""

    name = "nn.reduce"
    ROLE: ClassVar[Role | None] = Role.WINDOW
    HALF: ClassVar[HalfRule] = HalfRule.FOLLOWS
    x = operand_def(TensorType)
    kind = prop_def(ReduceKindAttr)
    axes = prop_def(I64_ARRAY)
    keepdims = opt_prop_def(UnitAttr)
    result = result_def(TensorType)
    assembly_format = KIND_FORMAT

    def __init__(
        self, x: SSAValue, kind: ReduceKind | str, axes: Sequence[int], keepdims: bool = False
    ):
        rank = len(shape_of(x))
        super().__init__(
            [x],
            {
                "kind": ReduceKindAttr(ReduceKind(kind)),
                "axes": int_array(sorted(normalize_axis(a, rank) for a in axes)),
                "keepdims": flag(keepdims),
            },
        )

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        (x,) = operand_types
        shape = x.get_shape()
        axes = ints(properties["axes"])
        kind = cast(ReduceKindAttr, properties["kind"]).data
        if is_bool(x.element_type) and kind not in (ReduceKind.MAX, ReduceKind.MIN):
            raise VerifyException(f"{kind} is not defined for i1 elements")
        for axis in axes:
            require(0 <= axis < len(shape), f"axis {axis} is outside a tensor of rank {len(shape)}")
        require(
            sorted(set(axes)) == list(axes), f"axes {list(axes)} must ascend without repetition"
        )
        return [with_shape(x, _reduced(shape, axes, "keepdims" in properties))]

    def half_rule(self) -> HalfRule:
        return HalfRule.SINGLE if self.kind.data in _GROWING else self.HALF

    def has_value_of_nothing(self) -> bool:
        return self.kind.data not in (ReduceKind.MAX, ReduceKind.MIN)

    def is_zero_beyond(self, axis: int, zeros: Zeros) -> bool:
        is_log = self.kind.data in (ReduceKind.LOG_SUM, ReduceKind.LOG_SUM_EXP)
        return not is_log and 0 not in shape_of(self.x) and zeros.linked_zero(self, axis, self.x)


@irdl_op_definition
class ArgReduceOp(NNOp):
    """The i64 index of an axis' extreme element: the first, or with `select_last` the last."""

    name = "nn.arg_reduce"
    ROLE: ClassVar[Role | None] = Role.WINDOW
    x = operand_def(TensorType)
    kind = prop_def(ArgReduceKindAttr)
    axis = prop_def(I64)
    keepdims = opt_prop_def(UnitAttr)
    select_last = opt_prop_def(UnitAttr)
    result = result_def(TensorType)
    assembly_format = KIND_FORMAT

    def __init__(
        self,
        x: SSAValue,
        kind: ArgReduceKind | str,
        axis: int,
        keepdims: bool = False,
        select_last: bool = False,
    ):
        super().__init__(
            [x],
            {
                "kind": ArgReduceKindAttr(ArgReduceKind(kind)),
                "axis": integer(normalize_axis(axis, len(shape_of(x)))),
                "keepdims": flag(keepdims),
                "select_last": flag(select_last),
            },
        )

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        (x,) = operand_types
        axis = axis_of(properties["axis"], x.get_num_dims())
        return [TensorType(i64, _reduced(x.get_shape(), [axis], "keepdims" in properties))]


@irdl_op_definition
class CumsumOp(NNOp):
    """The running sum along an axis, from the end with `reverse`.

    With `exclusive` the element itself is excluded.
    """

    name = "nn.cumsum"
    ROLE: ClassVar[Role | None] = Role.WINDOW
    x = operand_def(TensorType)
    axis = prop_def(I64)
    exclusive = opt_prop_def(UnitAttr)
    reverse = opt_prop_def(UnitAttr)
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(self, x: SSAValue, axis: int, exclusive: bool = False, reverse: bool = False):
        super().__init__(
            [x],
            {
                "axis": integer(normalize_axis(axis, len(shape_of(x)))),
                "exclusive": flag(exclusive),
                "reverse": flag(reverse),
            },
        )

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        (x,) = operand_types
        require(not is_bool(x.element_type), "cumsum of i1 elements is not defined")
        axis_of(properties["axis"], x.get_num_dims())
        return [x]


@irdl_op_definition
class TopKOp(NNOp):
    """The k largest (or smallest) elements of an axis in order, and their i64 indices.

    Of equal elements, the one with the lower index comes first.
    """

    name = "nn.top_k"
    ROLE: ClassVar[Role | None] = Role.WINDOW
    x = operand_def(TensorType)
    axis = prop_def(I64)
    k = prop_def(I64)
    largest = opt_prop_def(UnitAttr)
    values = result_def(TensorType)
    indices = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(self, x: SSAValue, k: int, axis: int = -1, largest: bool = True):
        super().__init__(
            [x],
            {
                "axis": integer(normalize_axis(axis, len(shape_of(x)))),
                "k": integer(k),
                "largest": flag(largest),
            },
        )

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        (x,) = operand_types
        shape = list(x.get_shape())
        axis = axis_of(properties["axis"], len(shape))
        (k,) = ints(properties["k"])
        require(0 <= k <= shape[axis], f"k is {k} but axis {axis} has {shape[axis]} elements")
        shape[axis] = k
        return [with_shape(x, shape), TensorType(i64, shape)]
