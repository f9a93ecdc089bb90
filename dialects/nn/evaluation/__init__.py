"""The numpy evaluator of nn operations, for constant folding and tests.

It follows the definitions literally and prefers clarity to speed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import SymbolTable

from ... import nn
from .. import Array
from . import (
    attention,
    elementwise,
    generic,
    indexing,
    movement,
    normalization,
    quantization,
    reduction,
    resize,
    window,
    winograd,
)

Evaluator = Callable[[Any, Sequence[Array]], Array | tuple[Array, ...]]
"""Computes the results of an operation from the arrays of its operands."""

EVALUATORS: dict[type[Operation], Evaluator] = {
    **attention.EVALUATORS,
    **elementwise.EVALUATORS,
    **generic.EVALUATORS,
    **indexing.EVALUATORS,
    **movement.EVALUATORS,
    **normalization.EVALUATORS,
    **quantization.EVALUATORS,
    **reduction.EVALUATORS,
    **resize.EVALUATORS,
    **window.EVALUATORS,
    **winograd.EVALUATORS,
}


def evaluate(op: Operation, operands: Sequence[Array]) -> tuple[Array, ...] | None:
    """Return the results of an operation, or None without an evaluator or for a bad index."""
    evaluator = EVALUATORS.get(type(op))
    try:
        with np.errstate(all="ignore"):
            if evaluator is not None:
                computed = evaluator(op, operands)
            else:
                computed = op.compute(operands) if isinstance(op, nn.NNOp) else None
    except IndexError:
        return None
    if computed is None:
        return None
    results = computed if isinstance(computed, tuple) else (computed,)
    types = (nn.tensor_type(result).element_type for result in op.results)
    return tuple(
        np.asarray(array).astype(nn.numpy_dtype(type), copy=False)
        for array, type in zip(results, types, strict=True)
    )


def interpret(
    function: func.FuncOp, inputs: Sequence[Array], weights: nn.WeightStore | None = None
) -> list[Array]:
    """Return the results of a function of nn operations: the reference for compiled programs."""
    return _run(function.body.block, inputs, weights)


def _run(block: Block, inputs: Sequence[Array], weights: nn.WeightStore | None) -> list[Array]:
    values: dict[SSAValue, Array] = dict(zip(block.args, inputs, strict=True))
    for op in block.ops:
        operands = [values[v] for v in op.operands]
        if isinstance(op, func.ReturnOp | nn.YieldOp):
            return operands
        if isinstance(op, nn.ConstantOp):
            results = (nn.constant_value(op.result, weights),)
        elif isinstance(op, nn.FusedOp):
            results = _run(op.body.block, operands, weights)
        elif isinstance(op, nn.LoopOp):
            results = _run_loop(op, operands, weights)
        else:
            results = evaluate(op, operands) or ()
        for value, array in zip(op.results, results, strict=True):
            if array is None:
                raise ValueError(f"{op.name} refers to a weight that the store does not contain")
            values[value] = array
    raise ValueError("the block has no terminator")


def _run_loop(
    loop: nn.LoopOp, inputs: Sequence[Array], weights: nn.WeightStore | None
) -> list[Array]:
    body = SymbolTable.lookup_symbol(loop, loop.body)
    assert isinstance(body, func.FuncOp), "verified"
    count, end = loop.carried_count, loop.carried_count + loop.row_count
    carried, rows = list(inputs[:count]), inputs[count:end]
    types = map(nn.tensor_type, loop.res[count:])
    stacks = [np.empty(type.get_shape(), nn.numpy_dtype(type.element_type)) for type in types]
    for time in range(loop.trip_count):
        backward = loop.trip_count - 1 - time
        at = [backward if loop.is_reversed(i) else time for i in range(len(rows) + len(stacks))]
        given = [rows[i][at[i]] for i in range(len(rows))]
        results = _run(body.body.block, [*carried, *given, *inputs[end:]], weights)
        carried = results[:count]
        for i, value in enumerate(results[count:]):
            stacks[i][at[len(rows) + i]] = value
    return [*carried, *stacks]
