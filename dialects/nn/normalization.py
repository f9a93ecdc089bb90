"""Normalisations and softmax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import TensorType, UnitAttr
from xdsl.ir import SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from ..inferred import FORMAT, Properties, require
from ..properties import F64, I64, flag, integer, ints, real
from .base import NNOp, axis_of, normalize_axis, require_float, require_same_element
from .interfaces import HalfRule, Role
from .types import Tensor, broadcast, shape_of


def _require_channel_vectors(types: Sequence[Tensor]) -> None:
    """Check that every operand after the first is a vector with one entry per channel."""
    require_float(types[0])
    require_same_element(types)
    shape = types[0].get_shape()
    require(len(shape) >= 2, f"input must have rank 2 or more but has rank {len(shape)}")
    for type in types[1:]:
        if type.get_shape() != (shape[1],):
            raise VerifyException(
                f"per-channel operand must have shape [{shape[1]}], not {list(type.get_shape())}"
            )


def _require_broadcast_to(types: Sequence[Tensor]) -> None:
    """Check that every operand after the first broadcasts to the first."""
    require_float(types[0])
    require_same_element(types)
    shape = types[0].get_shape()
    for type in types[1:]:
        if broadcast(shape, type.get_shape()) != shape:
            raise VerifyException(
                f"operand of shape {list(type.get_shape())} does not broadcast to {list(shape)}"
            )


@irdl_op_definition
class BatchNormOp(NNOp):
    """(x - mean) / sqrt(var + epsilon) * scale + bias, per channel (dimension 1)."""

    name = "nn.batch_norm"
    ROLE: ClassVar[Role | None] = Role.ELEMENTWISE
    HALF: ClassVar[HalfRule] = HalfRule.FOLLOWS
    BY_CHANNEL: ClassVar[bool] = True
    x = operand_def(TensorType)
    scale = operand_def(TensorType)
    bias = operand_def(TensorType)
    mean = operand_def(TensorType)
    var = operand_def(TensorType)
    epsilon = prop_def(F64)
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(
        self,
        x: SSAValue,
        scale: SSAValue,
        bias: SSAValue,
        mean: SSAValue,
        var: SSAValue,
        epsilon: float = 1e-5,
    ):
        super().__init__([x, scale, bias, mean, var], {"epsilon": real(epsilon)})

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        _require_channel_vectors(operand_types)
        return [operand_types[0]]


@irdl_op_definition
class LayerNormOp(NNOp):
    """Normalises over the dimensions from `axis` on, then scales and shifts."""

    name = "nn.layer_norm"
    ROLE: ClassVar[Role | None] = Role.WINDOW
    HALF: ClassVar[HalfRule] = HalfRule.FOLLOWS
    x = operand_def(TensorType)
    scale = operand_def(TensorType)
    bias = opt_operand_def(TensorType)
    axis = prop_def(I64)
    epsilon = prop_def(F64)
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(
        self,
        x: SSAValue,
        scale: SSAValue,
        bias: SSAValue | None = None,
        axis: int = -1,
        epsilon: float = 1e-5,
    ):
        axis = normalize_axis(axis, len(shape_of(x)))
        super().__init__([x, scale, bias], {"axis": integer(axis), "epsilon": real(epsilon)})

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        x = operand_types[0]
        axis_of(properties["axis"], x.get_num_dims())
        _require_broadcast_to(operand_types)
        return [x]


@irdl_op_definition
class RmsNormOp(NNOp):
    """x / sqrt(mean(x * x) + epsilon) * scale, the mean over the dimensions from `axis` on."""

    name = "nn.rms_norm"
    ROLE: ClassVar[Role | None] = Role.WINDOW
    HALF: ClassVar[HalfRule] = HalfRule.FOLLOWS
    x = operand_def(TensorType)
    scale = operand_def(TensorType)
    axis = prop_def(I64)
    epsilon = prop_def(F64)
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(self, x: SSAValue, scale: SSAValue, axis: int = -1, epsilon: float = 1e-5):
        axis = normalize_axis(axis, len(shape_of(x)))
        super().__init__([x, scale], {"axis": integer(axis), "epsilon": real(epsilon)})

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        x = operand_types[0]
        axis_of(properties["axis"], x.get_num_dims())
        _require_broadcast_to(operand_types)
        return [x]


@irdl_op_definition
class GroupNormOp(NNOp):
    """Normalises each group of channels of each sample, then scales and shifts per channel.

    With one group per channel it is an instance normalisation.
    """

    name = "nn.group_norm"
    ROLE: ClassVar[Role | None] = Role.WINDOW
    HALF: ClassVar[HalfRule] = HalfRule.FOLLOWS
    BY_CHANNEL: ClassVar[bool] = True
    x = operand_def(TensorType)
    scale = operand_def(TensorType)
    bias = operand_def(TensorType)
    num_groups = prop_def(I64)
    epsilon = prop_def(F64)
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(
        self,
        x: SSAValue,
        scale: SSAValue,
        bias: SSAValue,
        num_groups: int,
        epsilon: float = 1e-5,
    ):
        super().__init__(
            [x, scale, bias], {"num_groups": integer(num_groups), "epsilon": real(epsilon)}
        )

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        _require_channel_vectors(operand_types)
        x = operand_types[0]
        (groups,) = ints(properties["num_groups"])
        channels = x.get_shape()[1]
        require(
            groups >= 1 and channels % groups == 0,
            f"{channels} channels do not divide into {groups} groups",
        )
        return [x]


@irdl_op_definition
class SoftmaxOp(NNOp):
    """exp(x) / sum(exp(x)) along an axis, or its logarithm with `log`."""

    name = "nn.softmax"
    ROLE: ClassVar[Role | None] = Role.WINDOW
    HALF: ClassVar[HalfRule] = HalfRule.FOLLOWS
    x = operand_def(TensorType)
    axis = prop_def(I64)
    log = opt_prop_def(UnitAttr)
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(self, x: SSAValue, axis: int = -1, log: bool = False):
        axis = normalize_axis(axis, len(shape_of(x)))
        super().__init__([x], {"axis": integer(axis), "log": flag(log)})

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        (x,) = operand_types
        require_float(x)
        axis_of(properties["axis"], x.get_num_dims())
        return [x]
