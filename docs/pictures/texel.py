"""Four channels in a texel: where the elements of a tensor lie in an image."""

from __future__ import annotations

from typing import Any

from .canvas import INK, blank_axes, write

SIZE = (9.2, 2.6)
CHANNELS, HEIGHT, WIDTH = 6, 2, 3
COLOURS = ("#0b6e99", "#59b3d0", "#a6d5e5", "#d9730d", "#eda766", "#f6d2b0")


def data() -> list[list[list[int | None]]]:
    """Return the channels in each texel of the image, row by row; None in the tail of a block."""
    blocks = -(-CHANNELS // 4)
    return [
        [[c if c < CHANNELS else None for c in range(4 * b, 4 * b + 4)] for _ in range(WIDTH)]
        for b in range(blocks)
        for _ in range(HEIGHT)
    ]


def draw(figure: Any, data: list[list[list[int | None]]]) -> None:
    """Draw the tensor as planes and the image as texels of four cells."""
    from matplotlib.patches import Rectangle

    axes = blank_axes(figure, 920, 260)
    for c in reversed(range(CHANNELS)):
        x, y = 40 + 26 * c, 150 - 18 * c
        for h in range(HEIGHT):
            for w in range(WIDTH):
                corner = (x + 30 * w, y + 24 * h)
                cell = Rectangle(corner, 30, 24, facecolor=COLOURS[c], edgecolor=INK, lw=0.6)
                axes.add_patch(cell)
        write(axes, x + 15, y + 12, str(c), color=_ink(c), fontsize=8, weight="bold")
    write(axes, 160, 235, f"tensor 1 x {CHANNELS} x {HEIGHT} x {WIDTH}", fontsize=9)
    for row, texels in enumerate(data):
        for column, channels in enumerate(texels):
            x, y = 420 + 128 * column, 44 + 38 * row + 10 * (row // HEIGHT)
            for lane, channel in enumerate(channels):
                colour = "white" if channel is None else COLOURS[channel]
                axes.add_patch(
                    Rectangle((x + 29 * lane, y), 29, 32, facecolor=colour, edgecolor=INK, lw=0.4)
                )
                text = "0" if channel is None else str(channel)
                write(axes, x + 29 * lane + 14.5, y + 16, text, fontsize=8, color=_ink(channel))
            axes.add_patch(Rectangle((x, y), 116, 32, fill=False, edgecolor=INK, lw=1.4))
        block, h = divmod(row, HEIGHT)
        label = f"h = {h}, channels {4 * block}-{4 * block + 3}"
        write(axes, 806, 60 + 38 * row + 10 * block, label, fontsize=8, ha="left")
    for w, lanes in enumerate(("r g b a",) * WIDTH):
        write(axes, 478 + 128 * w, 30, f"w = {w}   ({lanes.replace(' ', ', ')})", fontsize=8)
    write(axes, 606, 235, "image of 3 x 4 texels: one read brings four channels; the tail is zero")


def _ink(channel: int | None) -> str:
    """Return the colour of a number on the colour of a channel."""
    return "white" if channel in (0, 1, 3, 4) else INK
