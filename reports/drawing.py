"""Drawings of rectangles, lines and text, as SVG or PNG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from PIL.Image import Image as Picture
    from PIL.ImageDraw import ImageDraw

INK = "#26303a"
LETTER = 0.58
"""Mean width of a letter of a sans-serif font, in units of its size; most are narrower."""
_SCALE = 2
"""Pixels of a PNG for each unit of a drawing."""


@dataclass(frozen=True)
class DrawnBox:
    """A filled rectangle; `title` is its tooltip, `key` its id, `radius` that of its corners."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    stroke: str = "none"
    title: str = ""
    key: str = ""
    radius: float = 0


@dataclass(frozen=True)
class Stroke:
    """A line."""

    x1: float
    y1: float
    x2: float
    y2: float
    colour: str = INK
    width: float = 1
    dash: float = 0
    """Length of its dashes and gaps; 0 for a solid line."""


@dataclass(frozen=True)
class Label:
    """Text, centred vertically at `y`; `upright` text reads upwards."""

    x: float
    y: float
    text: str
    size: float = 12
    anchor: str = "middle"
    """The part of the text that lies at `x`: start, middle or end."""
    colour: str = INK
    upright: bool = False


Shape: TypeAlias = DrawnBox | Stroke | Label


@dataclass(frozen=True)
class Drawing:
    """Shapes on a background of one colour, or without one; later shapes are on top.

    In an SVG inside a page, colours may be CSS variables; a PNG needs concrete colours.
    """

    width: int
    height: int
    shapes: Sequence[Shape]
    paper: str = "white"


def text_width(text: str, size: float) -> float:
    """Return the approximate width of a text."""
    return len(text) * size * LETTER


def round_step(step: float) -> float:
    """Return the next larger step of an axis: 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(power * f for f in (1, 2, 5, 10) if power * f >= step * (1 - 1e-9))


def to_svg(drawing: Drawing) -> str:
    """Return an SVG document; the same drawing always gives the same text."""
    size = f"{drawing.width} {drawing.height}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" '
        'font-family="Helvetica, Arial, sans-serif">',
        f'<rect width="100%" height="100%" fill="{drawing.paper}"/>',
        *map(_svg_shape, drawing.shapes),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _svg_shape(shape: Shape) -> str:
    match shape:
        case DrawnBox():
            key = f' id="{shape.key}"' if shape.key else ""
            title = f"<title>{escape(shape.title)}</title>" if shape.title else ""
            radius = f' rx="{shape.radius:g}"' if shape.radius else ""
            return (
                f'<rect{key} x="{shape.x:.2f}" y="{shape.y:.2f}" width="{shape.width:.2f}" '
                f'height="{shape.height:.2f}"{radius} fill="{shape.fill}" '
                f'stroke="{shape.stroke}">'
                f"{title}</rect>"
            )
        case Stroke():
            dash = f' stroke-dasharray="{shape.dash:g}"' if shape.dash else ""
            return (
                f'<line x1="{shape.x1:.2f}" y1="{shape.y1:.2f}" x2="{shape.x2:.2f}" '
                f'y2="{shape.y2:.2f}" stroke="{shape.colour}" '
                f'stroke-width="{shape.width:g}"{dash}/>'
            )
        case Label():
            at = f"{shape.x:.2f} {shape.y:.2f}"
            turn = " rotate(-90)" if shape.upright else ""
            # A pointer on the label must still show the title of the box below.
            return (
                f'<text transform="translate({at}){turn}" dy="0.35em" font-size="{shape.size:g}" '
                f'text-anchor="{shape.anchor}" fill="{shape.colour}" '
                f'pointer-events="none">{escape(shape.text)}</text>'
            )


def to_png(drawing: Drawing) -> bytes:
    """Return the drawing as PNG. Needs pillow."""
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (drawing.width * _SCALE, drawing.height * _SCALE), drawing.paper)
    pen = ImageDraw.Draw(picture)
    for shape in drawing.shapes:
        match shape:
            case DrawnBox():
                _paint_box(pen, shape)
            case Stroke():
                _paint_stroke(pen, shape)
            case Label():
                _paint_label(picture, shape)
    content = BytesIO()
    picture.save(content, "PNG", optimize=True)
    return content.getvalue()


def _paint_box(pen: ImageDraw, box: DrawnBox) -> None:
    left, top = round(box.x * _SCALE), round(box.y * _SCALE)
    right, bottom = round((box.x + box.width) * _SCALE), round((box.y + box.height) * _SCALE)
    outline = None if box.stroke == "none" else box.stroke
    edges = (left, top, max(left, right), max(top, bottom))
    pen.rounded_rectangle(edges, box.radius * _SCALE, box.fill, outline, _SCALE)


def _paint_stroke(pen: ImageDraw, stroke: Stroke) -> None:
    ends = [end * _SCALE for end in (stroke.x1, stroke.y1, stroke.x2, stroke.y2)]
    x1, y1, x2, y2 = ends
    length = max(abs(x2 - x1), abs(y2 - y1))
    step = stroke.dash * _SCALE or length
    width = max(1, round(stroke.width * _SCALE))
    position = 0.0
    while position < length:
        start, stop = position / length, min(position + step, length) / length
        dash = [x1 + (x2 - x1) * start, y1 + (y2 - y1) * start]
        dash += [x1 + (x2 - x1) * stop, y1 + (y2 - y1) * stop]
        pen.line(dash, stroke.colour, width)
        position += 2 * step


def _paint_label(picture: Picture, label: Label) -> None:
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(label.size * _SCALE)
    left, _, right, _ = font.getbbox(label.text)
    width, height = round(right - left) + 2, round(label.size * _SCALE * 1.4)
    mask = Image.new("L", (width, height))
    ImageDraw.Draw(mask).text((1 - left, height / 2), label.text, 255, font, "lm")
    x, y = label.x * _SCALE, label.y * _SCALE
    before = {"start": 0, "middle": width / 2, "end": width}[label.anchor]
    if label.upright:
        mask = mask.transpose(Image.Transpose.ROTATE_90)
        corner = (x - height / 2, y - width + before)
    else:
        corner = (x - before, y - height / 2)
    picture.paste(label.colour, (round(corner[0]), round(corner[1])), mask)
