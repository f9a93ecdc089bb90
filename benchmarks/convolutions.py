"""Compare convolutions of common networks on OpenCL CPUs with onnxruntime (oneDNN and MLAS).

`python benchmarks/convolutions.py [names] [--device pocl] [--facts 'vector_width=16 ...']
[--rounds N]`. The shapes are those of MobileNets, ResNets, SqueezeNet, EfficientNet-lite, U-Net, a
YOLO, VGG and a dilated head. Each figure is CPU time relative to onnxruntime's on two threads, the
median of rounds in which the two alternate, in a process for each runtime; clopt is timed from
launch to `clFinish`, with operands in plain memory. It is timed again without kernels that only
copy, because layers inside a network do not need them. The report goes to
`benchmarks/results/convolutions.{md,json}`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from alternating import Arrays, Rows, by_clopt, by_onnxruntime, measure, ratios, show, write
from onnx import TensorProto, helper, numpy_helper
from rich.console import Console

RESULTS = Path(__file__).resolve().parent / "results" / "convolutions"
THREADS = 2


@dataclass(frozen=True)
class Convolution:
    """A square convolution with `same` padding, a bias and ReLU."""

    channels: int
    outputs: int
    size: int
    """Rows and columns of the input."""
    window: int
    stride: int = 1
    groups: int = 1
    dilation: int = 1
    batch: int = 1
    transposed: bool = False

    def model(self) -> onnx.ModelProto:
        rng = np.random.default_rng(0)
        inner = self.channels // self.groups
        pair = (self.channels, self.outputs) if self.transposed else (self.outputs, inner)
        w = rng.standard_normal((*pair, self.window, self.window), dtype=np.float32)
        b = rng.standard_normal(self.outputs, dtype=np.float32)
        pad = 0 if self.transposed else self.dilation * (self.window - 1) // 2
        node = helper.make_node(
            "ConvTranspose" if self.transposed else "Conv",
            ["x", "w", "b"],
            ["t"],
            strides=[self.stride] * 2,
            pads=[pad] * 4,
            group=self.groups,
            dilations=[self.dilation] * 2,
        )
        size = self.size * self.stride if self.transposed else -(-self.size // self.stride)
        ports = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, [self.batch, channels, n, n])
            for name, channels, n in (("x", self.channels, self.size), ("y", self.outputs, size))
        ]
        weights = [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")]
        nodes = [node, helper.make_node("Relu", ["t"], ["y"])]
        graph = helper.make_graph(nodes, "convolution", ports[:1], ports[1:], weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)

    def inputs(self) -> Arrays:
        shape = (self.batch, self.channels, self.size, self.size)
        return {"x": np.random.default_rng(1).standard_normal(shape, dtype=np.float32)}

    @property
    def gflop(self) -> float:
        points = self.size if self.transposed else -(-self.size // self.stride)
        terms = self.channels // self.groups * self.window**2
        return 2e-9 * self.batch * self.outputs * points**2 * terms


CONVOLUTIONS: dict[str, Convolution] = {
    "stem 7x7 /2, 3-64, 224": Convolution(3, 64, 224, 7, stride=2),
    "stem 3x3 /2, 3-32, 224": Convolution(3, 32, 224, 3, stride=2),
    "patches 16x16 /16, 3-192, 224": Convolution(3, 192, 224, 16, stride=16),
    "3x3, 3-64, 224": Convolution(3, 64, 224, 3),
    "3x3, 64-64, 224": Convolution(64, 64, 224, 3),
    "3x3, 64-64, 56": Convolution(64, 64, 56, 3),
    "3x3, 128-128, 28": Convolution(128, 128, 28, 3),
    "3x3, 256-256, 14": Convolution(256, 256, 14, 3),
    "3x3, 512-512, 7": Convolution(512, 512, 7, 3),
    "3x3, 32-32, 112": Convolution(32, 32, 112, 3),
    "3x3, 16-64, 55": Convolution(16, 64, 55, 3),
    "3x3 /2, 64-128, 56": Convolution(64, 128, 56, 3, stride=2),
    "3x3 /2, 256-512, 14": Convolution(256, 512, 14, 3, stride=2),
    "1x1, 64-256, 56": Convolution(64, 256, 56, 1),
    "1x1, 256-64, 56": Convolution(256, 64, 56, 1),
    "1x1, 512-512, 14": Convolution(512, 512, 14, 1),
    "1x1, 1024-1024, 7": Convolution(1024, 1024, 7, 1),
    "1x1, 24-144, 56": Convolution(24, 144, 56, 1),
    "1x1 /2, 256-512, 56": Convolution(256, 512, 56, 1, stride=2),
    "depthwise 3x3, 32, 112": Convolution(32, 32, 112, 3, groups=32),
    "depthwise 3x3 /2, 96, 112": Convolution(96, 96, 112, 3, stride=2, groups=96),
    "depthwise 3x3, 512, 14": Convolution(512, 512, 14, 3, groups=512),
    "depthwise 5x5, 240, 28": Convolution(240, 240, 28, 5, groups=240),
    "depthwise 5x5, 672, 14": Convolution(672, 672, 14, 5, groups=672),
    "grouped 3x3, 128-128, 56, 32 groups": Convolution(128, 128, 56, 3, groups=32),
    "dilated 3x3, 256-256, 28, by 2": Convolution(256, 256, 28, 3, dilation=2),
    "transposed 2x2 /2, 128-64, 56": Convolution(128, 64, 56, 2, stride=2, transposed=True),
    "3x3, 128-128, 28, batch 8": Convolution(128, 128, 28, 3, batch=8),
    "1x1, 512-512, 14, batch 8": Convolution(512, 512, 14, 1, batch=8),
    "depthwise 3x3, 512, 14, batch 8": Convolution(512, 512, 14, 3, groups=512, batch=8),
}


def rows_on(device: str, facts: list[str], names: list[str], rounds: int) -> Rows:
    """Return the ratios on one runtime; call this in a separate process."""
    rows: Rows = {}
    for name in names:
        case = CONVOLUTIONS[name]
        model, inputs = case.model(), case.inputs()
        session = onnxruntime.InferenceSession(model.SerializeToString())
        expected = np.asarray(session.run(None, inputs)[0])
        rivals = [
            by_onnxruntime(model, inputs, expected, THREADS),
            *(rival for each in facts for rival in by_clopt(device, each, model, inputs, expected)),
        ]
        samples = measure(rivals, rounds)
        found = zip(rivals[1:], ratios(samples)[1:], strict=True)
        rows[name] = {rival.name: ratio for rival, ratio in found}
        rows[name]["onnxruntime GFLOP/s"] = case.gflop / statistics.median(samples[0])
        line = "  ".join(f"{key} {value:.2f}" for key, value in rows[name].items())
        print(f"{name}: {line}", flush=True)
    return rows


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", help="some of the table in this file; default all")
    parser.add_argument("--device", action="append", help="default pocl and intel")
    parser.add_argument("--facts", action="append", help="facts that differ; may be repeated")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--write", action="store_true", help="write the report")
    args = parser.parse_args()
    unknown = sorted({*args.names} - {*CONVOLUTIONS})
    if unknown:
        parser.error(f'unknown convolution "{unknown[0]}"; choose from {", ".join(CONVOLUTIONS)}')
    names = args.names or list(CONVOLUTIONS)
    on = partial(rows_on, facts=args.facts or [""], names=names, rounds=args.rounds)
    rows: Rows = {name: {} for name in names}
    for device in args.device or ("pocl", "intel"):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            for name, row in pool.apply(on, (device,)).items():
                rows[name] |= row
    show("convolution", rows, Console(width=None if os.isatty(1) else 160))
    if args.write:
        about = (
            "CPU time relative to onnxruntime's on two threads; less is better. In and out of "
            "plain memory, and without the kernels that only copy there."
        )
        write(RESULTS, "Convolutions", about, "convolution", rows)


if __name__ == "__main__":
    main()
