"""Synchronisation and memory between a program's queue and the device of an accelerator."""

from __future__ import annotations

from enum import Enum


class Fence(Enum):
    """How the commands of a graph are ordered with the commands around them on the queue."""

    QUEUE = "queue"
    """The commands are on the program's queue, which is in order."""
    EVENTS = "events"
    """The commands are on the device's own queue; the two queues wait for each other's events."""
    FINISH = "finish"
    """The host drains the program's queue before each command, then waits for the command.
    """


class MemorySpace(Enum):
    """Where the commands of a graph find their tensors."""

    BUFFERS = "buffers"
    """In buffers of the OpenCL context."""
    HOST = "host"
    """In host memory: buffers are mapped while a command runs."""
