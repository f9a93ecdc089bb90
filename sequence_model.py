"""Models whose inputs or outputs are sequences, optionals or maps: lists, None or dictionaries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, cast

from .compiled_model import CompiledModel
from .compiling_model import CompilingModel
from .errors import CloptError
from .maps import maps_of, values_of
from .messages.arguments import check_type, type_name
from .messages.open_sequences import OpenSequencesError
from .messages.printable import printable
from .open_model import OpenModel, symbols_of
from .sequence_inputs import containers_of, element_sizes, stated_elements
from .size_range import SizeRange
from .static_compilation import StaticCompilation
from .tensor_info import (
    OPTIONAL,
    OPTIONAL_SEQUENCE,
    SEQUENCE,
    Ranks,
    TensorInfo,
    element_names,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from .backends.pyopencl_runtime import Bindable, CommandQueue
    from .backends.pyopencl_runtime.arrays import Arrays, Given, Outputs
    from .model_contents import Contents
    from .padded_program import PaddedProgram


class SequenceModel(CompilingModel):
    """A model that takes or returns lists, dictionaries, or None for an optional that is absent.

    A program is for one length of each sequence, and has an input `seq_0`, `seq_1`, ... for each
    element. In place of a map or a list of maps it has a tensor with a column for each key. The
    model compiles a program when an inference first needs it. If `dims` states all lengths, the
    members that concern one program, such as `save`, use the program for these.
    """

    def __init__(
        self,
        compilation: StaticCompilation,
        reason: OpenSequencesError,
        ranges: Mapping[str, SizeRange],
        compile_flat: Callable[[StaticCompilation, Mapping[str, SizeRange]], CompiledModel],
    ) -> None:
        """`compile_flat` compiles a model whose elements are known."""
        self._dims, self._ranges = dict(compilation.options.dims or {}), dict(ranges)
        super().__init__(compilation, compilation.with_elements(None, {}).ports())
        self.reason = reason
        """The lengths that are missing for a single program."""
        self._compile_flat = compile_flat
        self._lists = {port.name for port in (*self.inputs, *self.outputs) if port.container}
        self._make_executable = lambda: self.stated().executable
        self._check_names()

    @property
    def contents(self) -> Contents:
        """The program for the stated lengths as data."""
        return self.stated().contents

    def largest(self) -> CompiledModel:
        """Return the program for the largest sizes; raise CloptError if they are not known."""
        return self.stated().largest()

    def stated(self) -> CompiledModel:
        """Return the model for the lengths in `dims`, whose inputs and outputs are tensors.

        Raises OpenSequencesError if a length is missing.
        """
        return self._flat(stated_elements(self.inputs, self._dims))

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Raise CloptError: its programs can be pickled and copied, but not their choice."""
        raise CloptError(
            "A model of sequences, optionals or maps cannot be pickled or copied; pickle the "
            "program for some inputs, model.for_inputs(inputs), which takes and returns tensors."
        )

    def for_inputs(self, inputs: Arrays) -> CompiledModel:
        """Return the program for these inputs, whose inputs and outputs are tensors."""
        elements, tensors = self._split(inputs)
        flat = self._flat(elements)
        return flat.for_inputs(tensors) if isinstance(flat, OpenModel) else flat

    def run(self, inputs: Arrays, outputs: Outputs | None = None) -> list[Any]:
        """Run one inference, as `CompiledModel.run` does, with lists of arrays for sequences."""
        from .backends.pyopencl_runtime.inputs import checked_names

        if isinstance(outputs, Mapping):
            return self._fill(inputs, outputs)
        if outputs is not None:
            checked_names(dict(enumerate(self.outputs)), outputs)
        program, given = self.serve(inputs)
        named = self._tensors_of(program.outputs, outputs)
        flat = list(dict.fromkeys(each for names in named.values() for each in names))
        found = dict(zip(flat, program.run(given, flat), strict=True))
        wanted = [port.name for port in self.outputs] if outputs is None else outputs
        return [self._packed(name, named[name], found) for name in wanted]

    def _fill(self, inputs: Arrays, outputs: Mapping[str, Given]) -> list[Any]:
        """Run one inference, and return the caller's arrays for outputs that are tensors."""
        if lists := [name for name in outputs if name in self._lists]:
            raise CloptError(
                f'The output "{printable(lists[0])}" is a list, so no array can be given for it; '
                "name it in a list of names to get new arrays."
            )
        program, given = self.serve(inputs, outputs.values())
        return program.run(given, outputs)

    def enqueue(
        self,
        queue: CommandQueue,
        buffers: Mapping[str, Bindable],
        dims: Mapping[str, int] | None = None,
    ) -> None:
        """Raise CloptError: memory of the caller belongs to the inputs of a program."""
        raise CloptError(
            "A sequence has no memory of its own; enqueue the program for some inputs, "
            "model.for_inputs(inputs), which has a tensor for each element."
        )

    def save(self, folder: str | Path) -> None:
        """Write the program for the stated lengths, as `CompiledModel.save` does."""
        check_type("folder", folder, (str, PathLike), "the path of a folder")
        self.stated().save(folder)

    def save_c(self, folder: str | Path, name: str = "model") -> None:
        """Write the program for the stated lengths, as `CompiledModel.save_c` does."""
        check_type("folder", folder, (str, PathLike), "the path of a folder")
        self.stated().save_c(folder, name)

    def _check_names(self) -> None:
        """Raise CloptError for ranges of lengths, and for names that the model does not have."""
        lists = [port.name for port in containers_of(self.inputs)]
        known = [*symbols_of(self.inputs), *lists]
        for name in (*self._dims, *self._ranges):
            is_element = any(name.startswith(f"{each}_") for each in lists)
            if name not in known and not is_element:
                raise CloptError(
                    f"dims names {printable(name)}, which is neither an open dimension nor a "
                    f"sequence of the model; it has: {', '.join(map(printable, known)) or 'none'}."
                )
            if name in lists and name in self._ranges:
                raise CloptError(
                    f"dims gives a range to the length of {printable(name)}; state one length, or "
                    "leave it out to pass lists of any length."
                )

    def _flat(self, elements: Mapping[str, Ranks]) -> CompiledModel:
        """Return the model for these elements, which is compiled if necessary."""
        with self._lock:
            compilation = self._compilation

        def make() -> CompiledModel:
            dims = element_sizes(self.inputs, elements, self._dims)
            ranges = element_sizes(self.inputs, elements, self._ranges)
            flat = self._compile_flat(compilation.with_elements(elements, dims), ranges)
            if not isinstance(flat, OpenModel):
                flat.weights.share(self._arrays)
            return flat

        return self._programs.get(tuple(elements.items()), make)

    def _split(self, inputs: Arrays) -> tuple[dict[str, Ranks], dict[str, Any]]:
        """Return the ranks of the elements that a user passes, and all tensors by name."""
        from .backends.pyopencl_runtime.inputs import named_inputs

        given = named_inputs(self.inputs, inputs)
        elements: dict[str, Ranks] = {}
        tensors: dict[str, Any] = {}
        for port in self.inputs:
            if port.keys or not port.container:
                value = given[port.name]
                tensors[port.name] = values_of(port, value) if port.keys else value
                continue
            arrays = _elements_of(port, given[port.name])
            elements[port.name] = None if arrays is None else tuple(len(a.shape) for a in arrays)
            self._check_length(port, len(arrays or ()))
            names = element_names(port.name, port.container, len(arrays or ()))
            tensors |= zip(names, arrays or (), strict=True)
        return elements, tensors

    def _check_length(self, port: TensorInfo, length: int) -> None:
        """Raise CloptError if `dims` states another length; that of an optional is 0 or 1."""
        stated = self._dims.get(port.name, length)
        if stated == length:
            return
        given = f"has the length {length}"
        if port.container == OPTIONAL:
            given = "is present" if length else "is absent"
        raise CloptError(
            f'The input "{printable(port.name)}" {given}, but dims states {stated}; pass what it '
            "states, or compile the model without this length."
        )

    def _sized(
        self, inputs: Arrays, stated: Mapping[str, int] = MappingProxyType({})
    ) -> tuple[dict[str, Any], dict[str, int]]:
        """Return the inputs by name; their sizes are those of other models."""
        from .backends.pyopencl_runtime.inputs import named_inputs

        return dict(named_inputs(self.inputs, inputs)), {}

    def _check(self, dims: Mapping[str, int]) -> None:
        """Accept all sizes, which other models check."""

    def _serve(
        self,
        given: Mapping[str, Any],
        dims: Mapping[str, int],
        targets: Iterable[object] = (),
        queue: CommandQueue | None = None,
    ) -> tuple[CompiledModel | PaddedProgram, Mapping[str, Any]]:
        self._settle()
        elements, tensors = self._split(given)
        flat = self._flat(elements)
        return flat.serve(tensors, targets) if isinstance(flat, OpenModel) else (flat, tensors)

    def _tensors_of(
        self, ports: Sequence[TensorInfo], outputs: Iterable[str] | None
    ) -> dict[str, list[str]]:
        """Return the outputs of a program, which are `ports`, for each output that is wanted."""
        declared = {port.name: port.container for port in self.outputs}
        free = {port.name for port in ports} - {n for n, each in declared.items() if not each}
        found: dict[str, list[str]] = {}
        for name in declared if outputs is None else outputs:
            container = declared[name]
            names = element_names(name, container, len(ports))
            found[name] = [*takewhile(free.__contains__, names)] if container else [name]
        return found

    def _packed(self, name: str, tensors: Sequence[str], found: Mapping[str, Any]) -> Any:
        """Return an output as users see it: an array, a list of arrays or dictionaries, or None."""
        port = next(port for port in self.outputs if port.name == name)
        container = port.container
        arrays = [found[each] for each in tensors]
        if port.keys:
            return maps_of(port, arrays[0])
        if container == SEQUENCE or (container == OPTIONAL_SEQUENCE and arrays):
            return arrays
        return arrays[0] if arrays else None

    def _refuse(self) -> NoReturn:
        raise self.reason


