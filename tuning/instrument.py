"""What a worker measures with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from .trial import Result, Trial
from .turns import Turns


@dataclass(frozen=True)
class Device:
    """What results say of the device that they are from."""

    name: str
    """The device's name and platform."""
    driver: str


class Instrument(Protocol):
    """Tries plans on a device. It is picklable: workers, on any machine, get a copy of it."""

    def device(self) -> Device:
        """The device; called first, in a new process. Raises CloptError where it is not there."""
        ...

    def measure(self, trial: Trial, turns: Turns) -> Result:
        """Try a plan; called within `turns.beside_others()`, times within `turns.alone(...)`.

        The process may end here, or never come back. An exception is a fault of the plan.
        """
        ...
