"""The limits of a model: the size of its tensors, and the work to import and fold it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.utils.exceptions import VerifyException

from .types import Tensor, numpy_dtype

MAX_BYTES = 1 << 32
"""The memory of the largest tensor that an operation may compute: 4 GiB."""

MAX_RANK = 32
"""The most dimensions of a tensor; every numpy can hold so many."""

MAX_COMPUTED = 1 << 30
"""The most bytes computed while compiling: by one evaluation, including its intermediate arrays,
and by an import for all constants together.
"""

MAX_STEPS = 100_000
"""The most nodes and operations of a model after all functions are inlined and loops unrolled.
"""


def check_size(type: Tensor) -> None:
    """Raise a VerifyException, one sentence, if a tensor of this type is too large."""
    shape = type.get_shape()
    if len(shape) > MAX_RANK:
        raise VerifyException(f"a tensor has {MAX_RANK} dimensions at most, this one {len(shape)}")
    if _stretch(shape) * numpy_dtype(type.element_type).itemsize > MAX_BYTES:
        text = "x".join(map(str, shape))
        raise VerifyException(
            f"a tensor of {text} elements of {type.element_type} is larger than the limit of "
            f"{MAX_BYTES >> 30} GiB; use smaller dimensions"
        )


def check_computed(size: int) -> None:
    """Raise a VerifyException, one sentence, if `size` bytes are too many to compute."""
    if size > MAX_COMPUTED:
        raise VerifyException(
            "with it, the constants that are computed while compiling take more than the limit of "
            f"{MAX_COMPUTED >> 30} GiB; make them inputs or initialisers of the model"
        )


def _stretch(shape: Sequence[int]) -> int:
    """The elements of a shape with empty dimensions counted as 1, as numpy's own limit does."""
    return math.prod(max(n, 1) for n in shape)
