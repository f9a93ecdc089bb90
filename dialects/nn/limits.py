"""Limits of a model: the size of its tensors, and the work to import and fold it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.utils.exceptions import VerifyException

from .types import Tensor, numpy_dtype

MAX_BYTES = 1 << 32
"""Bytes of the largest tensor that an operation may compute: 4 GiB."""

MAX_RANK = 32
"""Largest rank of a tensor; all numpy versions support it (NumPy 2 raised the limit to 64)."""

MAX_COMPUTED = 1 << 30
"""Bytes computed at compile time, at most.

The limit applies to one evaluation with its intermediate arrays, and to all constants that an
import computes together.
"""

MAX_STEPS = 100_000
"""Nodes and operations of a model, at most, after functions are inlined and loops unrolled."""


def check_size(type: Tensor) -> None:
    """Raise VerifyException, one sentence, if a tensor of this type is too large."""
    shape = type.get_shape()
    if len(shape) > MAX_RANK:
        raise VerifyException(
            f"a tensor must have at most {MAX_RANK} dimensions but has {len(shape)}"
        )
    if _stretch(shape) * numpy_dtype(type.element_type).itemsize > MAX_BYTES:
        text = "x".join(map(str, shape))
        raise VerifyException(
            f"a tensor of {text} elements of {type.element_type} is larger than the limit of "
            f"{MAX_BYTES >> 30} GiB; use smaller dimensions"
        )


def check_computed(size: int) -> None:
    """Raise VerifyException, one sentence, if `size` bytes are too many to compute."""
    if size > MAX_COMPUTED:
        raise VerifyException(
            "with it, the constants computed at compile time exceed the limit of "
            f"{MAX_COMPUTED >> 30} GiB; make them inputs or initialisers of the model"
        )


def _stretch(shape: Sequence[int]) -> int:
    """Return the elements of a shape with empty dimensions counted as 1, as numpy's limit does."""
    return math.prod(max(n, 1) for n in shape)
