"""Compare networks imported as linalg from torch-mlir with the same networks from ONNX.

    pip install 'iree-base-compiler[onnx]==3.13.0'
    python benchmarks/linalg.py resnet18 unet --size 64 --device pocl

The networks are those of `models.py`. Each is compiled from both forms; then the two take turns,
so that the ratio means something on a busy machine. The times are those of the processor.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import quantiles
from typing import Any

import models
import numpy as np

import clopt

TORCH = (
    "--torch-onnx-to-torch-backend-pipeline",
    "--torch-backend-to-linalg-on-tensors-backend-pipeline",
)
NAMES = (
    "resnet18",
    "mobilenet_v2",
    "mobilenet_v3_small",
    "squeezenet1_1",
    "vit_tiny",
    "text_encoder",
    "yolo",
    "unet",
)
TURNS, RUNS = 12, 4


def linalg_of(model: Path) -> Path:
    """Return the file of a model's linalg; IREE's compiler writes it if missing."""
    result = model.with_suffix(".linalg.mlir")
    if not result.exists():
        torch, part = model.with_suffix(".torch.mlir"), model.with_suffix(".part")
        tools = Path(sys.executable).parent
        importing = [tools / "iree-import-onnx", model, "-o", torch]
        for command in (importing, [tools / "iree-opt", torch, *TORCH, "-o", part]):
            subprocess.run([str(word) for word in command], check=True, timeout=600)
        torch.unlink()
        part.rename(result)
    return result


def random_inputs(model: clopt.CompiledModel) -> list[np.ndarray[Any, Any]]:
    """Return numbers for the inputs of a model; integers are small enough to be tokens."""
    rng = np.random.default_rng(0)
    return [
        rng.standard_normal(spec.shape).astype(spec.dtype)
        if np.dtype(spec.dtype).kind == "f"
        else rng.integers(0, 99, spec.shape).astype(spec.dtype)
        for spec in model.inputs
    ]


def processor_time(model: clopt.CompiledModel, inputs: Mapping[str, Any]) -> float:
    """Return the CPU milliseconds of an inference."""
    start = time.process_time()
    for _ in range(RUNS):
        model.run(inputs)
    return (time.process_time() - start) / RUNS * 1e3


def compare(name: str, size: int, device: str) -> str:
    """Return a row: the difference of the results, both times and their ratio."""
    path = models.export(name, size)
    both = [clopt.compile(form, device=device) for form in (path, linalg_of(path))]
    arrays = random_inputs(both[0])
    inputs = [dict(zip((spec.name for spec in m.inputs), arrays, strict=True)) for m in both]
    results = [m.run(given) for m, given in zip(both, inputs, strict=True)]
    error = max(float(np.abs(a - b).max()) for a, b in zip(*results, strict=True))
    times: list[list[float]] = [[], []]
    for _ in range(TURNS):
        for taken, model, given in zip(times, both, inputs, strict=True):
            taken.append(processor_time(model, given))
    onnx, linalg = (quantiles(taken)[0] for taken in times)
    return f"{name:20} {error:.1e} {onnx:8.2f} {linalg:8.2f} {linalg / onnx:6.2f}"


def main() -> None:
    """Print a row for each network."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--device", default="pocl")
    options = parser.parse_args()
    print(f"{'network':20} error    ms of ONNX  linalg  ratio")
    for name in options.names:
        print(compare(name, options.size, options.device), flush=True)


if __name__ == "__main__":
    main()
