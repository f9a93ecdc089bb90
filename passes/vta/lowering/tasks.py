"""Group layers into tasks: a product, pool or tensor, and elementwise layers after it."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from ....dialects.vta import AddOp, ConcatOp, GraphOp, LayerOp, ScaleOp
from .steps import Step, steps_behind


@dataclass
class VTATask:
    """Layers computed together: `root`, or a read of `source`, then `steps` up to `result`."""

    root: LayerOp | None
    source: SSAValue | None
    steps: list[Step]
    result: SSAValue


def tasks_of(graph: GraphOp) -> list[VTATask]:
    """Return the tasks of a graph in an executable order.

    An elementwise layer joins the task of an operand that only it reads. If both operands qualify,
    it joins the one computed last. A concatenation only moves tiles, so no layer joins it.
    """
    tasks: dict[SSAValue, VTATask] = {}
    for layer in graph.layers:
        if not isinstance(layer, AddOp | ScaleOp):
            tasks[layer.result] = VTATask(layer, None, [], layer.result)
            continue
        order = list(tasks)
        joined = [
            (order.index(value), i)
            for i, value in enumerate(layer.operands)
            if value in tasks and value.has_one_use() and not _only_moves(tasks[value])
        ]
        if joined:
            _, operand = max(joined)
            task = tasks.pop(layer.operands[operand])
        else:
            operand = 0
            task = VTATask(None, layer.operands[0], [], layer.result)
        task.steps += steps_behind(layer, operand)
        task.result = layer.result
        tasks[layer.result] = task
    return list(tasks.values())


def _only_moves(task: VTATask) -> bool:
    return isinstance(task.root, ConcatOp)
