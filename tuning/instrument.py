"""The interface by which a worker measures plans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from .trial import Result, Trial
from .turns import Turns


@dataclass(frozen=True)
class InstrumentDevice:
    """The device that a result is from."""

    name: str
    """The device's name and platform."""
    driver: str


class Instrument(Protocol):
    """Tries plans on a device. It is picklable: each worker, on any machine, gets a copy."""

    def device(self) -> InstrumentDevice:
        """Return the device; called first, in a new process. Raises CloptError if it is absent."""
        ...

    def measure(self, trial: Trial, turns: Turns) -> Result:
        """Try a plan; called within `turns.beside_others()`, times it within `turns.alone(...)`.

        The process may crash or hang in this call. An exception is a fault of the plan.
        """
        ...
