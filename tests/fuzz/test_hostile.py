"""Damaged and hostile files end in one sentence, or compile; `hostile` says how."""

from __future__ import annotations

from collections import Counter

import pytest
from fuzz.hostile.check import CHECKS
from fuzz.hostile.worker import outcomes

from support import effort

FILES = {"models": 100, "texts": 150, "folders": 50, "targets": 40}


@pytest.mark.parametrize("kind", CHECKS)
def test_hostile_files(kind: str) -> None:
    verdicts: Counter[str] = Counter()
    for seed, outcome in outcomes(kind, effort.seeds(FILES[kind], long=20 * FILES[kind])):
        verdicts[outcome.verdict] += 1
        assert outcome.verdict != "fault", f"{kind} {seed}: {outcome}"
    assert verdicts["refused"]
    assert verdicts["compiled"]
