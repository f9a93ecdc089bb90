"""Batch normalisation and softmax."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import ClassVar

from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def

from ..inferred import FORMAT, Properties, require
from ..properties import F64, number, real
from .attributes import Layout
from .base import ArithmeticOp, require_vectors
from .types import MLTensorType, Shape

EPSILON_VERSION = 3
"""The first version in which a batch normalisation has an epsilon."""


def require_epsilon(properties: Properties) -> None:
    """Raise VerifyException unless epsilon is finite and not negative."""
    epsilon = number(properties["epsilon"])
    require(isfinite(epsilon) and epsilon >= 0, f"epsilon must be at least 0, not {epsilon}")


@irdl_op_definition
class BatchNormOp(ArithmeticOp):
    """(x - mean) / sqrt(variance + epsilon) * scale + bias for each channel."""

    name = "clml.batch_norm"
    x = operand_def(MLTensorType)
    mean = operand_def(MLTensorType)
    variance = operand_def(MLTensorType)
    scale = operand_def(MLTensorType)
    bias = operand_def(MLTensorType)
    epsilon = prop_def(F64)
    result = result_def(MLTensorType)
    assembly_format = FORMAT

    REQUIRED_VERSION: ClassVar[int] = EPSILON_VERSION
    CONSTANT_TAIL: ClassVar[bool] = True

    def __init__(
        self,
        x: SSAValue,
        mean: SSAValue,
        variance: SSAValue,
        scale: SSAValue,
        bias: SSAValue,
        result_type: MLTensorType,
        *,
        epsilon: float,
    ):
        operands = [x, mean, variance, scale, bias]
        super().__init__(operands, {"epsilon": real(epsilon)}, result_type)

    @property
    def adds_up(self) -> bool:
        return True

    @classmethod
    def infer(
        cls, operand_types: Sequence[MLTensorType], properties: Properties, asked: Shape
    ) -> Shape:
        x = operand_types[0].get_shape()
        require_epsilon(properties)
        require_vectors(operand_types[1:], x[1])
        return x


@irdl_op_definition
class SoftmaxOp(ArithmeticOp):
    """exp(x) / sum(exp(x)) over the channels at each n, h, w.

    Tensors of one position (h = w = 1) have the optimal layout, others NCHW.
    """

    name = "clml.softmax"
    x = operand_def(MLTensorType)
    result = result_def(MLTensorType)
    assembly_format = FORMAT

    def __init__(self, x: SSAValue, result_type: MLTensorType):
        super().__init__([x], {}, result_type)

    @property
    def adds_up(self) -> bool:
        return True

    @classmethod
    def accepted_layouts(cls, x: Shape) -> tuple[Layout, ...]:
        return (Layout.OPTIMAL,) if x[2:] == (1, 1) else (Layout.NCHW,)

    @classmethod
    def infer(
        cls, operand_types: Sequence[MLTensorType], properties: Properties, asked: Shape
    ) -> Shape:
        return operand_types[0].get_shape()
