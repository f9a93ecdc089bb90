"""Attention in numpy, computed in double precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation

from ... import nn
from .. import Array


def _scores(op: nn.AttentionScoresOp, operands: Sequence[Array]) -> Array:
    queries, keys = (x.astype(np.float64) for x in operands)
    return queries @ keys.swapaxes(-1, -2)


def _attention(op: nn.AttentionOp, operands: Sequence[Array]) -> Array:
    scores, values = (x.astype(np.float64) for x in operands)
    weights = np.exp(scores - scores.max(-1, keepdims=True, initial=-np.inf))
    return weights / weights.sum(-1, keepdims=True) @ values


EVALUATORS: dict[type[Operation], Callable[[Any, Sequence[Array]], Any]] = {
    nn.AttentionScoresOp: _scores,
    nn.AttentionOp: _attention,
}
