"""Outputs with a size that only the device knows: the program returns room for the largest one.

Such an output has its bound as shape, and the program has another output, a scalar of int64, with
the number of valid elements along one axis. Its name consists of the output's name, `.size(` and
the axis, for example `boxes.size(0)`. `CompiledModel.run` returns only the elements that count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .errors import CloptError
from .messages.printable import printable

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from .backends.pyopencl_runtime import Runnable
    from .backends.pyopencl_runtime.arrays import Arrays, Outputs
    from .tensor_info import TensorInfo

_COUNT = re.compile(r"(.*)\.size\((\d+)\)", re.DOTALL)


class ComputedSize(NamedTuple):
    """The axis of an output whose size the program computes, and the output that has the size."""

    axis: int
    source: str


def count_name(name: str, axis: int) -> str:
    """Return the name of the output with the size of another output along an axis."""
    return f"{name}.size({axis})"


def has_computed_sizes(module: ModuleOp) -> bool:
    """Return whether a network has outputs with the sizes of other ones."""
    from .dialects.nn import networks_of, parameter_names

    names = [name for network in networks_of(module) for name in parameter_names(network)]
    return any(match[1] in names for name in names if (match := _COUNT.fullmatch(name)))


class OutputSizes:
    """The outputs of a program as users see them: with sizes of their own instead of the bounds."""

    def __init__(self, ports: Sequence[TensorInfo]) -> None:
        """`ports` are all outputs of the program."""
        names = {port.name for port in ports}
        matches = [match for port in ports if (match := _COUNT.fullmatch(port.name))]
        self._sizes = {
            match[1]: ComputedSize(int(match[2]), match[0])
            for match in matches
            if match[1] in names
        }
        counts = {size.source for size in self._sizes.values()}
        self.public = [self._opened(port) for port in ports if port.name not in counts]
        """The outputs without the counts; a shape has -1 where the program computes the size."""

    def _opened(self, port: TensorInfo) -> TensorInfo:
        if port.name not in self._sizes:
            return port
        axis, rank = self._sizes[port.name].axis, len(port.shape)
        shape = tuple(-1 if i == axis else size for i, size in enumerate(port.shape))
        symbols = tuple(f"{port.name}.{axis}" if i == axis else "" for i in range(rank))
        return replace(port, shape=shape, symbols=symbols)

    def run(self, executable: Runnable, inputs: Arrays, outputs: Outputs | None) -> list[Any]:
        """Run one inference, and return the parts of the outputs that count."""
        if not self._sizes:
            return executable.run(inputs, outputs)
        if isinstance(outputs, Mapping):
            for name in outputs:
                if name in self._sizes:
                    raise CloptError(
                        f'The size of the output "{printable(name)}" depends on values, so no '
                        "array can be given for it; name it in a list to get a new array."
                    )
            return executable.run(inputs, outputs)
        names = [port.name for port in self.public] if outputs is None else list(outputs)
        counts = [self._sizes[name].source for name in dict.fromkeys(names) if name in self._sizes]
        wanted = list(dict.fromkeys([*names, *counts]))
        found = dict(zip(wanted, executable.run(inputs, wanted), strict=True))
        return [self._counted(name, found) for name in names]

    def _counted(self, name: str, found: Mapping[str, Any]) -> Any:
        """Return the elements of an output that count."""
        if name not in self._sizes:
            return found[name]
        axis, source = self._sizes[name]
        part = (slice(None),) * axis + (slice(int(found[source])),)
        return np.ascontiguousarray(found[name][part])
