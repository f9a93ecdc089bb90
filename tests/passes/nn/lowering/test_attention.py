"""The naive loops of attention agree with numpy, whichever of its operands heads share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from xdsl.ir import Block, Operation, SSAValue

from clopt.dialects import nn
from clopt.dialects.nn.evaluation import evaluate
from support.tir import harness

# Shapes of queries, keys and values.
CASES: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = [
    ((9, 5), (7, 5), (7, 4)),
    ((2, 3, 9, 5), (2, 3, 7, 5), (2, 3, 7, 4)),
    ((2, 3, 9, 5), (1, 3, 7, 5), (7, 4)),
    ((3, 1, 1), (2, 3, 6, 1), (2, 1, 6, 1)),
    ((4, 3), (5, 3), (2, 5, 6)),
]


@pytest.mark.parametrize("shapes", CASES)
def test_attention(shapes: tuple[tuple[int, ...], ...]) -> None:
    rng = np.random.default_rng(3)
    q, k, v = (rng.standard_normal(shape) for shape in shapes)

    def build(q: SSAValue, k: SSAValue, v: SSAValue) -> Sequence[Operation]:
        scores = nn.AttentionScoresOp(q, k)
        scaled = nn.UnaryOp(scores.result, "tanh")
        return [scores, scaled, nn.AttentionOp(scaled.result, v)]

    (found,) = harness.evaluate(build, q, k, v)
    weights = np.exp(np.tanh(q @ k.swapaxes(-1, -2)))
    expected = weights / weights.sum(-1, keepdims=True) @ v
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_definitions_agree_with_those_of_their_parts() -> None:
    rng = np.random.default_rng(4)
    q, k, v = (rng.standard_normal(shape) for shape in ((3, 9, 5), (3, 7, 5), (3, 7, 4)))
    block = Block(arg_types=[nn.array_type(x) for x in (q, k)])
    (scores,) = evaluate(nn.AttentionScoresOp(*block.args), [q, k]) or ()
    np.testing.assert_allclose(scores, np.einsum("nqd,nkd->nqk", q, k), atol=1e-12)
    block = Block(arg_types=[nn.array_type(x) for x in (scores, v)])
    (found,) = evaluate(nn.AttentionOp(*block.args), [scores, v]) or ()
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    np.testing.assert_allclose(found, np.einsum("nqk,nkd->nqd", weights, v), atol=1e-12)
