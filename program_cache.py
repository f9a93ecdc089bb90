"""The programs of a model for several sizes, which are compiled when they are first needed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock

from .compiled_model import CompiledModel

MOST_PROGRAMS = 32
"""Programs that a model keeps in memory. The least recently used ones stay in the cache on disk."""


class ProgramCache:
    """Programs by the sizes and values for which they were compiled, the last used ones last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, CompiledModel] = OrderedDict()
        self._lock = Lock()
        self._compiling = Lock()

    def all(self) -> list[CompiledModel]:
        """Return the programs."""
        with self._lock:
            return list(self._kept.values())

    def get(self, key: Hashable, make: Callable[[], CompiledModel]) -> CompiledModel:
        """Return the program for `key`; threads that need a new one wait for each other."""
        if (program := self._find(key)) is not None:
            return program
        with self._compiling:
            if (program := self._find(key)) is not None:
                return program
            program = make()
            with self._lock:
                self._kept[key] = program
                if len(self._kept) > MOST_PROGRAMS:
                    self._kept.popitem(last=False)
            return program

    def _find(self, key: Hashable) -> CompiledModel | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)
