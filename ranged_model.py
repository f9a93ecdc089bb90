"""Models with a program for each size of their ranges, which can be saved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NoReturn

from .backends.pyopencl_runtime.shared_arenas import SharedArenas
from .compiled_model import CompiledModel, make_model, write_c
from .errors import CloptError
from .messages.arguments import check_type
from .open_model import OpenModel
from .padded_program import PaddedProgram
from .size_table import Sizes, SizeTable

if TYPE_CHECKING:
    from .backends.pyopencl_runtime import CommandQueue
    from .backends.pyopencl_runtime.arrays import Arrays
    from .backends.saved_model import SavedPlan
    from .backends.saved_sizes import SavedSizes
    from .options import Place


MOST_SAVED = 32
"""Programs of a saved model, each of which takes as long to compile as one for fixed sizes."""


class RangedModel(OpenModel):
    """A model with a program for every size of its ranges.

    `clopt.load` returns one for a folder that `DynamicModel.save` wrote, which compiles nothing.
    """

    def __init__(self, table: SizeTable, programs: Sequence[Callable[[], CompiledModel]]) -> None:
        """`programs` make the programs of the table; each is called once, when it is needed."""
        super().__init__(table.inputs, table.outputs)
        self.table = table
        self._make = programs
        self._made: dict[int, CompiledModel] = {}
        self._padded: dict[Sizes, PaddedProgram] = {}
        self._lock = Lock()

    @classmethod
    def of_saved(
        cls, saved: SavedSizes, libraries: Mapping[str, str], place: Place, use_cache: bool
    ) -> RangedModel:
        """Return a saved model, as `make_model` does. All programs share a queue and arenas."""
        place = place.chosen()
        if place.arena is None:
            place = replace(place, arena=SharedArenas())

        def make(parse: Callable[[], list[SavedPlan]]) -> CompiledModel:
            return make_model(parse(), saved.weights, libraries, place, use_cache)

        return cls(saved.table, [partial(make, parse) for parse in saved.programs])

    def __repr__(self) -> str:
        return self._text(self.table.programs, f"for {self.table.served}")

    def program_at(self, number: int) -> CompiledModel:
        """Return a program of the table."""
        with self._lock:
            if number not in self._made:
                self._made[number] = self._make[number]()
            return self._made[number]

    def largest(self) -> CompiledModel:
        """Return the program for the largest sizes; raise CloptError if they are not known."""
        return self.program_at(0)

    def _compiled(self) -> list[CompiledModel]:
        with self._lock:
            return list(self._made.values())

    @property
    def remarks(self) -> tuple[str, ...]:
        """The remarks of all programs, without duplicates."""
        programs = map(self.program_at, range(self.table.programs))
        return tuple(dict.fromkeys(remark for each in programs for remark in each.remarks))

    def program_for(self, inputs: Arrays) -> CompiledModel:
        """Return the program that serves inputs of these sizes, perhaps one for larger sizes."""
        return self.program_at(self.table.row(self._sized(inputs)[1]).program)

    def prepare(self) -> None:
        """Prepare the program for the largest sizes, whose memory the others share."""
        self.program_at(0).prepare()

    def for_inputs(self, inputs: Arrays) -> CompiledModel:
        """Return the program for inputs of these sizes alone; raise CloptError if there is none."""
        _, dims = self._sized(inputs)
        row = self.table.row(dims)
        if row.shapes is not None:
            raise CloptError(
                "These sizes have no program of their own: one for larger sizes serves them."
            )
        return self.program_at(row.program)

    def save(self, folder: str | Path) -> None:
        """Write all programs to `folder`, as `CompiledModel.save` does."""
        from .backends.saved_sizes import save_ranged

        check_type("folder", folder, (str, PathLike), "the path of a folder")
        self._check_count()
        save_ranged(Path(folder), self.table, [*map(self.program_at, range(self.table.programs))])

    def save_c(self, folder: str | Path, name: str = "model") -> None:
        """Write the program for the largest sizes as `CompiledModel.save_c` does.

        The package takes all sizes that this program serves.
        """
        check_type("folder", folder, (str, PathLike), "the path of a folder")
        write_c(self.program_at(0), Path(folder), name, self.table)

    def _check_count(self) -> None:
        """Raise CloptError if the model needs too many programs to save them all."""
        if (count := self.table.programs) > MOST_SAVED:
            ranges = self.table.ranges.items()
            usual = ", ".join(f'"{name}": {(r.least, r.most, r.most)}' for name, r in ranges)
            raise CloptError(
                f"The sizes of the ranges take {count} programs, and a saved model has at most "
                f"{MOST_SAVED}; let one serve as many as it can, by dims={{{usual}}}, or narrow "
                "the ranges."
            )

    def _check(self, dims: Mapping[str, int]) -> None:
        self.table.row(dims)

    def _serve(
        self,
        given: Mapping[str, Any],
        dims: Mapping[str, int],
        targets: Iterable[object] = (),
        queue: CommandQueue | None = None,
    ) -> tuple[CompiledModel | PaddedProgram, Mapping[str, Any]]:
        row = self.table.row(dims)
        program = self.program_at(row.program)
        if row.shapes is None:
            return program, given
        key = tuple(dims.values())
        if key not in self._padded:
            smaller = program if row.value is None else program.restricted(row.value)
            shapes, sizes = self.table.shapes(dims, row), self.table.inputs_of(row)
            self._padded[key] = PaddedProgram(smaller, shapes, sizes)
        return self._padded[key], given

    def _refuse(self) -> NoReturn:
        raise CloptError(
            "The model has programs for several sizes of its inputs, and this concerns one; "
            "compile it with fixed sizes."
        )
