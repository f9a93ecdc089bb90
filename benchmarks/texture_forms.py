"""Every convolution of a network from images and from buffers, side by side, on one device.

`python benchmarks/texture_forms.py resnet50 mobilenet_v2 --device nvidia`: for each different
convolution of the networks, with its activation, the time of the kernels that compute it when
values lie in images (`texture=prefer`), when they lie in buffers (`texture=off`), and which of the
two the whole network gets with `texture=auto`. Packing the input and unpacking the output are not
counted: in a network the neighbours do that. The forms alternate; times are medians.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import models
import numpy as np
import onnx
import pyopencl as cl
from onnx import TensorProto, helper, numpy_helper
from rich.console import Console
from rich.table import Table
from xdsl.dialects.builtin import ModuleOp

import clopt
from clopt.backends.pyopencl_runtime import Device, find_device, target_for
from clopt.context import CloptContext
from clopt.dialects import nn, tir
from clopt.dialects.cl import set_target
from clopt.frontends.onnx import import_onnx
from clopt.passes.pipelines import run_pipeline
from clopt.weights import Weights

FORMS = ("prefer", "off")


@dataclass(frozen=True)
class Convolution:
    """What decides the time of a convolution."""

    shape: tuple[int, ...]
    weights: tuple[int, ...]
    strides: tuple[int, ...]
    pads: tuple[int, ...]
    groups: int

    def __str__(self) -> str:
        _, c, h, w = self.shape
        kind = "depthwise " if self.groups == c else ""
        kernel = "x".join(map(str, self.weights[2:]))
        stride = f" /{self.strides[0]}" if self.strides[0] > 1 else ""
        return f"{kind}{kernel}{stride} {c}x{h}x{w} -> {self.weights[0]}"

    @property
    def macs(self) -> int:
        """Multiply-adds."""
        _, _, h, w = self.shape
        return (h // self.strides[0]) * (w // self.strides[1]) * int(np.prod(self.weights))

    def model(self) -> onnx.ModelProto:
        """The convolution, a bias and a rectifier as a network of their own."""
        rng = np.random.default_rng(0)
        fan = int(np.prod(self.weights[1:]))
        w = (rng.standard_normal(self.weights) * fan**-0.5).astype(np.float32)
        b = rng.standard_normal(self.weights[0]).astype(np.float32)
        conv = helper.make_node(
            "Conv",
            ["x", "w", "b"],
            ["y"],
            "conv",
            kernel_shape=self.weights[2:],
            strides=self.strides,
            pads=self.pads,
            group=self.groups,
        )
        relu = helper.make_node("Relu", ["y"], ["z"], "relu")
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)
        graph = helper.make_graph(
            [conv, relu],
            "conv",
            [x],
            [helper.make_empty_tensor_value_info("z")],
            [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")],
        )
        opsets = [helper.make_opsetid("", 17)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
        return onnx.shape_inference.infer_shapes(model)


@dataclass
class Row:
    """One convolution: microseconds in both forms, and what `auto` chose."""

    network: str
    name: str
    macs: int
    texture: float
    buffer: float
    auto: str

    @property
    def loss(self) -> float:
        """How much longer the chosen form takes than the better one."""
        chosen = self.texture if self.auto == "texture" else self.buffer
        return chosen / min(self.texture, self.buffer) - 1


def convolutions(module: ModuleOp) -> Iterator[tuple[Convolution, bool]]:
    """The convolutions of a fused module, each with whether it writes an image."""
    for op in module.walk():
        if not isinstance(op, nn.ConvOp):
            continue
        fused = op.parent_op()
        textured = isinstance(fused, nn.FusedOp) and any(
            (layout := nn.layout_of(value)) is not None
            and isinstance(layout.memory, tir.ScopeAttr)
            and layout.memory.scope is tir.Scope.Texture
            for value in fused.outputs
        )
        yield (
            Convolution(
                nn.shape_of(op.x),
                nn.shape_of(op.w),
                nn.ints(op.strides),
                nn.ints(op.pads),
                op.groups.value.data,
            ),
            textured,
        )


def chosen_forms(path: Path, device: Device) -> dict[Convolution, str]:
    """Each different convolution of a network, and the form it gets with `texture=auto`."""
    found: dict[Convolution, str] = {}
    for texture in ("prefer", "auto"):
        context = CloptContext(weights=Weights())
        module = import_onnx(path, context.weights)
        set_target(module, target_for(device).with_facts({"texture": texture}))
        for name in ("simplify", "fuse"):
            run_pipeline(context, module, name)
        for convolution, textured in convolutions(module):
            if texture == "prefer":
                found[convolution] = "buffer"
            elif textured:
                found[convolution] = "texture"
    return found


def launches(compiled: clopt.CompiledModel) -> list:
    """The launches that compute, without those that only pack and unpack."""
    return [
        launch
        for launch in compiled.executable.launches
        if not launch.kernel.function_name.startswith("relayout")
    ]


def microseconds(queue: cl.CommandQueue, commands: list, repeats: int) -> float:
    """Device time of one pass over the commands."""
    queue.finish()
    start = time.perf_counter()
    for _ in range(repeats):
        for c in commands:
            cl.enqueue_nd_range_kernel(queue, c.kernel, c.global_size, c.local_size)
    queue.finish()
    return 1e6 * (time.perf_counter() - start) / repeats


def measure(convolution: Convolution, device: Device, rounds: int) -> dict[str, float]:
    """Median microseconds of each form."""
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context, device.handle)
    target = target_for(device)
    model = convolution.model()
    x = np.random.default_rng(1).standard_normal(convolution.shape).astype(np.float32)
    commands: dict[str, list] = {}
    results: dict[str, np.ndarray] = {}
    kept = []
    for form in FORMS:
        facts = target.with_facts({"texture": form})
        compiled = clopt.compile(model, target=facts, context=context, queue=queue)
        results[form] = compiled.run({"x": x})[0]
        commands[form] = launches(compiled)
        kept.append(compiled)
    worst = np.abs(results["prefer"] - results["off"]).max() / np.abs(results["off"]).max()
    if worst > 1e-4:
        raise RuntimeError(f"{convolution}: the forms differ by {worst:.1e}")
    samples: dict[str, list[float]] = {form: [] for form in FORMS}
    for form in FORMS:
        microseconds(queue, commands[form], 10)
    for _ in range(rounds):
        for form in FORMS:
            samples[form].append(microseconds(queue, commands[form], 100))
    return {form: statistics.median(values) for form, values in samples.items()}


def show(rows: list[Row]) -> None:
    """Print the rows and how often the choice was good."""
    console = Console(width=120)
    table = Table()
    for heading in ("network", "convolution", "MMAC", "image us", "buffer us", "ratio", "auto"):
        table.add_column(heading, no_wrap=True)
    for row in rows:
        table.add_row(
            row.network,
            row.name,
            f"{row.macs / 1e6:.1f}",
            f"{row.texture:.1f}",
            f"{row.buffer:.1f}",
            f"{row.texture / row.buffer:.2f}",
            row.auto,
        )
    console.print(table)
    good = sum(row.loss <= 0.05 for row in rows)
    console.print(f"auto within 5 % of the better form: {good} of {len(rows)}")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("networks", nargs="+", help="names from models.py, or paths of ONNX files")
    parser.add_argument("--device", default="nvidia")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write all rows to this file")
    args = parser.parse_args()
    device = find_device(args.device)
    rows: list[Row] = []
    for network in args.networks:
        path = models.export(network) if network in models.NAMES else Path(network)
        for convolution, auto in chosen_forms(path, device).items():
            times = measure(convolution, device, args.rounds)
            row = Row(
                path.stem, str(convolution), convolution.macs, times["prefer"], times["off"], auto
            )
            rows.append(row)
    show(rows)
    if args.json is not None:
        args.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")


if __name__ == "__main__":
    main()
