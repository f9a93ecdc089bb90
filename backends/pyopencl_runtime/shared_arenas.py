"""Arenas that programs of one model share, since their inferences run one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

import pyopencl as cl

from .images import Images
from .memory import BufferMemory, make_memory


class SharedArenas:
    """The largest arenas so far; programs that need less use them, too.

    Each is as large as a program needs: a reserve for the next size would often cost more than it
    saves.
    """

    def __init__(self) -> None:
        self._memories: list[BufferMemory] = []
        self._context: cl.Context | None = None
        self._lock = Lock()

    def memories(self, sizes: Sequence[int], images: Images) -> list[BufferMemory]:
        """Return memories for arenas of these sizes, in the context of `images`."""
        with self._lock:
            if images.context != self._context:
                self._memories, self._context = [], images.context
            for i, size in enumerate(sizes):
                if i == len(self._memories):
                    self._memories.append(make_memory(images, size))
                elif self._memories[i].size < size:
                    self._memories[i] = make_memory(images, size)
            return self._memories[: len(sizes)]
