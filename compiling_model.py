"""Common base class of open models that compile programs when inferences first need them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from .open_model import OpenModel
from .program_cache import ProgramCache
from .static_compilation import StaticCompilation

if TYPE_CHECKING:
    from .backends.pyopencl_runtime.arrays import Array
    from .compiled_model import CompiledModel
    from .tensor_info import TensorInfo


class CompilingModel(OpenModel):
    """A model with open sizes or lengths, whose programs share a device, constants and arenas."""

    def __init__(
        self,
        compilation: StaticCompilation,
        ports: tuple[Sequence[TensorInfo], Sequence[TensorInfo]],
    ) -> None:
        """`ports` are the inputs and outputs that the model declares."""
        super().__init__(*ports)
        self.origin = compilation.origin
        self._compilation = compilation
        self._programs = ProgramCache()
        self._arrays: WeakValueDictionary[str, Array] = WeakValueDictionary()
        self._lock = Lock()

    def __repr__(self) -> str:
        return self._text(len(self._programs.all()), "so far")

    @property
    def remarks(self) -> tuple[str, ...]:
        """The remarks of the programs compiled so far, without duplicates."""
        remarks = (remark for each in self._programs.all() for remark in each.remarks)
        return tuple(dict.fromkeys(remarks))

    def _compiled(self) -> list[CompiledModel]:
        return [program for each in self._programs.all() for program in each._compiled()]

    def _settle(self) -> None:
        """Choose the device, context and queue that all programs share."""
        with self._lock:
            place = self._compilation.place
            if place.queue is None:
                self._compilation = replace(self._compilation, place=place.chosen())
                self._programs = ProgramCache()
