"""The two halves of attention; fused, one kernel computes both for a few queries at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def

from ..inferred import FORMAT, Properties, require
from .base import NNOp, require_float, require_same_element
from .interfaces import HalfRule, Role
from .types import Tensor, broadcast, with_shape


@irdl_op_definition
class AttentionScoresOp(NNOp):
    """Attention scores: the products of queries [..., Q, D] and keys [..., K, D], [..., Q, K].

    Equivalent to a matmul with a transposed right operand. Its kernel stores queries contiguously,
    so that they become the vector lanes of all operations up to `nn.attention`.
    """

    name = "nn.attention_scores"
    HALF: ClassVar[HalfRule] = HalfRule.ROUNDS
    queries = operand_def(TensorType)
    keys = operand_def(TensorType)
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(self, queries: SSAValue, keys: SSAValue):
        super().__init__([queries, keys], {})

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        q, k = _matrices(operand_types)
        require(q[-1] == k[-1], f"queries have {q[-1]} elements but keys have {k[-1]}")
        return [with_shape(operand_types[0], (*broadcast(q[:-2], k[:-2]), q[-2], k[-2]))]


@irdl_op_definition
class AttentionOp(NNOp):
    """Values [..., K, N] weighted by the softmax over K of scores [..., Q, K]: [..., Q, N].

    Equivalent to a softmax over the last axis followed by a matmul.
    """

    name = "nn.attention"
    ROLE: ClassVar[Role | None] = Role.CONTRACTION
    HALF: ClassVar[HalfRule] = HalfRule.ROUNDS
    scores = operand_def(TensorType)
    values = operand_def(TensorType)
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(self, scores: SSAValue, values: SSAValue):
        super().__init__([scores, values], {})

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        scores, values = _matrices(operand_types)
        require(
            scores[-1] == values[-2], f"there are scores for {scores[-1]} values, not {values[-2]}"
        )
        shape = (*broadcast(scores[:-2], values[:-2]), scores[-2], values[-1])
        return [with_shape(operand_types[0], shape)]


def _matrices(operand_types: Sequence[Tensor]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shapes of two float operands."""
    require_same_element(operand_types)
    require_float(operand_types[0])
    a, b = (operand.get_shape() for operand in operand_types)
    require(min(len(a), len(b)) >= 2, "operands of attention must have rank 2 or more")
    return a, b
