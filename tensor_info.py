"""The description of a model's inputs and outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .dialects.cl.program import Port
from .dialects.nn.types import numpy_dtype


@dataclass(frozen=True)
class TensorInfo:
    """The name, shape and numpy type of an input or an output."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, port: Port) -> TensorInfo:
        """The public form of a program's parameter."""
        return cls(port.name, port.shape, numpy_dtype(port.element_type))

    def __str__(self) -> str:
        return f"{self.name}: {describe(self.shape, self.dtype)}"


def describe(shape: Sequence[int], dtype: np.dtype[Any]) -> str:
    """`1x3x224x224 float32`, for messages and tables."""
    return f"{'x'.join(map(str, shape)) or 'scalar'} {dtype.name}"
