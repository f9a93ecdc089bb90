"""Replacement of a graph's operations by a call of the graph."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from xdsl.dialects import func
from xdsl.ir import Operation, SSAValue
from xdsl.traits import is_side_effect_free

from ....dialects import nn
from ....dialects.offload import OffloadCallOp
from .regions import Region


def replace_region(
    region: Region, call: OffloadCallOp, numbers: Iterable[tuple[SSAValue, int]]
) -> None:
    """Insert the call after the region's last operation and erase the region's operations.

    `numbers` are the outputs of the region, each with the number of the call's result that holds
    it. If the shapes differ, a reshape follows the call.
    """
    ops = [op for match in region.matches for op in match.ops]
    last = region.matches[-1].ops[-1]
    block = last.parent
    assert block is not None
    block.insert_op_after(call, last)
    for value, number in numbers:
        result = call.results[number]
        if result.type != value.type:
            view = nn.ReshapeOp(result, nn.shape_of(value))
            view.location = call.location
            block.insert_op_after(view, call)
            result = view.result
        result.name_hint = result.name_hint or value.name_hint
        value.replace_all_uses_with(result)
    order = {op: i for i, op in enumerate(block.ops)}
    for op in sorted(ops, key=order.__getitem__, reverse=True):
        op.detach()
        op.erase()


def sort_block(function: func.FuncOp) -> None:
    """Sort the operations of a function so that each value is computed before its uses.

    The order changes as little as possible; operations with effects keep their relative order.
    """
    block = function.body.block
    ops = list(block.ops)
    with_effects = [op for op in ops if not is_side_effect_free(op)]
    earlier = dict(pairwise(reversed(with_effects)))
    done: set[Operation] = set()
    ordered: list[Operation] = []
    for op in ops:
        stack = [op]
        while stack:
            current = stack[-1]
            sources = [operand.owner for operand in current.operands]
            sources += [earlier[current]] if current in earlier else []
            waiting = [op for op in sources if isinstance(op, Operation) and op not in done]
            if waiting and current not in done:
                stack.extend(reversed(waiting))
                continue
            stack.pop()
            if current not in done:
                done.add(current)
                ordered.append(current)
    if ordered == ops:
        return
    for op in ops:
        op.detach()
    block.add_ops(ordered)
