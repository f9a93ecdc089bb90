"""Bars: the speed of eleven networks on a CPU, beside onnxruntime's."""

from __future__ import annotations

from statistics import geometric_mean
from typing import Any

from figures import NETWORKS, read

from .canvas import INK, OURS, OURS_TOO, RIVALS

SIZE = (9.2, 2.4)
ENGINES = {
    "clopt-intel": ("clopt on Intel's OpenCL", OURS),
    "clopt-pocl": ("clopt on PoCL", OURS_TOO),
    "openvino": ("OpenVINO", RIVALS[0]),
    "iree": ("IREE", RIVALS[1]),
    "tinygrad-pocl": ("tinygrad on PoCL", RIVALS[2]),
}


def data() -> dict[str, list[float]]:
    """Return each engine's speed by network, then the geometric mean; onnxruntime is 1."""
    rows = read("compare")
    speeds = {engine: [1 / rows[name][engine]["x_ort"] for name in NETWORKS] for engine in ENGINES}
    return {
        engine: [round(speed, 3) for speed in (*column, geometric_mean(column))]
        for engine, column in speeds.items()
    }


def draw(figure: Any, data: dict[str, list[float]]) -> None:
    """Draw a group of bars for each network."""
    axes = figure.add_axes((0.045, 0.125, 0.95, 0.7))
    names = [*NETWORKS.values(), "geometric mean"]
    width = 0.8 / len(data)
    for i, (engine, speeds) in enumerate(data.items()):
        label, colour = ENGINES[engine]
        at = [n + (i - len(data) / 2 + 0.5) * width for n in range(len(names))]
        axes.bar(at, speeds, width, label=label, color=colour)
    axes.axhline(1, color=INK, lw=0.8)
    axes.axvline(len(names) - 1.5, color=INK, lw=0.5, ls=":")
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.set_xticks(range(len(names)), [_label(name) for name in names], fontsize=7)
    axes.tick_params(axis="y", labelsize=7)
    axes.spines[["top", "right"]].set_visible(False)
    title = "Speed on two CPU cores, relative to onnxruntime (higher is faster)"
    axes.set_title(title, fontsize=9, pad=22)
    axes.legend(
        loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=len(data), frameon=False, fontsize=7.5
    )


def _label(name: str) -> str:
    """Return a name in two lines if it is long."""
    return name.replace("-", "-\n", 1) if len(name) > 10 else name
