"""The tuning databases that clopt brings: `<target>.jsonl`, one for each target measured so far."""

from __future__ import annotations

from importlib.resources import files


def shipped_text(target: str) -> str | None:
    """Return the database of a target; None where there is none."""
    for file in files(__name__).iterdir():
        if file.name == f"{target}.jsonl":
            return file.read_text(encoding="utf-8")
    return None
