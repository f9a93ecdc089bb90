"""The contents of a compiled model: its program as a module or as text, kernels, and weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from .backends.stored_program import StoredProgram
    from .description import Description
    from .dialects.cl import ProgramOp
    from .tensor_info import TensorInfo
    from .weights import Weights


class Contents(Protocol):
    """The contents of a compiled model."""

    @property
    def inputs(self) -> list[TensorInfo]: ...
    @property
    def outputs(self) -> list[TensorInfo]: ...
    @property
    def weights(self) -> Weights: ...
    @property
    def target_name(self) -> str: ...
    @property
    def accelerators(self) -> Sequence[str]:
        """The accelerators that compute a part of the network."""
        ...

    @property
    def module(self) -> ModuleOp: ...
    @property
    def program(self) -> ProgramOp: ...
    @property
    def source(self) -> str: ...
    @property
    def remarks(self) -> tuple[str, ...]: ...
    @property
    def description(self) -> Description: ...
    @property
    def stored(self) -> StoredProgram:
        """The same contents as text and plain data."""
        ...


class ModuleContents:
    """A compiled module and its weights."""

    def __init__(self, module: ModuleOp, weights: Weights, source: str | None = None) -> None:
        """`source` is the OpenCL C of the kernels if `module` only declares them."""
        from .backends.programs import program_of
        from .dialects.cl import graphs_in, target_of
        from .tensor_info import TensorInfo

        self._module = module
        self._program = program_of(module)
        self._source = source
        self.weights = weights
        self.inputs = [TensorInfo.of(port) for port in self._program.input_ports]
        self.outputs = [TensorInfo.of(port) for port in self._program.output_ports]
        self.target_name = target_of(module).name
        graphs = graphs_in(self._program).values()
        self.accelerators = sorted({graph.ACCELERATOR for graph in graphs})

    @property
    def module(self) -> ModuleOp:
        return self._module

    @property
    def program(self) -> ProgramOp:
        return self._program

    @property
    def source(self) -> str:
        if self._source is None:
            from .backends.offload import source_of

            self._source = source_of(self._module)
        return self._source

    @property
    def remarks(self) -> tuple[str, ...]:
        from .dialects.remarks import remarks_of

        return remarks_of(self._module)

    @property
    def description(self) -> Description:
        from .backends.describe import describe

        return describe(self._module, self.source)

    @property
    def stored(self) -> StoredProgram:
        from .backends.describe_launches import describe_launches
        from .backends.saved_model import program_text
        from .backends.stored_program import StoredProgram

        return StoredProgram(
            tuple(self.inputs),
            tuple(self.outputs),
            describe_launches(self._module, self.weights),
            self.source,
            program_text(self._module),
            self.target_name,
            self.remarks,
            tuple(self.accelerators),
        )


class TextContents:
    """A stored model, which reads everything that needs IR on demand."""

    def __init__(
        self,
        stored: StoredProgram,
        weights: Weights,
        compile_again: Callable[[], ModuleOp | None] = lambda: None,
    ) -> None:
        self.stored = stored
        self._compile_again = compile_again
        self.weights = weights
        self.source = stored.source
        self.inputs = list(stored.inputs)
        self.outputs = list(stored.outputs)
        self.remarks = stored.remarks
        self.target_name = stored.target
        self.accelerators = stored.accelerators

    @property
    def module(self) -> ModuleOp:
        """The module, compiled again; if that is impossible, its declarations."""
        return self._compiled or self.declared

    @cached_property
    def _compiled(self) -> ModuleOp | None:
        return self._compile_again()

    @property
    def program(self) -> ProgramOp:
        from .backends.programs import program_of

        return program_of(self.declared)

    @property
    def description(self) -> Description:
        from .backends.describe import describe

        return describe(self.declared, self.source)

    @cached_property
    def declared(self) -> ModuleOp:
        """The program with declarations of its kernels."""
        from .context import CloptContext
        from .messages.source import Source, SourceModule

        text = Source("the stored program", self.stored.program)
        return SourceModule.parse(CloptContext(), text).module


def module_of(program: ProgramOp) -> ModuleOp:
    """Return the module that contains a program."""
    from xdsl.dialects.builtin import ModuleOp

    module = program.parent_op()
    assert isinstance(module, ModuleOp)
    return module
