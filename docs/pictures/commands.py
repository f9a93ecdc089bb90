"""Host, queue, kernels and CLML in one: the commands of a small network, as compiled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import clopt
from clopt.dialects import cl
from clopt.dialects.offload import OffloadGraphOp

from .canvas import ACCELERATOR, OURS, PALE, arrow, blank_axes, box, write

SIZE = (9.2, 2.9)
MODEL = Path(__file__).parents[2] / "examples" / "digits" / "digits.onnx"


def data() -> list[list[str]]:
    """Return for each command of the digits network who runs it and what it computes."""
    model = clopt.compile(MODEL, dims={"batch": 1}, target="adreno-740", clml="auto", tuning="off")
    (program,) = (op for op in model.module.ops if isinstance(op, cl.ProgramOp))
    graphs = {op.sym_name.data: op for op in model.module.ops if isinstance(op, OffloadGraphOp)}
    found: list[list[str]] = []
    for op in program.body.block.ops:
        if isinstance(op, cl.EnqueueKernelOp):
            found.append(["kernel", op.kernel_name])
        elif isinstance(op, cl.EnqueueOffloadOp):
            graph = graphs[op.graph_name]
            found.append(["clml", graph.commands[op.index].name.partition(".")[2]])
    return found


def draw(figure: Any, data: list[list[str]]) -> None:
    """Draw the queue from left to right, who executes above and below, and the arena under all."""
    axes = blank_axes(figure, 920, 290)
    step = 780 / len(data)
    write(axes, 60, 34, "your\napplication", weight="bold")
    box(axes, 130, 14, 780, 40)
    write(axes, 520, 34, "model.enqueue(queue, buffers): enqueues all commands and waits for none")
    write(axes, 60, 110, "one in-order\nqueue", weight="bold")
    write(axes, 60, 244, "one arena", weight="bold")
    box(axes, 130, 226, 780, 36)
    write(axes, 520, 244, "every intermediate result, of kernels and of CLML, is a view of it")
    for i, (who, name) in enumerate(data):
        x = 130 + i * step
        colour = OURS if who == "kernel" else ACCELERATOR
        box(axes, x + 4, 84, step - 8, 52, colour)
        title = "kernel" if who == "kernel" else "CLML"
        write(axes, x + step / 2, 98, title, color="white", fontsize=7)
        lines = name.replace("_", "_\n", 1) if len(name) > 10 else name
        write(axes, x + step / 2, 117, lines, color="white", weight="bold", fontsize=7)
        arrow(axes, (x + step / 2, 56), (x + step / 2, 82))
        arrow(axes, (x + step / 2, 138), (x + step / 2, 224), arrowstyle="<|-|>", lw=0.6)
    claim = "  nothing passes through the host between two commands  "
    write(axes, 520, 182, claim, backgroundcolor=PALE)
    write(axes, 520, 280, "examples/digits, compiled for adreno-740 with clml=auto", fontsize=7)
