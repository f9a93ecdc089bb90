"""Quantisation of a float network with calibration data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp
from xdsl.ir import SSAValue

from .context import CloptContext
from .dialects import nn
from .errors import CloptError
from .options import Quantization
from .passes.nn.quantization.histogram import RANGES, Histogram
from .passes.nn.quantization.plan import plan_of, site_names
from .passes.nn.quantization.scales import set_ranges
from .passes.nn.quantize import NNQuantizePass
from .passes.pipelines import run_pipeline
from .reports.quantization import QuantizationReport, QuantizedValue

Array = np.ndarray[Any, np.dtype[Any]]
Arrays = Mapping[str, Array]
Run = Callable[[Sequence[Array]], Sequence[Array]]
"""Runs one inference."""


def quantize(
    module: ModuleOp,
    ctx: CloptContext,
    asked: Quantization,
    prepare: Callable[[ModuleOp], Run],
    shifts: bool,
) -> QuantizationReport | None:
    """Simplify and quantise a module of one network in place; return the report, if requested.

    `prepare` compiles a module that runs on the samples. With `shifts`, scales are powers of two.
    """
    run_pipeline(ctx, module, "simplify")
    networks = nn.entries_of(module)
    if len(networks) != 1:
        raise CloptError(f"quantize needs a module with one network; this one has {len(networks)}.")
    (function,) = networks
    nn.name_parameters(function)
    per_channel = asked.form == "int8-per-channel"
    samples = asked.arrays()
    exact: Run | None = None
    if asked.report or asked.reads_samples:
        exact = prepare(_observed(module, _sites))
    if exact is not None and asked.reads_samples:
        set_ranges(function, _ranges(function, exact, samples, asked.ranges))
    pass_ = NNQuantizePass(per_channel=per_channel, shifts=shifts)
    report = None
    if exact is not None and asked.report:
        copy = _observed(module, lambda network: pass_.quantize(network, ctx.weights))
        report = _compare(function, exact, prepare(copy), samples, _scales(copy))
    pass_.quantize(function, ctx.weights)
    return report


def _sites(function: func.FuncOp) -> Sequence[SSAValue]:
    return plan_of(function).sites


def _names(function: func.FuncOp) -> list[str]:
    return site_names(function, plan_of(function))


def _observed(module: ModuleOp, observe: Callable[[func.FuncOp], Sequence[SSAValue]]) -> ModuleOp:
    """Copy a module of one network so that it also returns the values that `observe` finds."""
    copy = module.clone()
    (function,) = nn.entries_of(copy)
    values = observe(function)
    last = function.body.block.last_op
    assert isinstance(last, func.ReturnOp)
    last.operands = [*last.operands, *values]
    type_ = function.function_type
    results = [*type_.outputs, *(value.type for value in values)]
    function.function_type = FunctionType.from_lists(list(type_.inputs), results)
    attrs = list(function.res_attrs or [])
    function.res_attrs = ArrayAttr([*attrs, *([DictionaryAttr({})] * len(values))])
    nn.name_parameters(function)
    return copy


def _batches(function: func.FuncOp, data: Arrays) -> Iterator[list[Array]]:
    """Yield the inputs of each inference: consecutive parts of each array, along axis 0.

    The last part is filled up with the first samples.
    """
    count = len(function.args)
    names = nn.parameter_names(function)[:count]
    for name in data:
        if name not in names:
            raise CloptError(
                f"calibration: the model has no input {name}, only {', '.join(names)}."
            )
    counts: dict[str, int] = {}
    for name, value in zip(names, function.args, strict=True):
        type_ = nn.tensor_type(value)
        shape, dtype = type_.get_shape(), nn.numpy_dtype(type_.element_type)
        if name not in data:
            raise CloptError(f"calibration: the array for the input {name} is missing.")
        array = data[name]
        fits = array.ndim == len(shape) and array.shape[1:] == shape[1:] and array.dtype == dtype
        if not shape or not fits or not len(array):
            text = " x ".join(map(str, ("n", *shape[1:])))
            raise CloptError(
                f"calibration: {name} takes arrays of {dtype} and shape {text}, where n is at "
                f"least 1, not {array.dtype} of {list(array.shape)}."
            )
        counts[name] = -(-len(array) // shape[0])
    if len(set(counts.values())) > 1:
        text = ", ".join(f"{count} for {name}" for name, count in counts.items())
        raise CloptError(f"calibration: the arrays hold different numbers of batches: {text}.")
    sizes = [nn.shape_of(value)[0] for value in function.args]
    for i in range(next(iter(counts.values()), 0)):
        yield [
            np.take(data[name], range(i * size, (i + 1) * size), 0, mode="wrap")
            for name, size in zip(names, sizes, strict=True)
        ]


def _ranges(function: func.FuncOp, run: Run, samples: Arrays, method: str) -> dict[str, float]:
    """Return the range of each site, computed by a method."""
    names = _names(function)
    histograms = [Histogram() for _ in names]
    for inputs in _batches(function, samples):
        values = run(inputs)
        for histogram, value in zip(histograms, values[len(values) - len(names) :], strict=True):
            histogram.add(value)
    range_of = RANGES[method]
    return {name: range_of(each) for name, each in zip(names, histograms, strict=True)}


def _scales(observed: ModuleOp) -> list[float]:
    """Return the scale of each site; the module returns the dequantised values of the sites."""
    (function,) = nn.entries_of(observed)
    last = function.body.block.last_op
    backs = [value.owner for value in last.operands] if last else []
    scales = [nn.constant_value(op.scale) for op in backs if isinstance(op, nn.DequantizeOp)]
    return [float(scale) for scale in scales if scale is not None]


def _compare(
    function: func.FuncOp, exact: Run, found: Run, samples: Arrays, scales: Sequence[float]
) -> QuantizationReport:
    """Return the errors over all samples: sites by their names, then results."""
    results = nn.parameter_names(function)[len(function.args) :]
    sites = [
        QuantizedValue(name, scale) for name, scale in zip(_names(function), scales, strict=True)
    ]
    rows = [*(QuantizedValue(name) for name in results), *sites]
    for inputs in _batches(function, samples):
        for row, wanted, got in zip(rows, exact(inputs), found(inputs), strict=True):
            row.add(wanted, got)
    return QuantizationReport([*sites, *rows[: len(results)]])
