"""The tuning databases that ship with clopt: `<target>.jsonl` for each measured target."""

from __future__ import annotations

from importlib.resources import files


def shipped_text(target: str) -> str | None:
    """Return the database of a target, or None."""
    for file in files(__name__).iterdir():
        if file.name == f"{target}.jsonl":
            return file.read_text(encoding="utf-8")
    return None
