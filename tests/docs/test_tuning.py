"""The record on the page about tuning is one."""

from __future__ import annotations

import re
from pathlib import Path

from clopt.passes.tir.tuning_record import read_record

PAGE = Path(__file__).parents[2] / "docs" / "tuning.md"


def test_the_record_of_the_page():
    (line,) = re.findall(r"```json\n(.*)\n```", PAGE.read_text(encoding="utf-8"))
    assert read_record(line, "tuning.md").line == line
