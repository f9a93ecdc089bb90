"""The interface with which a worker measures plans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from .trial import Result, Trial
from .turns import Turns


@dataclass(frozen=True)
class InstrumentDevice:
    """The device on which a result was measured."""

    name: str
    """The device's name and platform."""
    driver: str


class Instrument(Protocol):
    """Tries plans on a device; each worker, on any machine, gets a pickled copy."""

    def device(self) -> InstrumentDevice:
        """Return the device; called first in a new process. Raises CloptError if it is absent."""
        ...

    def measure(self, trial: Trial, turns: Turns) -> Result:
        """Try a plan, called within `turns.beside_others()`; time it within `turns.alone(...)`.

        The process may crash or hang in this call. An exception counts as a fault of the plan.
        """
        ...
