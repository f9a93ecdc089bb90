"""The picture of a plan and the page around it."""

from __future__ import annotations

from html.parser import HTMLParser
from io import BytesIO
from itertools import combinations
from xml.etree import ElementTree

import pytest
from PIL import Image

from clopt.reports.drawing import DrawnBox, to_png, to_svg
from clopt.reports.memory.page import page
from clopt.reports.memory.picture import COLOURS, picture
from support.cl.reported_programs import BUFFERS, IMAGES, report

LEFT, RIGHT, TOP, BOTTOM = 72, 1180, 100, 580


def boxes(text: str) -> dict[str, DrawnBox]:
    """The boxes of intermediates by id."""
    shapes = picture(report(text), "title").shapes
    return {shape.key: shape for shape in shapes if isinstance(shape, DrawnBox) and shape.key}


def test_boxes_lie_over_their_commands_and_bytes() -> None:
    a, b, c, d = boxes(BUFFERS).values()
    command, byte = (RIGHT - LEFT) / 5, (BOTTOM - TOP) / 300
    assert (a.x, a.width) == pytest.approx((LEFT, 4 * command))
    assert (a.y, a.height) == pytest.approx((BOTTOM - 100 * byte, 100 * byte))
    # relu, the third of five commands, is shared by its input and its output in the same bytes.
    assert (b.x + b.width, c.x) == pytest.approx((LEFT + 2.5 * command, LEFT + 2.5 * command))
    assert (b.y, b.height) == pytest.approx((c.y, c.height))
    assert (d.x + d.width, d.y) == pytest.approx((RIGHT, BOTTOM - 20 * byte))
    assert [box.fill for box in (a, c)] == [COLOURS["buffer"], COLOURS["in place"]]


@pytest.mark.parametrize("text", [BUFFERS, IMAGES])
def test_no_two_boxes_overlap(text: str) -> None:
    for one, two in combinations(boxes(text).values(), 2):
        apart = (
            one.x + one.width <= two.x + 1e-6
            or two.x + two.width <= one.x + 1e-6
            or one.y + one.height <= two.y + 1e-6
            or two.y + two.height <= one.y + 1e-6
        )
        assert apart, (one.title, two.title)


def test_svg_has_titles_and_is_the_same_again() -> None:
    text = to_svg(picture(report(BUFFERS), "a <b> & c"))
    assert text == to_svg(picture(report(BUFFERS), "a <b> & c"))
    root = ElementTree.fromstring(text)
    space = {"s": "http://www.w3.org/2000/svg"}
    titles = [title.text or "" for title in root.findall("s:rect/s:title", space)]
    assert len(titles) == 4
    assert titles[2].splitlines() == [
        "relu (%c)",
        "memref<25xf32>",
        "100 B, 100 bytes from byte 128, in place",
        "commands 2 to 3: relu, add",
    ]
    assert (root.find("s:text", space).text or "").startswith("a <b> & c: arena of 300 B, 1.500 x")


def test_png_shows_the_boxes() -> None:
    drawing = picture(report(IMAGES), "title")
    content = to_png(drawing)
    assert content == to_png(drawing)
    with Image.open(BytesIO(content)) as image:
        assert image.size == (2 * drawing.width, 2 * drawing.height)
        for box in boxes(IMAGES).values():
            inside = image.getpixel((round(2 * box.x) + 8, round(2 * box.y) + 8))
            assert "#{:02x}{:02x}{:02x}".format(*inside) == COLOURS["image"]
        assert image.getpixel((2 * LEFT + 40, 2 * TOP + 40)) == (255, 255, 255)


class _Page(HTMLParser):
    """The rows of the tables of a page, and every address that it names."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.addresses: list[str | None] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value for name, value in attrs if name in ("src", "href")]
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.strip()


def test_page_lists_all_and_needs_no_other_file() -> None:
    text = page(report(IMAGES), "two <arenas>")
    found = _Page(text)
    assert found.addresses == []
    assert "two &lt;arenas&gt;" in text
    assert "<arenas>" not in text
    rows = {row[1]: row for row in found.rows if len(row) == 11}
    assert list(rows) == ["value", "%a", "%p", "%q", "%r", "%t", "%b"]
    assert rows["%b"][2:9] == ["image", "384", "0", "384", "64", "5", "6"]
    assert rows["%p"][2:9] == ["separate", "288", "", "", "", "1", "7"]
    assert ["all the device holds", "2.50 kB", "2,496 bytes"] in [row[:3] for row in found.rows]
