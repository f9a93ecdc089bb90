"""Comparing our outputs with those of another engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import CloptError
from .inputs import Array


class Difference(NamedTuple):
    """How far two arrays are apart."""

    absolute: float
    """The largest difference of two elements."""
    relative: float
    """The same, divided by the largest magnitude in the reference."""


def difference(ours: Array, reference: Array) -> Difference:
    """The difference of two arrays; infinite when shapes, NaNs or infinities do not agree."""
    if ours.shape != reference.shape:
        return Difference(np.inf, np.inf)
    if not ours.size:
        return Difference(0.0, 0.0)
    a, b = ours.astype(np.float64), reference.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if not np.all(same | (np.isfinite(a) & np.isfinite(b))):
        return Difference(np.inf, np.inf)
    absolute = float(np.max(np.abs(np.where(same, 0, a) - np.where(same, 0, b))))
    scale = float(np.max(np.abs(b), where=np.isfinite(b), initial=0.0))
    return Difference(absolute, absolute / scale if scale else absolute)


def run_onnxruntime(model: Path, inputs: Mapping[str, Array]) -> Sequence[Array]:
    """The outputs of onnxruntime's CPU provider."""
    try:
        # Through importlib: onnxruntime has no types.
        onnxruntime: Any = import_module("onnxruntime")
    except ImportError as error:
        raise CloptError("--compare needs onnxruntime: pip install onnxruntime.") from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return session.run(None, dict(inputs))
