"""A model for the tests of reports, and what a page has."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

NAMES = ("conv0", "norm", "relu0", "conv1", "sum", "relu1")


def residual(names: tuple[str, ...] = NAMES) -> onnx.ModelProto:
    """Return relu(a + conv(a)), where a is relu(norm(conv(x))); the nodes have these names."""
    random = np.random.default_rng(0)
    shapes = {"w0": (8, 3, 3, 3), "w1": (8, 8, 3, 3)} | dict.fromkeys(("s", "b", "m", "v"), (8,))
    weights = [
        numpy_helper.from_array(np.abs(random.normal(size=shape)).astype(np.float32), name)
        for name, shape in shapes.items()
    ]
    conv, norm, relu, conv1, add, relu1 = names
    pads = {"pads": [1, 1, 1, 1]}
    nodes = [
        helper.make_node("Conv", ["x", "w0"], ["c0"], conv, **pads),
        helper.make_node("BatchNormalization", ["c0", "s", "b", "m", "v"], ["n"], norm),
        helper.make_node("Relu", ["n"], ["r0"], relu),
        helper.make_node("Conv", ["r0", "w1"], ["c1"], conv1, **pads),
        helper.make_node("Add", ["r0", "c1"], ["a"], add),
        helper.make_node("Relu", ["a"], ["y"], relu1),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8, 8, 8])
    graph = helper.make_graph(nodes, "residual", [x], [y], weights)
    opsets = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


class Page(HTMLParser):
    """The elements of a page: their tags, attributes, and the text inside of each."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[tuple[str, int]] = []
        self.feed(text)
        self.close()
        assert not [tag for tag, _ in self._open if tag not in ("html", "body", "meta")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.texts.append("")
        if tag != "meta":
            self._open.append((tag, len(self.texts) - 1))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.texts.append("")

    def handle_endtag(self, tag: str) -> None:
        while self._open[-1][0] != tag:
            assert self._open.pop()[0] == "body"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for _, number in self._open:
            self.texts[number] += data

    def all(self, tag: str, kind: str = "", key: str = "") -> list[str]:
        """Return the texts of elements with a tag, and perhaps a class or an id."""
        return [
            text
            for (name, attrs), text in zip(self.elements, self.texts, strict=True)
            if name == tag
            and (not kind or kind in (attrs.get("class") or "").split())
            and (not key or attrs.get("id") == key)
        ]

    def values(self, *names: str) -> list[str]:
        """Return the values of these attributes."""
        return [v or "" for _, attrs in self.elements for k, v in attrs.items() if k in names]

    def table(self, key: str) -> list[list[str]]:
        """Return the cells of the table with an id, row by row."""
        number = next(i for i, (_, attrs) in enumerate(self.elements) if attrs.get("id") == key)
        rows: list[list[str]] = []
        for (tag, _), text in list(zip(self.elements, self.texts, strict=True))[number + 1 :]:
            if tag in ("table", "section", "h3"):
                break
            if tag == "tr":
                rows.append([])
            elif tag in ("td", "th"):
                rows[-1].append(text)
        return rows
