"""What Python asks about an accelerator's C library on a device, before a C package calls it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ...dialects.cl.target import Fact, Target

if TYPE_CHECKING:
    from .devices import Device


@dataclass(frozen=True)
class Sdk:
    """A vendor's headers, which replace ours of a package."""

    folder: str
    """The folder above the header."""
    header: str
    """The header's path in that folder, and the end of that of ours in the package."""


class LibraryRuntime(ABC):
    """The library of an accelerator, as it is on devices of this machine."""

    stand_ins: ClassVar[tuple[str, ...]] = ()
    """Libraries of ours that can serve in its place, by name."""

    @abstractmethod
    def facts(self, device: Device) -> Mapping[str, Fact]:
        """The facts of a target that the device's library says."""

    @abstractmethod
    def stand_in_facts(self, name: str, target: Target) -> Mapping[str, Fact]:
        """The facts that a stand-in says, if the target does not have the library."""

    @abstractmethod
    def open(self, device: Device, stand_in: str | None) -> Sdk | None:
        """Make the library ready for C packages; the headers that it wants instead of ours.

        UnavailableError where there is none: it says why, and what to do.
        """
