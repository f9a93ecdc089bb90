"""Quantised networks on VTA: the part that it computes, equal results, and their error.

    python benchmarks/vta_networks.py [--device pocl] [--folder FOLDER]

The digits network has trained weights; it is calibrated on 120 images and asked about the 240
others. ResNet-18 has random weights and noise as its images. Each runs in floats, as int8 by our
kernels, and as int8 with VTA, on our OpenCL core. It writes results/vta_networks.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import prod
from pathlib import Path
from time import perf_counter

import models
import numpy as np
import onnx
from provenance import measured
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

import clopt
from clopt.backends.pyopencl_runtime.devices import find_device
from clopt.backends.vta.binaries import read_binary
from clopt.backends.vta.machine_model import time_stream
from clopt.context import CloptContext
from clopt.dialects import nn
from clopt.dialects.cl import set_target, target_of
from clopt.dialects.vta import BinaryOp
from clopt.frontends.onnx import import_onnx
from clopt.passes.nn.quantize import NNQuantizePass
from clopt.passes.pipelines import run_pipeline

HERE = Path(__file__).parent
RESULT = HERE / "results" / "vta_networks.md"
DIGITS = HERE.parent / "examples" / "digits"
BATCH = 60
HEAD = """# Quantised networks on VTA

{origin}.
Multiply-adds are those of the model's convolutions and products. `equal` are the results of VTA and
of our kernels, bit by bit; `error` is the distance from the float network, root mean square over
that of the result; `top-1` the share of inputs whose largest result is at the same place. Cycles
are by the machine model of `vta_cycles.py`. Times are from numpy to numpy, the least of five.

| network | multiply-adds on VTA | graphs | instructions | cycles | equal | error | top-1 \
| ms, float | int8 | VTA |
|---|---|---|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Network:
    """A model, samples for its calibration, and inputs for its evaluation."""

    path: Path
    samples: np.ndarray
    inputs: np.ndarray
    dims: Mapping[str, int]

    @property
    def batch(self) -> int:
        """Images per inference."""
        return self.dims.get("batch", 1)

    @property
    def name(self) -> str:
        """The name of the model's input."""
        return onnx.load(self.path, load_external_data=False).graph.input[0].name

    def compile(self, device: str, quantize: str | None, vta: str) -> clopt.CompiledModel:
        """Return the model in one form."""
        make = partial(clopt.compile, self.path, dims=self.dims, device=device, vta=vta)
        if quantize is None:
            return make()
        return make(quantize=clopt.Quantization(quantize, {self.name: self.samples}))

    def run(self, model: clopt.CompiledModel) -> tuple[np.ndarray, float]:
        """Return the results for all inputs, and the minimum time of an inference in seconds."""
        parts = np.split(self.inputs, len(self.inputs) // self.batch)
        results = np.concatenate([model.run([part])[0] for part in parts])
        times: list[float] = []
        for _ in range(5):
            start = perf_counter()
            model.run([parts[0]])
            times.append(perf_counter() - start)
        return results, min(times)


def networks(folder: Path) -> dict[str, Network]:
    """Return the rows of the table."""
    with np.load(DIGITS / "held_out.npz") as data:
        images = data["images"][:, None].astype(np.float32) / 16
    noise = np.random.default_rng(0).standard_normal((24, 3, 224, 224)).astype(np.float32)
    digits = Network(DIGITS / "digits.onnx", images[:120], images[120:], {"batch": BATCH})
    resnet = Network(models.export("resnet18", folder=folder), noise[:4], noise[4:], {})
    return {"digits, batch 60": digits, "ResNet-18": resnet}


def multiply_adds(module: ModuleOp) -> int:
    """Return the multiply-adds of convolutions and matrix products."""

    def size(value: SSAValue) -> int:
        return prod(nn.shape_of(value))

    total = 0
    for op in module.walk():
        if isinstance(op, nn.ConvOp):
            total += size(op.results[0]) * prod(nn.shape_of(op.w)[1:])
        elif isinstance(op, nn.MatmulOp):
            rows = nn.shape_of(op.a)
            total += size(op.results[0]) * rows[-1 if op.transpose_a is None else -2]
    return total


def share_of(network: Network, compiled: clopt.CompiledModel) -> float:
    """Return the share of a network's multiply-adds that VTA computes."""
    context = CloptContext()
    module = import_onnx(network.path, context.weights, network.dims)
    set_target(module, target_of(compiled.module))
    run_pipeline(context, module, "simplify")
    total = multiply_adds(module)
    NNQuantizePass().apply(context, module)
    run_pipeline(context, module, "fuse")
    return 1 - multiply_adds(module) / total


def line(name: str, network: Network, device: str) -> str:
    """Return the row of a network."""
    forms = ((None, "off"), ("int8", "off"), ("int8", "prefer"))
    compiled = [network.compile(device, *form) for form in forms]
    (exact, seconds), (ours, of_kernels), (theirs, on_vta) = map(network.run, compiled)
    last = compiled[-1]
    binaries = [op for op in last.module.ops if isinstance(op, BinaryOp)]
    streams = [read_binary(op, last.weights).instructions for op in binaries]
    cycles = sum(
        time_stream(stream, op.config).cycles for stream, op in zip(streams, binaries, strict=True)
    )
    error = np.sqrt(np.mean((theirs - exact) ** 2) / np.mean(exact**2))
    agree = (theirs.argmax(1) == exact.argmax(1)).mean()
    cells = (
        name,
        f"{share_of(network, last):.2%}",
        f"{len(binaries)}",
        f"{sum(map(len, streams)):,}",
        f"{cycles:,.0f}",
        "yes" if np.array_equal(ours, theirs) else "no",
        f"{error:.3f}",
        f"{agree:.1%}",
        *(f"{1e3 * each:.1f}" for each in (seconds, of_kernels, on_vta)),
    )
    return f"| {' | '.join(cells)} |\n"


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--folder", type=Path, default=models.CACHE, help="of exported networks")
    arguments = parser.parse_args()
    text = HEAD.format(origin=measured(str(find_device(arguments.device))))
    for name, network in networks(arguments.folder).items():
        text += line(name, network, arguments.device)
        print(text.splitlines()[-1], flush=True)
    RESULT.write_text(text)


if __name__ == "__main__":
    main()
