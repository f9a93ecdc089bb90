"""The levels of a compilation and the pipelines between them."""

from __future__ import annotations

from typing import Any

from clopt.accelerators import ACCELERATORS
from clopt.passes.pipelines import PIPELINES

from .canvas import ACCELERATOR, OURS, PALE, arrow, blank_axes, box, write

SIZE = (9.2, 2.5)
LEVELS = (
    ("ONNX", "the exporter's\noperators"),
    ("nn", "operations on\nlogical tensors"),
    ("nn.fused", "one region\nfor each kernel"),
    ("cl + tir", "commands of a queue,\nloop nests"),
    ("cl + tir", "scheduled, textures,\none arena"),
    ("OpenCL C", "and the calls that\nput it on a queue"),
)
STEPS = (("import",), ("simplify", "fuse"), ("lower",), ("schedule", "memory"), ("emit",))


def data() -> dict[str, Any]:
    """Return the passes of each step between two levels."""
    passes = {
        step: [p.name for p in PIPELINES[step] if "." not in p.name and p.name != "verify"]
        for steps in STEPS
        for step in steps
        if step in PIPELINES
    }
    return {"passes": passes, "accelerators": list(ACCELERATORS)}


def draw(figure: Any, data: dict[str, Any]) -> None:
    """Draw the levels from left to right; graphs of accelerators run beside the kernels."""
    axes = blank_axes(figure, 920, 250)
    width, gap, top = 112, 44, 60
    for i, (name, content) in enumerate(LEVELS):
        x = 14 + i * (width + gap)
        box(axes, x, top, width, 62, OURS if name == "OpenCL C" else PALE)
        colour = "white" if name == "OpenCL C" else "black"
        write(axes, x + width / 2, top + 14, name, weight="bold", color=colour)
        write(axes, x + width / 2, top + 40, content, fontsize=7, color=colour)
        if i:
            arrow(axes, (x - gap + 2, top + 31), (x - 2, top + 31))
            for line, step in enumerate(STEPS[i - 1]):
                write(axes, x - gap / 2, top - 22 + 11 * line, step, fontsize=7, style="italic")
    for i, accelerator in enumerate(data["accelerators"]):
        y = 150 + 42 * i
        box(axes, 326, y, 424, 32, "#fbe7d8")
        write(axes, 538, y + 16, f"{accelerator}: graphs of its commands, verified like kernels")
        arrow(axes, (226, 126), (324, y + 16), color=ACCELERATOR)
        arrow(axes, (752, y + 16), (848, 126), color=ACCELERATOR)
    choice = "nn-choose picks layouts,\nforms and what an\naccelerator computes"
    write(axes, 226, 200, choice, fontsize=7)
    write(axes, 460, 20, "clopt stops between any two passes, prints the module and reads it again")