def _elements_of(port: TensorInfo, value: Any) -> list[Any] | None:
    """Return the arrays that a user hands to an input; None for an optional that is absent."""
    if value is None and port.container != SEQUENCE:
        return None
    if port.container == OPTIONAL:
        return [_shaped(port, port.name, value)]
    if not isinstance(value, list | tuple):
        form = f"{port.container}, so it takes a list of arrays"
        is_optional = port.container == OPTIONAL_SEQUENCE
        raise CloptError(
            f'The input "{port.name}" is {"an" if is_optional else "a"} {form}'
            f"{' or None' if is_optional else ''}, not {type_name(value)}."
        )
    values = cast("Sequence[object]", value)
    names = element_names(port.name, port.container, len(values))
    return [_shaped(port, name, each) for name, each in zip(names, values, strict=True)]


def _shaped(port: TensorInfo, name: str, value: Any) -> Any:
    """Return an element with a shape; raise CloptError if its rank is not the declared one."""
    from .backends.pyopencl_runtime.inputs import as_array

    if value is None:
        raise CloptError(f'The input "{name}" is None; pass an array.')
    port = replace(port, name=name)
    given = value if hasattr(value, "shape") else as_array("input", port, value)
    if port.is_ranked and len(given.shape) != len(port.shape):
        shape = "x".join(map(str, given.shape)) or "()"
        raise CloptError(
            f'The array for "{name}" has the shape {shape}, but the model takes {port.open_shape}.'
        )
    return given
