"""Dataclasses as JSON: the same comes back, and what does not fit is refused with its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import pytest

from clopt.files.records import RecordError, read_record, record_as_json, schema_of


@dataclass(frozen=True)
class Circle:
    """A circle."""

    radius: int
    """In millimetres."""
    op: Literal["circle"] = "circle"


@dataclass(frozen=True)
class Line:
    """A line."""

    ends: tuple[int, int]
    op: Literal["line"] = "line"


@dataclass(frozen=True)
class Drawing:
    """A drawing."""

    shapes: tuple[Circle | Line, ...]
    name: str = ""
    scale: int | None = None
    version: Literal[1] = 1


DRAWING = Drawing((Circle(3), Line((1, 2))), scale=0)
TABLE: dict[str, Any] = {
    "version": 1,
    "shapes": [{"op": "circle", "radius": 3}, {"op": "line", "ends": [1, 2]}],
    "scale": 0,
}


def test_defaults_are_left_out_and_constants_come_first() -> None:
    assert record_as_json(DRAWING) == TABLE
    assert list(record_as_json(DRAWING)) == list(TABLE)
    assert read_record(Drawing, TABLE | {"unknown": 1}) == DRAWING


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"shapes": 3}, ".shapes: expected a list, found an integer"),
        ({"shapes": [{"op": "circle"}]}, ".shapes[0]: the field radius is missing"),
        ({"shapes": [{"op": "dot"}]}, ".shapes[0].op: expected one of 'circle', 'line'"),
        ({"shapes": [TABLE["shapes"][0], []]}, ".shapes[1].op: expected one of 'circle', 'line'"),
        (
            {"shapes": [{"op": "line", "ends": [1]}]},
            ".shapes[0].ends: expected 2 elements",
        ),
        ({"shapes": [{"op": "line", "ends": [1, "2"]}]}, ".shapes[0].ends[1]: expected an integer"),
        ({"scale": True}, ".scale: expected an integer, found something else"),
        ({"scale": 1.0}, ".scale: expected an integer, found something else"),
        ({"version": 2}, ".version: expected one of 1"),
        ({"version": True}, ".version: expected one of 1"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(RecordError) as caught:
        read_record(Drawing, TABLE | change)
    assert str(caught.value).startswith(sentence)


def test_a_schema_has_the_docstrings() -> None:
    schema = schema_of(Drawing)
    assert schema["required"] == ["shapes", "version"]
    circle = schema["definitions"]["Circle"]
    assert circle["properties"]["radius"] == {"description": "In millimetres.", "type": "integer"}
    assert circle["required"] == ["radius", "op"]
    ends = schema["definitions"]["Line"]["properties"]["ends"]
    assert (ends["minItems"], ends["maxItems"]) == (2, 2)
