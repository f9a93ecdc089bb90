"""What it takes to cross from the queue of a program to the device of an accelerator, and back."""

from __future__ import annotations

from enum import Enum


class Fence(Enum):
    """How the commands of a graph are ordered with those around them on the queue."""

    QUEUE = "queue"
    """They are on the queue, which is in order."""
    EVENTS = "events"
    """They are on a queue of the device's own, which waits for an event, and we for its events."""
    FINISH = "finish"
    """The host waits for our queue before a command, and the command ends before the host goes
    on."""


class MemorySpace(Enum):
    """Where the commands of a graph find their tensors."""

    BUFFERS = "buffers"
    """In buffers of the context."""
    HOST = "host"
    """In memory of the host, to which buffers are mapped while a command runs."""
