"""Models with open sizes: each inference runs the program for the sizes and values it is given."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, overload
from weakref import WeakValueDictionary

from .compiled_model import CompiledModel
from .errors import CloptError, warn
from .larger_sizes import LargerSizes, LargerSizesSearch
from .messages.open_dimensions import OpenModelError, OpenValuesError
from .messages.printable import printable
from .padded_program import PaddedProgram
from .size_range import SizeRange
from .static_compilation import StaticCompilation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .backends.pyopencl_runtime import Bindable, CommandQueue
    from .backends.pyopencl_runtime.arrays import Array, Arrays, Given, Outputs
    from .model_contents import Contents
    from .reports.profile import Profile
    from .tensor_info import TensorInfo

_log = logging.getLogger(__name__)

_T = TypeVar("_T", bound="Given")

MOST_PROGRAMS = 32
"""Programs that a model keeps in memory. The least recently used ones stay in the cache on disk."""


def compile_any(
    compilation: StaticCompilation, ranges: Mapping[str, SizeRange] = MappingProxyType({})
) -> CompiledModel:
    """Return the only program of a model, or a model that compiles programs for sizes it meets.

    `ranges` are those of open dimensions by name. Raises CloptError if one is not open.
    """
    try:
        compiled = compilation.run()
    except OpenModelError as error:
        compiled = DynamicModel(compilation.pin(), error, ranges)
    unknown = [name for name in ranges if name not in _symbols(compiled.inputs)]
    if unknown:
        raise CloptError(
            f"dims gives a range to {printable(unknown[0])}, which is no open dimension of the "
            f"model; it has: {', '.join(_symbols(compiled.inputs)) or 'none, all are fixed'}."
        )
    return compiled


def _symbols(ports: Sequence[TensorInfo]) -> list[str]:
    return list(dict.fromkeys(symbol for port in ports for symbol in port.symbols if symbol))


class DynamicModel(CompiledModel):
    """A model with open dimensions, or whose shapes depend on values of small inputs.

    It compiles a program for each set of sizes and values, when an inference first needs it, and
    keeps it in memory and on disk. `for_inputs` returns that program as a model of its own.
    Everything that concerns one program, such as `save`, raises CloptError here.

    The shapes of `inputs` and `outputs` have -1 for open sizes.
    """

    def __init__(
        self,
        compilation: StaticCompilation,
        reason: OpenModelError,
        ranges: Mapping[str, SizeRange],
    ) -> None:
        """`reason` says what is missing for a single program; `ranges` are those of dimensions."""
        self.reason = reason
        """What is missing for a single program."""
        self.inputs, self.outputs = map(list, compilation.ports())
        self.fallback = None
        self.values = compilation.options.values
        self.quantization = None
        self.origin = compilation.origin
        self.decisions = None
        self._compilation = compilation
        self._refusal = None
        self._make_executable = self._refuse
        self._programs = _Programs()
        self._ranges = ranges
        self._larger = LargerSizesSearch(ranges, self.inputs)
        self._deciding: dict[Hashable, list[str]] = {}
        self._arrays: WeakValueDictionary[str, Array] = WeakValueDictionary()
        self._told = False
        self._lock = Lock()

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(map(str, ports)) for ports in (self.inputs, self.outputs))
        count = self.programs
        programs = f"{count} program{'' if count == 1 else 's'} so far"
        return f"DynamicModel({inputs} -> {outputs}; {programs})"

    @property
    def programs(self) -> int:
        """The number of programs that are in memory."""
        return len(self._programs.all())

    @property
    def contents(self) -> Contents:
        """Raise CloptError: there is no single program."""
        self._refuse()

    @property
    def remarks(self) -> tuple[str, ...]:
        """The remarks of the programs compiled so far, without duplicates."""
        remarks = (remark for each in self._programs.all() for remark in each.remarks)
        return tuple(dict.fromkeys(remarks))

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

    @overload
    def run(self, inputs: Arrays, outputs: Sequence[str] | None = None) -> list[Array]: ...
    @overload
    def run(self, inputs: Arrays, outputs: Mapping[str, _T]) -> list[_T]: ...
    def run(self, inputs: Arrays, outputs: Outputs | None = None) -> list[Any]:
        """Run one inference on the program for these inputs, as `CompiledModel.run` does."""
        self._settle()
        program, given = self._serve(inputs, outputs)
        return program.run(given, outputs)

    def profile(self, inputs: Arrays | None = None, runs: int = 10) -> Profile:
        """Time each command of `runs` inferences of the program for these inputs."""
        if inputs is None:
            raise CloptError(
                "A profile of a model with open sizes needs inputs: model.profile(inputs)."
            )
        self._settle()
        program, given = self._serve(inputs)
        return program.profile(given, runs)

    def enqueue(self, queue: CommandQueue, buffers: Mapping[str, Bindable]) -> None:
        """Enqueue one inference of the program for these arrays on the caller's in-order queue.

        Inputs with open sizes are arrays of pyopencl, because buffers have no shape. The call waits
        for inputs whose values decide shapes.
        """
        self._settle()
        names = {port.name for port in self.inputs}
        inputs = {name: each for name, each in buffers.items() if name in names}
        rest = {name: each for name, each in buffers.items() if name not in names}
        given, dims = self._sized(inputs)
        program = self._larger_program(dims, rest.values())
        if program is None:
            program, given = self._select(given, dims, queue)
        program.enqueue(queue, {**given, **rest})

    def _refuse(self) -> NoReturn:
        raise CloptError(
            f"The model has one program for each {self.reason.programs()}, or take the program for "
            "some inputs by model.for_inputs(inputs)."
        )

    def _settle(self) -> None:
        """Choose the device, context and queue that all programs share."""
        with self._lock:
            place = self._compilation.place
            if place.queue is None:
                self._compilation = replace(self._compilation, place=place.chosen())
                self._programs = _Programs()

    def _serve(
        self, inputs: Arrays, outputs: Outputs | None = None
    ) -> tuple[CompiledModel | PaddedProgram, dict[str, Any]]:
        """Return what serves an inference, and what it takes of the inputs.

        It is a program for larger sizes if that computes the results, too.
        """
        given, dims = self._sized(inputs)
        targets = outputs.values() if isinstance(outputs, Mapping) else ()
        if (program := self._larger_program(dims, targets)) is not None:
            return program, given
        return self._select(given, dims, None)

    def _sized(self, inputs: Arrays) -> tuple[dict[str, Any], dict[str, int]]:
        """Return the inputs by name and their open sizes; raise CloptError if they do not fit."""
        from .backends.pyopencl_runtime.inputs import sized_inputs

        given = sized_inputs(self.inputs, inputs)
        dims = _sizes(self.inputs, given)
        self._larger.check(dims)
        return given, dims

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
            program = programs.get(
                larger.key, lambda: self._compile(self._bound(compilation, larger))
            )
            if larger.value is not None:
                program = program.restricted(larger.value)
            shapes = {port.name: port.shape_at(dims) for port in self.inputs}
            names = (port.name for port in self.outputs)
            shapes |= zip(names, larger.restriction.shapes, strict=True)
            return PaddedProgram(program, shapes, larger.restriction.inputs)
        except CloptError as error:  # values decide shapes, or the device is too small for it
            _log.debug("sizes %s are not rounded up: %s", dims, error)
            self._larger.keep_exact(dims)
            return None

    def _bound(self, compilation: StaticCompilation, larger: LargerSizes) -> StaticCompilation:
        """Return the compilation of a program for larger sizes."""
        ranged = self._larger.ranged(larger.dims)
        return compilation.bound(larger.dims, {}, ranged, larger.restriction.changes)

    def _select(
        self, given: Mapping[str, Any], dims: Mapping[str, int], queue: CommandQueue | None
    ) -> tuple[CompiledModel, dict[str, Any]]:
        """Return the program for these sizes and values, and what it takes of the inputs."""
        from .backends.pyopencl_runtime.inputs import host_copy

        sizes = tuple(dims.items())
        while True:
            with self._lock:
                compilation, programs = self._compilation, self._programs
                deciding = self._deciding.setdefault(sizes, self._decided_elsewhere())
            values = {
                port.name: host_copy(port, given[port.name], queue or compilation.place.queue)
                for port in self.inputs
                if port.name in deciding
            }
            ranged = None if values else self._larger.ranged(dims)
            contents = tuple((name, each.shape, each.tobytes()) for name, each in values.items())
            try:
                program = programs.get(
                    (sizes, contents),
                    lambda: self._compile(compilation.bound(dims, values, ranged)),
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


def _sizes(ports: Sequence[TensorInfo], given: Mapping[str, Given]) -> dict[str, int]:
    """Return the sizes of the open dimensions of the inputs."""
    sizes: dict[str, int] = {}
    sources: dict[str, str] = {}
    for port in ports:
        shape: tuple[int, ...] = getattr(given[port.name], "shape", ())
        for symbol, size in zip(port.symbols, shape, strict=False):
            if not symbol:
                continue
            if sizes.setdefault(symbol, size) != size:
                raise CloptError(
                    f'The dimension {printable(symbol)} is {sizes[symbol]} in "{sources[symbol]}" '
                    f'and {size} in "{port.name}"; pass arrays of the same size.'
                )
            sources.setdefault(symbol, port.name)
    return sizes


class _Programs:
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
