"""Comparison of our outputs with those of another engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from xdsl.dialects.builtin import ModuleOp, f16, f32, f64
from xdsl.ir import Attribute

from ..errors import CloptError
from .inputs import Array


class OutputDifference(NamedTuple):
    """The distance between two arrays."""

    absolute: float
    """The largest difference of two elements."""
    relative: float
    """The same, divided by the largest magnitude in the reference."""


_FAR = OutputDifference(np.inf, np.inf)

_TOLERANCES: dict[Attribute, float] = {f16: 1e-2, f32: 1e-4, f64: 1e-10}
"""The relative error allowed to a model that computes with a float type, the narrowest first."""


def difference(ours: Array, reference: Array) -> OutputDifference:
    """Return the difference; infinite if types, shapes, NaNs or infinities disagree."""
    if (ours.shape, ours.dtype) != (reference.shape, reference.dtype):
        return _FAR
    if not ours.size or (ours.dtype.kind != "f" and np.array_equal(ours, reference)):
        return OutputDifference(0.0, 0.0)
    if ours.dtype.kind in "iu":
        # Python integers: 64 bits do not fit in a double, and unsigned differences wrap.
        whole = ours.astype(object) - reference.astype(object)
        absolute, scale = np.abs(whole).max(), np.abs(reference.astype(object)).max()
        return OutputDifference(float(absolute), float(absolute / max(scale, 1)))
    a, b = ours.astype(np.float64), reference.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if not np.all(same | (np.isfinite(a) & np.isfinite(b))):
        return _FAR
    absolute = float(np.max(np.abs(np.where(same, 0, a) - np.where(same, 0, b))))
    scale = float(np.max(np.abs(b), where=np.isfinite(b), initial=0.0))
    return OutputDifference(absolute, absolute / scale if scale else absolute)


def tolerance(dtype: np.dtype[Any], module: ModuleOp) -> float:
    """Return the relative error that an output of type `dtype` of a compiled module may have.

    Whole numbers and booleans must be exact. Floats may have the error of the narrowest float type
    that the module computes with, in the model or because of the precision option.
    """
    if dtype.kind != "f":
        return 0.0
    used = set(_element_types(module))
    return next((allowed for kind, allowed in _TOLERANCES.items() if kind in used), 0.0)


def _element_types(module: ModuleOp) -> Iterator[Attribute]:
    """Yield the types of all values, and of the elements of buffers, images and tensors."""
    for op in module.walk():
        blocks = (block for region in op.regions for block in region.blocks)
        for value in (*op.results, *(argument for block in blocks for argument in block.args)):
            yield getattr(value.type, "element_type", value.type)


def run_onnxruntime(model: Path | bytes, inputs: Mapping[str, Array]) -> Sequence[Array]:
    """Return the outputs of onnxruntime's CPU provider."""
    try:
        # Through importlib: onnxruntime has no types.
        onnxruntime: Any = import_module("onnxruntime")
    except ImportError as error:
        raise CloptError("--compare needs onnxruntime: pip install onnxruntime.") from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return session.run(None, dict(inputs))
