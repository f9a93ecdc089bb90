"""The processes that try plans, as a search sees them."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Protocol

from .candidates import CandidateRequest, Candidates
from .trial import Result, Trial


class Machines(Protocol):
    """Where trials run: in processes that may crash, or on a fleet."""

    @property
    def slots(self) -> int:
        """The number of trials that run at once."""
        ...

    def submit(self, trial: Trial) -> Future[Result]:
        """Try a plan; the future gets a result even if the kernel crashes the process.

        It gets a CloptError if no process can try plans any more; `close` cancels it.
        """
        ...

    def candidates(self, request: CandidateRequest) -> Future[Candidates]:
        """Answer a request while trials run.

        The future gets a CloptError if no process can; `close` cancels it.
        """
        ...

    def close(self) -> None:
        """Stop all processes."""
        ...
