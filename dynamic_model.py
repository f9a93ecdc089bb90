"""Models with open sizes: each inference runs the program for the sizes and values it is given."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from .compiled_model import CompiledModel
from .compiling_model import CompilingModel
from .errors import CloptError, warn
from .larger_sizes import LargerSizesSearch
from .messages.arguments import check_type
from .messages.open_dimensions import OpenModelError, OpenValuesError
from .messages.open_sequences import OpenSequencesError
from .messages.printable import printable
from .open_model import symbols_of
from .padded_program import PaddedProgram
from .ranged_compilation import RangedCompilation
from .ranged_model import RangedModel
from .sequence_model import SequenceModel
from .size_range import SizeRange
from .size_table import shapes_at
from .static_compilation import StaticCompilation

if TYPE_CHECKING:
    from .backends.pyopencl_runtime import CommandQueue
    from .backends.pyopencl_runtime.arrays import Array, Arrays

_log = logging.getLogger(__name__)


def compile_any(
    compilation: StaticCompilation, ranges: Mapping[str, SizeRange] = MappingProxyType({})
) -> CompiledModel:
    """Return the only program of a model, or a model that compiles programs for sizes it meets.

    `ranges` are those of open dimensions by name. Raises CloptError if one is not open.
    """
    try:
        compiled = compilation.run()
    except OpenSequencesError as error:
        lists = SequenceModel(compilation.pin(), error, ranges, compile_any)
        with suppress(OpenSequencesError):
            lists.stated()  # reports errors now rather than in the first inference
        return lists
    except OpenModelError as error:
        compiled = DynamicModel(compilation.pin(), error, ranges)
    unknown = [name for name in ranges if name not in symbols_of(compiled.inputs)]
    if unknown:
        raise CloptError(
            f"dims gives a range to {printable(unknown[0])}, which is no open dimension of the "
            f"model; it has: {', '.join(symbols_of(compiled.inputs)) or 'none, all are fixed'}."
        )
    return compiled


class DynamicModel(CompilingModel):
    """A model with open dimensions, or whose shapes depend on values of small inputs.

    It compiles a program for each set of sizes and values, when an inference first needs it, and
    keeps it in memory and on disk. `for_inputs` returns that program as a model of its own.
    `save` and `save_c` write programs for all sizes of its ranges.
    """

    def __init__(
        self,
        compilation: StaticCompilation,
        reason: OpenModelError,
        ranges: Mapping[str, SizeRange],
    ) -> None:
        """`reason` says what is missing for a single program; `ranges` are those of dimensions."""
        super().__init__(compilation, compilation.ports())
        self.reason = reason
        """What is missing for a single program."""
        self.values = compilation.options.values
        self._ranges = ranges
        self._larger = LargerSizesSearch(ranges, self.inputs)
        self._deciding: dict[Hashable, list[str]] = {}
        self._told = self.is_ranged and all(each.most == each.usual for each in ranges.values())

    @property
    def programs(self) -> int:
        """The number of programs that are in memory."""
        return len(self._programs.all())

    @property
    def is_ranged(self) -> bool:
        """Whether all open dimensions have a largest size, so that `save` knows all sizes."""
        symbols = symbols_of(self.inputs)
        ranges = map(self._ranges.get, symbols)
        return bool(symbols) and all(each and each.most is not None for each in ranges)

    def largest(self) -> CompiledModel:
        """Return the program for the largest sizes; raise CloptError if they are not known."""
        if not self.is_ranged:
            self._refuse()
        most = {name: self._ranges[name].most or 0 for name in symbols_of(self.inputs)}
        larger = self._larger.find(self._compilation, most)
        key, bound = self._larger.key(most, larger), self._larger.program
        return self._programs.get(
            key, lambda: self._compile(bound(self._compilation, most, larger))
        )

    def for_inputs(self, inputs: Arrays) -> CompiledModel:
        """Return the program for inputs of these sizes, which is compiled if necessary.

        Inputs whose values decide shapes are constants of the program: `CompiledModel.values` has
        them, and `CompiledModel.inputs` lacks them. The programs share their intermediate memory,
        so they take turns, as inferences of one model do.
        """
        return self._select(*self._sized(inputs), None)[0]

    def bound(self, dims: Mapping[str, int], values: Mapping[str, Array]) -> CompiledModel:
        """Return the model with these sizes and values; it is dynamic if others are open."""
        self._larger.check(dims)
        ranges = {name: each for name, each in self._ranges.items() if name not in dims}
        return compile_any(self._compilation.bound(dims, values), ranges)

    def ranged(self, ranges: Mapping[str, SizeRange] | None = None) -> RangedModel:
        """Return a model with programs for all sizes of its ranges; perhaps of other ones."""
        if not symbols_of(self.inputs):
            self._refuse()  # values decide shapes
        if containers := [printable(port.name) for port in self.outputs if port.container]:
            raise CloptError(
                f"The output {containers[0]} is a list, whose length may depend on the sizes; "
                "compile the model with fixed sizes to save it."
            )
        self._told = True  # the caller knows that it compiles
        search = self._larger if ranges is None else LargerSizesSearch(ranges, self.inputs)
        chosen = self._ranges if ranges is None else ranges

        def compiled(key: Hashable, compilation: StaticCompilation) -> CompiledModel:
            return self._programs.get(key, lambda: self._compile(compilation))

        arguments = self._compilation, search, self.inputs, self.outputs, chosen, compiled
        return RangedCompilation(*arguments).run()

    def save(self, folder: str | Path) -> None:
        """Write programs for all sizes of the ranges to `folder`, as `CompiledModel.save` does."""
        check_type("folder", folder, (str, PathLike), "the path of a folder")
        self.ranged().save(folder)

    def save_c(self, folder: str | Path, name: str = "model") -> None:
        """Write the program for the largest sizes as a C package, as `CompiledModel.save_c` does.

        It also serves the other sizes of the ranges, if they are not special.
        """
        check_type("folder", folder, (str, PathLike), "the path of a folder")
        ranges = {name: replace(each, usual=each.most) for name, each in self._ranges.items()}
        chosen = None if ranges == self._ranges else ranges  # None reuses proofs
        self.ranged(chosen).save_c(folder, name)

    def _refuse(self) -> NoReturn:
        raise CloptError(
            f"The model has one program for each {self.reason.programs()}, or take the program for "
            "some inputs by model.for_inputs(inputs)."
        )

    def _check(self, dims: Mapping[str, int]) -> None:
        self._larger.check(dims)

    def _serve(
        self,
        given: Mapping[str, Any],
        dims: Mapping[str, int],
        targets: Iterable[object] = (),
        queue: CommandQueue | None = None,
    ) -> tuple[CompiledModel | PaddedProgram, Mapping[str, Any]]:
        self._settle()
        if (program := self._larger_program(dims, targets)) is not None:
            return program, given
        return self._select(given, dims, queue)

    def _larger_program(
        self, dims: Mapping[str, int], targets: Iterable[object]
    ) -> PaddedProgram | None:
        """Return the program for larger sizes that serves these, too; None if it is unsuitable.

        It does not write to an image of the caller, because that has the size of the results.
        """
        from .backends.pyopencl_runtime.inputs import has_image

        if has_image(targets):
            return None
        with self._lock:
            compilation, programs = self._compilation, self._programs
        try:
            if (larger := self._larger.find(compilation, dims)) is None:
                return None
            key, bound = self._larger.key(dims, larger), self._larger.program
            program = programs.get(key, lambda: self._compile(bound(compilation, dims, larger)))
            if larger.value is not None:
                program = program.restricted(larger.value)
            shapes = shapes_at(self.inputs, program.outputs, dims, larger.restriction.shapes)
            return PaddedProgram(program, shapes, larger.restriction.inputs)
        except CloptError as error:  # values decide shapes, or the device is too small for it
            _log.debug("sizes %s are not rounded up: %s", dims, error)
            self._larger.keep_exact(dims)
            return None

    def _select(
        self, given: Mapping[str, Any], dims: Mapping[str, int], queue: CommandQueue | None
    ) -> tuple[CompiledModel, dict[str, Any]]:
        """Return the program for these sizes and values, and what it takes of the inputs."""
        from .backends.pyopencl_runtime.inputs import host_copy

        sizes, ranged = tuple(dims.items()), self._larger.ranged
        while True:
            with self._lock:
                compilation, programs = self._compilation, self._programs
                deciding = self._deciding.setdefault(sizes, self._decided_elsewhere())
            values = {
                port.name: host_copy(port, given[port.name], queue or compilation.place.queue)
                for port in self.inputs
                if port.name in deciding
            }
            contents = tuple((name, each.shape, each.tobytes()) for name, each in values.items())
            try:
                program = programs.get(
                    (sizes, contents),
                    lambda: self._compile(
                        compilation.bound(dims, values, None if values else ranged(dims))
                    ),
                )
            except OpenValuesError as error:
                with self._lock:
                    new = [name for name in error.inputs if name not in deciding]
                    self._deciding[sizes] = [*deciding, *new]
                if not new:
                    raise
            else:
                return program, {n: each for n, each in given.items() if n not in values}

    def _decided_elsewhere(self) -> list[str]:
        """Return the inputs whose values decided shapes for other sizes."""
        return list(dict.fromkeys(name for names in self._deciding.values() for name in names))

    def _compile(self, compilation: StaticCompilation) -> CompiledModel:
        program = compilation.run()
        program.weights.share(self._arrays)
        if not self._told:
            self._told = True
            warn(f"clopt compiles the model for each new {self.reason.programs()}.")
        return program
