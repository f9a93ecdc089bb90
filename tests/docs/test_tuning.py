"""The records on the page about tuning are some."""

from __future__ import annotations

import re
from pathlib import Path

from clopt.decisions.record import read_record

PAGE = Path(__file__).parents[2] / "docs" / "tuning.md"


def test_the_records_of_the_page():
    lines = re.findall(r"```json\n(.*)\n```", PAGE.read_text(encoding="utf-8"))
    assert len(lines) == 2
    for line in lines:
        assert read_record(line, "tuning.md").line == line
