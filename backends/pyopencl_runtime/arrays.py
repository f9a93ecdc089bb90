"""The types of the arrays, buffers and images that callers hand to an inference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import pyopencl as cl
import pyopencl.array as cla

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

DeviceMemory: TypeAlias = "cl.Buffer | cla.Array"
"""Bytes of a caller's: a buffer, or an array of pyopencl's, with its offset in one."""

Bindable: TypeAlias = "DeviceMemory | cl.Image"
"""What a caller may bind to an input or output."""

PortMemory: TypeAlias = "cl.Buffer | cl.Image"
"""The memory object of an input or output."""


class DLPack(Protocol):
    """An array of another library, such as a tensor of torch."""

    @property
    def __dlpack__(self) -> Callable[..., Any]: ...


Given: TypeAlias = "Array | DLPack | Bindable"
"""The contents of an input, or the place for an output."""

GivenList: TypeAlias = "Given | Sequence[Given] | None"
"""The contents of an input, perhaps of a sequence, or of an optional that is absent."""

Arrays: TypeAlias = Mapping[str, GivenList] | Sequence[GivenList]
"""The contents of the inputs, by name or in order."""

Outputs: TypeAlias = Mapping[str, Given] | Sequence[str]
"""The outputs to return: where the caller wants them, or their names alone."""
