"""Whether plans that are faster alone are faster inside of their network."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from statistics import median
from typing import Any

import numpy as np

from ..compiled_model import CompiledModel
from ..dialects import cl, tir

_ROUNDS = 9
_RUNS = 3

Times = Mapping[str, float]
"""Microseconds of all launches of a kernel in an inference, those of its parts included."""


def compared(first: CompiledModel, second: CompiledModel) -> tuple[Times, Times]:
    """The times of the kernels of two programs of one network, which take turns."""
    models = first, second
    inputs = [_inputs(model) for model in models]
    found: list[defaultdict[str, list[float]]] = [defaultdict(list), defaultdict(list)]
    for _ in range(_ROUNDS):
        for model, arrays, times in zip(models, inputs, found, strict=True):
            for name, value in _times(model, arrays).items():
                times[name].append(value)
    before, after = ({name: median(v) for name, v in times.items()} for times in found)
    return before, after


def _times(model: CompiledModel, arrays: Mapping[str, Any]) -> Times:
    kernels = {op.sym_name.data: op for op in model.module.ops if isinstance(op, tir.FuncOp)}
    runs = model.executable.profile(arrays, _RUNS)
    found: defaultdict[str, float] = defaultdict(float)
    for i, command in enumerate(cl.enqueued(model.executable.program)):
        if isinstance(command, cl.EnqueueKernelOp):
            func = kernels.get(command.kernel_name)
            whole = None if func is None or func.part_of is None else func.part_of.data
            found[whole or command.kernel_name] += median(r[i].nanoseconds for r in runs) / 1e3
    return found


def _inputs(model: CompiledModel) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {
        port.name: rng.standard_normal(port.shape).astype(port.dtype)
        if port.dtype.kind == "f"
        else np.zeros(port.shape, port.dtype)
        for port in model.inputs
    }
