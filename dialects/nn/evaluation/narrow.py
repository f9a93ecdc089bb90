"""Conversions from and to element types that tensors only store, in numpy."""

from __future__ import annotations

from typing import cast

import numpy as np
from xdsl.dialects.builtin import Float4E2M1FNType, IntegerType, bf16
from xdsl.ir import Attribute

from ...narrow import is_narrow, is_narrow_integer, wide_type
from ..types import Array, element_type, numpy_dtype


def widened(array: Array) -> Array:
    """Return narrow elements in a type that computes, exactly; other arrays are unchanged."""
    element = element_type(array.dtype)
    return array.astype(numpy_dtype(wide_type(element))) if is_narrow(element) else array


def converted(array: Array, to: Attribute, unsaturated: bool) -> Array:
    """Return an array converted like `nn.cast`."""
    wide, dtype = widened(array), numpy_dtype(to)
    if not is_narrow(to):
        return wide.astype(dtype)
    if is_narrow_integer(to):
        whole = wide.astype(np.int64) if wide.dtype.kind == "f" else wide
        return (whole.astype(np.uint8) & (1 << cast("IntegerType", to).bitwidth) - 1).view(dtype)
    single = wide.astype(np.float32)
    if to == bf16 or (unsaturated and not isinstance(to, Float4E2M1FNType)):
        return single.astype(dtype)
    import ml_dtypes

    largest = float(ml_dtypes.finfo(dtype).max)  # pyright: ignore[reportUnknownMemberType,reportUnknownArgumentType]
    return np.clip(single, -largest, largest).astype(dtype)
