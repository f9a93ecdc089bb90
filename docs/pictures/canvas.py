"""What the pictures share: colours, boxes, arrows, and figures that are the same on any machine."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

OURS, OURS_TOO, ACCELERATOR = "#0b6e99", "#59b3d0", "#d9730d"
RIVALS = ("#8d8d8d", "#b5b5b5", "#d6d6d6")
INK, PAPER, PALE = "#1f2328", "#ffffff", "#f3f5f7"

STYLE: dict[str, Any] = {
    "svg.hashsalt": "clopt",  # the names of clip paths, random otherwise
    "font.family": "DejaVu Sans",  # the one that matplotlib brings
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": INK,
    "figure.facecolor": PAPER,
}


@contextmanager
def figure(width: float, height: float) -> Generator[Any]:
    """Yield an empty figure, `width` by `height` inches."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        yield Figure(figsize=(width, height))


def blank_axes(figure: Any, width: float, height: float) -> Any:
    """Return axes without frame that span the figure, in units of your choice, y downwards."""
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.axis("off")
    return axes


def box(axes: Any, x: float, y: float, width: float, height: float, colour: str = PALE) -> None:
    """Draw a rounded box with its upper left corner at (x, y)."""
    from matplotlib.patches import FancyBboxPatch

    shape = {"boxstyle": "round,pad=0,rounding_size=6", "edgecolor": INK, "lw": 0.8}
    axes.add_patch(FancyBboxPatch((x, y), width, height, facecolor=colour, **shape))


def write(axes: Any, x: float, y: float, text: str, **style: Any) -> None:
    """Write text, centred on (x, y) unless `style` says otherwise."""
    axes.text(x, y, text, **({"ha": "center", "va": "center"} | style))


def arrow(axes: Any, start: tuple[float, float], end: tuple[float, float], **style: Any) -> None:
    """Draw an arrow."""
    properties = {"arrowstyle": "-|>", "color": INK, "lw": 0.9, "shrinkA": 0, "shrinkB": 0} | style
    axes.annotate("", xy=end, xytext=start, arrowprops=properties)
