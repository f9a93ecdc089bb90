"""The interface to an accelerator's C library, which Python queries before a C package calls it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ...machine.facts import Fact
from ...machine.target import Target

if TYPE_CHECKING:
    from .devices import Device


@dataclass(frozen=True)
class Sdk:
    """A vendor's headers, which replace our headers in a package."""

    folder: str
    """The folder that contains the header's path."""
    header: str
    """The header's path in that folder; our header in the package has a path with this ending."""


class LibraryRuntime(ABC):
    """The library of an accelerator on the devices of this machine."""

    stand_ins: ClassVar[tuple[str, ...]] = ()
    """Names of our libraries that can serve in its place."""

    @abstractmethod
    def facts(self, device: Device) -> Mapping[str, Fact]:
        """Return the target facts that the device's library reports."""

    @abstractmethod
    def stand_in_facts(self, name: str, target: Target) -> Mapping[str, Fact]:
        """Return the target facts that a stand-in provides, if the target lacks the library."""

    @abstractmethod
    def open(self, device: Device, stand_in: str | None) -> Sdk | None:
        """Prepare the library for C packages; return the headers to use instead of ours, if any.

        Raises UnavailableError, with the reason and the remedy, if there is no library.
        """
