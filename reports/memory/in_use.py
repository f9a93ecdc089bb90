"""The memory that a device holds for the programs of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .values import MemoryReport

if TYPE_CHECKING:
    from ...compiled_model import CompiledModel


@dataclass(frozen=True)
class MemoryInUse:
    """Bytes on the device. Programs for several sizes share constants and arenas."""

    programs: tuple[MemoryReport, ...]
    """The report of each program that is on the device."""
    arenas: int
    constants: int

    @property
    def total(self) -> int:
        """Everything that the device holds, as in `MemoryReport.total`."""
        own = (each.separate_bytes + each.graph_weights for each in self.programs)
        ports = (each.inputs + each.outputs for each in self.programs)
        return self.arenas + self.constants + sum(own) + sum(ports)


def memory_in_use(programs: Sequence[CompiledModel]) -> MemoryInUse:
    """Return the memory of programs on their device, which stays allocated between inferences."""
    arenas = {id(each): each.size for program in programs for each in program.executable.arena}
    weights = {
        key: program.weights.get(key) for program in programs for key in program.weights.keys()
    }
    return MemoryInUse(
        tuple(program.memory for program in programs),
        sum(arenas.values()),
        sum(array.nbytes for array in weights.values()),
    )
