"""The program for larger sizes of a model, which also serves smaller ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .compiled_model import CompiledModel, profile_of_runs

if TYPE_CHECKING:
    from .backends.pyopencl_runtime import Bindable, CommandQueue
    from .backends.pyopencl_runtime.arrays import Array, Given, Outputs
    from .backends.pyopencl_runtime.boxes import Shapes
    from .reports.profile import Profile
    from .tensor_info import TensorInfo


@dataclass(frozen=True)
class PaddedProgram:
    """A program that computes the results for smaller inputs in the leading boxes of its outputs.

    The program must have this property (`passes.nn.restriction`). Only these boxes and those of its
    inputs are transferred.
    """

    program: CompiledModel
    shapes: Shapes
    """The shapes of the smaller inputs and outputs."""
    sizes: Mapping[str, Array]
    """The inputs that tell the program the smaller sizes, with the names of `restriction`."""

    @property
    def outputs(self) -> Sequence[TensorInfo]:
        """The outputs; their shapes are the larger ones."""
        return self.program.outputs

    def run(self, inputs: Mapping[str, Given], outputs: Outputs | None = None) -> list[Any]:
        """Run one inference, as `CompiledModel.run` does."""
        return self.program.executable.run(inputs, outputs, self.shapes, self.sizes)

    def enqueue(self, queue: CommandQueue, buffers: Mapping[str, Bindable]) -> None:
        """Enqueue one inference, as `CompiledModel.enqueue` does."""
        self.program.executable.enqueue(queue, buffers, self.shapes, self.sizes)

    def profile(self, inputs: Mapping[str, Given], runs: int) -> Profile:
        """Time each command of `runs` inferences."""
        executable = self.program.executable
        return profile_of_runs(executable, {**inputs, **self.sizes}, runs, self.shapes)
