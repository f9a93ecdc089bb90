"""The mistakes of table.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Mutation:
    """A mistake in one file, and the tests that should catch it."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def text(self, root: Path) -> str:
        """Return the file with the mistake. Raises ValueError if it has `old` not exactly once."""
        content = (root / self.file).read_text()
        if content.count(self.old) != 1:
            raise ValueError(f"{self.file} has {content.count(self.old)} times: {self.old}")
        return content.replace(self.old, self.new)


def mutations() -> list[Mutation]:
    """Return all mistakes."""
    rows = tomllib.loads((Path(__file__).parent / "table.toml").read_text())["mutation"]
    return [Mutation(**{**row, "tests": tuple(row["tests"])}) for row in rows]
