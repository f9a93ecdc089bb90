"""The numpy types of `ml_dtypes`, which is imported only for models that have them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np


@cache
def narrow_dtype(name: str) -> np.dtype[Any]:
    """Return a numpy type that ml_dtypes adds, such as "bfloat16"."""
    import ml_dtypes  # takes 8 ms

    return np.dtype(getattr(ml_dtypes, name))


def dtype_named(name: str) -> np.dtype[Any]:
    """Return the type whose `name` this is; numpy knows only its own types by name."""
    try:
        return np.dtype(name)
    except TypeError:
        return narrow_dtype(name)
