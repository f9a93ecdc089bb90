"""Common base class of models with open dimensions, each of whose inferences chooses a program."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, overload

from .compiled_model import CompiledModel
from .errors import CloptError
from .messages.printable import printable

if TYPE_CHECKING:
    from .backends.pyopencl_runtime import Bindable, CommandQueue
    from .backends.pyopencl_runtime.arrays import Array, Arrays, Given, Outputs
    from .model_contents import Contents
    from .padded_program import PaddedProgram
    from .reports.profile import Profile
    from .tensor_info import TensorInfo

_T = TypeVar("_T", bound="Given")


class OpenModel(CompiledModel):
    """A model with open dimensions. The shapes of `inputs` and `outputs` have -1 for open sizes.

    Whatever concerns one program, such as `source`, raises CloptError here.
    """

    def __init__(self, inputs: Sequence[TensorInfo], outputs: Sequence[TensorInfo]) -> None:
        self.inputs, self.outputs = list(inputs), list(outputs)
        self.fallback = None
        self.values = {}
        self.quantization = None
        self.origin = None
        self.decisions = None
        self._refusal = None
        self._make_executable = self._refuse

    @property
    def contents(self) -> Contents:
        """Raise CloptError: there is no single program."""
        self._refuse()

    def _text(self, programs: int, purpose: str) -> str:
        """Return the model as text with the number of its programs."""
        inputs, outputs = (", ".join(map(str, ports)) for ports in (self.inputs, self.outputs))
        count = f"{programs} program{'' if programs == 1 else 's'}"
        return f"{type(self).__name__}({inputs} -> {outputs}; {count} {purpose})"

    @abstractmethod
    def for_inputs(self, inputs: Arrays) -> CompiledModel:
        """Return the program for inputs of these sizes."""

    @overload
    def run(self, inputs: Arrays, outputs: Sequence[str] | None = None) -> list[Array]: ...
    @overload
    def run(self, inputs: Arrays, outputs: Mapping[str, _T]) -> list[_T]: ...
    def run(self, inputs: Arrays, outputs: Outputs | None = None) -> list[Any]:
        """Run one inference on a program for these inputs, as `CompiledModel.run` does."""
        targets = outputs.values() if isinstance(outputs, Mapping) else ()
        program, given = self._serve(*self._sized(inputs), targets)
        return program.run(given, outputs)

    def profile(self, inputs: Arrays | None = None, runs: int = 10) -> Profile:
        """Time each command of `runs` inferences of a program for these inputs."""
        if inputs is None:
            raise CloptError(
                "A profile of a model with open sizes needs inputs: model.profile(inputs)."
            )
        program, given = self._serve(*self._sized(inputs))
        return program.profile(given, runs)

    def enqueue(
        self,
        queue: CommandQueue,
        buffers: Mapping[str, Bindable],
        dims: Mapping[str, int] | None = None,
    ) -> None:
        """Enqueue one inference of a program for these arrays on the caller's in-order queue.

        The shapes of arrays of pyopencl tell the open sizes. `dims` states sizes by name; inputs
        without other open sizes may then be buffers, or whole caches that outputs overwrite. The
        call waits for inputs whose values decide shapes.
        """
        names = {port.name for port in self.inputs}
        inputs = {name: each for name, each in buffers.items() if name in names}
        rest = {name: each for name, each in buffers.items() if name not in names}
        program, given = self._serve(*self._sized(inputs, dims or {}), rest.values(), queue)
        program.enqueue(queue, {**given, **rest})

    def serve(
        self, inputs: Arrays, targets: Iterable[object] = ()
    ) -> tuple[CompiledModel | PaddedProgram, Mapping[str, Any]]:
        """Return what serves an inference, and its inputs; `targets` is memory for outputs."""
        return self._serve(*self._sized(inputs), targets)

    def _sized(
        self, inputs: Arrays, stated: Mapping[str, int] = MappingProxyType({})
    ) -> tuple[dict[str, Any], dict[str, int]]:
        """Return the inputs by name and their open sizes; raise CloptError if they do not fit.

        Inputs whose sizes are all `stated` may have another shape.
        """
        from .backends.pyopencl_runtime.inputs import sized_inputs

        symbols = symbols_of(self.inputs)
        for name in stated:
            if name not in symbols:
                raise CloptError(
                    f"dims gives a size to {printable(name)}, which is no open dimension of the "
                    f"model; it has: {', '.join(symbols)}."
                )
        given = sized_inputs(self.inputs, inputs, stated)
        told = [port for port in self.inputs if not port.is_stated(stated)]
        sizes = {**_sizes(told, given), **stated}
        dims = {name: sizes[name] for name in symbols}
        self._check(dims)
        return given, dims

    @abstractmethod
    def _check(self, dims: Mapping[str, int]) -> None:
        """Raise CloptError for sizes that the model does not take."""

    @abstractmethod
    def _serve(
        self,
        given: Mapping[str, Any],
        dims: Mapping[str, int],
        targets: Iterable[object] = (),
        queue: CommandQueue | None = None,
    ) -> tuple[CompiledModel | PaddedProgram, Mapping[str, Any]]:
        """Return what serves an inference, and what it takes of the inputs.

        `targets` are the caller's memory for outputs. Inputs are read by `queue`, if it is given.
        """

    @abstractmethod
    def _refuse(self) -> NoReturn:
        """Raise CloptError: there is no single program."""
        raise NotImplementedError


def symbols_of(ports: Sequence[TensorInfo]) -> list[str]:
    """Return the names of the open dimensions."""
    return list(dict.fromkeys(symbol for port in ports for symbol in port.symbols if symbol))


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
