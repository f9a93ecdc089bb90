"""The search for a smaller file, which removes parts as long as the user's command agrees."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from ...errors import CloptError
from ...messages.sentences import reason_of

T = TypeVar("T")

PLACE = "{}"
"""The placeholder for the path of a candidate in the user's command."""


@dataclass
class Judge:
    """Runs the user's command to find out whether a candidate is interesting."""

    command: Sequence[str]
    suffix: str
    timeout: float
    while_fails: bool = False
    trials: int = 0
    found: Callable[[Judge], None] | None = None
    """Called with each new `best`."""
    best: bytes = b""
    """The last candidate that was interesting."""
    _answers: dict[bytes, bool] = field(default_factory=dict[bytes, bool])

    def __call__(self, content: bytes | None) -> bool:
        """Return whether the command exits with 0, or with anything else with `while_fails`.

        None stands for a candidate that does not exist. A command that takes longer than `timeout`
        seconds rejects the candidate.
        """
        if content is None:
            return False
        key = hashlib.sha256(content).digest()
        if key not in self._answers:
            self._answers[key] = self._ask(content)
        if self._answers[key] and content != self.best:
            self.best = content
            if self.found is not None:
                self.found(self)
        return self._answers[key]

    def _ask(self, content: bytes) -> bool:
        self.trials += 1
        with tempfile.TemporaryDirectory(prefix="clopt-reduce-") as folder:
            path = Path(folder, f"candidate{self.suffix}")
            path.write_bytes(content)
            words = [word.replace(PLACE, str(path)) for word in self.command]
            try:
                done = subprocess.run(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    timeout=self.timeout,
                )
            except subprocess.TimeoutExpired:
                return False
            except OSError as error:
                raise CloptError(f"Cannot run {words[0]}: {reason_of(error)}.") from error
        return (done.returncode != 0) == self.while_fails


def least(items: Sequence[T], is_enough: Callable[[list[T]], bool]) -> list[T]:
    """Return a minimal subset of `items` with `is_enough`: removing any one item breaks it.

    Delta debugging by complements (Zeller and Hildebrandt, Simplifying and Isolating
    Failure-Inducing Input, 2002): it removes halves first, then ever smaller parts.
    """
    kept = list(items)
    size = len(kept)
    while size:
        start, removed = 0, False
        while start < len(kept):
            rest = kept[:start] + kept[start + size :]
            if is_enough(rest):
                kept, removed = rest, True
            else:
                start += size
        if size == 1 and not removed:
            break
        size = min(size if size == 1 else size // 2, len(kept))
    return kept
