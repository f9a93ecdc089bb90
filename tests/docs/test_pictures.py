"""The pictures show what the code and the result files say today."""

from __future__ import annotations

from pathlib import Path

import pytest
from pictures import __main__ as pictures


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_a_picture_is_current(name: str):
    assert pictures.is_current(name), "run python -m pictures in the folder docs"


def test_other_data_or_no_file_is_out_of_date(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(pictures.texel, "CHANNELS", 7)
    assert not pictures.is_current("texel")
    monkeypatch.setattr(pictures, "FOLDER", tmp_path)
    assert not pictures.is_current("speed")
