"""Exporters of PyTorch networks with open dimensions, and rewrites of what they wrote.

A rewrite is a form that onnxruntime stores: optimised at one of its levels, or quantised.
"""

from __future__ import annotations

import contextlib
import io
import logging
import random
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnxruntime import quantization
from open_networks import Draw, OpenNetwork
from torch import nn

_OPSET = 18


@dataclass(frozen=True)
class OpenModel:
    """A model that is written to a file, and its inputs for sizes that `draw` returns."""

    write: Callable[[Path], None]
    inputs: Callable[[Draw], Mapping[str, np.ndarray]]


Exporter = Callable[[OpenNetwork, nn.Module, Path], None]
"""Writes a network to a file."""


def dynamo(network: OpenNetwork, module: nn.Module, path: Path) -> None:
    """Export with symbolic shapes, by `torch.export`."""
    inputs = network.inputs(lambda least, most: least + 1)
    shapes = tuple(
        {axis: torch.export.Dim.DYNAMIC for axis in _open_axes(network, name, tensor.ndim)}
        for name, tensor in inputs.items()
    )
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    torch.onnx.export(
        module,
        tuple(inputs.values()),
        str(path),
        input_names=list(inputs),
        dynamic_shapes=shapes,
        dynamo=True,
        external_data=False,
        verbose=False,
    )


def torchscript(network: OpenNetwork, module: nn.Module, path: Path) -> None:
    """Export a trace, by the exporter that PyTorch had first."""
    inputs = network.inputs(lambda least, most: least + 1)
    axes = {
        name: {axis: f"{name}_{axis}" for axis in _open_axes(network, name, tensor.ndim)}
        for name, tensor in inputs.items()
    }
    torch.onnx.export(
        module,
        tuple(inputs.values()),
        str(path),
        input_names=list(inputs),
        dynamic_axes=axes,
        dynamo=False,
        opset_version=_OPSET,
    )


def _open_axes(network: OpenNetwork, name: str, rank: int) -> Iterator[int]:
    return (axis for axis in range(rank) if f"{name}.{axis}" not in network.fixed)


def optimised(
    level: str, export: Exporter, network: OpenNetwork, module: nn.Module, path: Path
) -> None:
    """Store the graph that onnxruntime runs, at one of its levels of optimisation."""
    export(network, module, path)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = getattr(
        onnxruntime.GraphOptimizationLevel, f"ORT_ENABLE_{level}"
    )
    options.optimized_model_filepath = str(path)
    onnxruntime.InferenceSession(path.read_bytes(), options, providers=["CPUExecutionProvider"])


def dynamic(export: Exporter, network: OpenNetwork, module: nn.Module, path: Path) -> None:
    """Quantise the weights, and activations by their range in each inference."""
    export(network, module, path)
    # onnxruntime's products of 8 bits saturate on processors without VNNI; those of 7 are exact.
    quantization.quantize_dynamic(_without_shapes(path), path, reduce_range=True)


def static(
    form: str, export: Exporter, network: OpenNetwork, module: nn.Module, path: Path
) -> None:
    """Quantise by the ranges of two samples, in one of onnxruntime's formats."""
    export(network, module, path)
    rng = random.Random(0)
    samples = iter([{name: each.numpy() for name, each in network.inputs(rng.randint).items()}] * 2)

    class Samples(quantization.CalibrationDataReader):
        def get_next(self) -> dict[str, np.ndarray] | None:
            return next(samples, None)

    quantization.quantize_static(
        _without_shapes(path),
        path,
        Samples(),
        quant_format=quantization.QuantFormat[form],
        per_channel=True,
        reduce_range=True,
    )


def _without_shapes(path: Path) -> onnx.ModelProto:
    """Return a model without the shapes of intermediate results, which its quantiser infers."""
    model = onnx.load(path)
    del model.graph.value_info[:]
    return model


EXPORTERS: dict[str, Exporter] = {
    "dynamo": dynamo,
    "TorchScript": torchscript,
    "basic": partial(optimised, "BASIC", dynamo),
    "extended": partial(optimised, "EXTENDED", dynamo),
    "all": partial(optimised, "ALL", dynamo),
    "dynamic int8": partial(dynamic, dynamo),
    "QDQ": partial(static, "QDQ", dynamo),
    "QOperator": partial(static, "QOperator", dynamo),
}


def exported(network: OpenNetwork, exporter: str) -> OpenModel:
    """Return a network with seeded weights as a model that an exporter writes."""

    def write(path: Path) -> None:
        torch.manual_seed(0)
        torch.backends.mha.set_fastpath_enabled(False)  # TorchScript exports no fused layers
        module = network.build().eval()
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), torch.no_grad():
            warnings.simplefilter("ignore")
            EXPORTERS[exporter](network, module, path)

    def inputs(draw: Draw) -> dict[str, np.ndarray]:
        return {name: each.numpy() for name, each in network.inputs(draw).items()}

    return OpenModel(write, inputs)
