"""A lock that another process keeps ends in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from clopt.errors import CloptError
from clopt.files import locks
from clopt.tuning import records


def test_a_lock_that_is_kept_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As a tuner does that was stopped while it wrote."""
    monkeypatch.setattr(locks, "_MOST_WAIT", 0.1)
    path, lock = tmp_path / "db.jsonl", tmp_path / ".db.jsonl.lock"
    with locks.lock_beside(path), pytest.raises(CloptError) as caught:
        records.append(path, [])
    assert str(caught.value) == (
        f"{path}: cannot write this tuning database: another process has kept {lock} locked for "
        "0.1 s."
    )
    records.append(path, [])
