"""The program for larger sizes of a model, which also serves smaller ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from .backends.pyopencl_runtime.arrays import Array, Outputs
    from .compiled_model import CompiledModel
    from .reports.profile import Profile


@dataclass(frozen=True)
class PaddedProgram:
    """A program that computes the results for smaller inputs in the leading boxes of its outputs.

    The program must have this property (`passes.nn.restriction`). Its inputs have zeros outside of
    the given arrays, so that indices stay within their range.
    """

    program: CompiledModel
    shapes: Mapping[str, Sequence[int]]
    """The shapes of the outputs for the smaller inputs."""

    def run(self, inputs: Mapping[str, Array], outputs: Outputs | None = None) -> list[Any]:
        """Run one inference, as `CompiledModel.run` does for arrays of the host."""
        if isinstance(outputs, Mapping):
            targets = self._checked_targets(outputs)
            for target, box in zip(targets, self._boxes(inputs, list(outputs)), strict=True):
                np.copyto(target, box)
            return [*outputs.values()]
        # `ascontiguousarray` would add an axis to an array without axes.
        return [np.asarray(box, order="C") for box in self._boxes(inputs, outputs)]

    def _boxes(self, inputs: Mapping[str, Array], outputs: Sequence[str] | None) -> list[Array]:
        """Run one inference, and return the parts of the outputs that the caller sees."""
        results = self.program.run(self._padded(inputs), outputs)
        names = [port.name for port in self.program.outputs] if outputs is None else outputs
        return [
            result[tuple(map(slice, self.shapes[name]))]
            for name, result in zip(names, results, strict=True)
        ]

    def profile(self, inputs: Mapping[str, Array], runs: int) -> Profile:
        """Time each command of `runs` inferences."""
        return self.program.profile(self._padded(inputs), runs)

    def _checked_targets(self, outputs: Mapping[str, Any]) -> list[Array]:
        """Return the caller's arrays for outputs; raise CloptError for other types or shapes."""
        from .backends.pyopencl_runtime.inputs import checked_targets

        ports = [
            replace(port, shape=tuple(self.shapes[port.name])) for port in self.program.outputs
        ]
        targets = checked_targets(dict(enumerate(ports)), outputs)
        return [cast("Array", target) for target in targets.values()]

    def _padded(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        return {port.name: padded(inputs[port.name], port.shape) for port in self.program.inputs}


def padded(array: Array, shape: Sequence[int]) -> Array:
    """Return a copy of an array with zeros after its ends."""
    if array.shape[1:] != tuple(shape[1:]):
        larger = np.zeros(shape, array.dtype)
        larger[tuple(map(slice, array.shape))] = array
        return larger
    if array.shape == tuple(shape):
        return array
    larger = np.empty(shape, array.dtype)  # zeroing all of it would take longer
    larger[: len(array)] = array
    larger[len(array) :] = 0
    return larger
