"""Every convolution of a network from images and from buffers, side by side, on one device.

`python benchmarks/texture_forms.py resnet50 mobilenet_v2 --device nvidia`: for each different
convolution of the networks with its activation, it times the kernels with values in images, in
packed buffers and in plain buffers. It also prints which of these the network gets with
`texture=auto`. Times leave out packing the input and unpacking the output, which the neighbours do
in a network. The forms alternate; times are medians.

`--list FILE` only writes the convolutions and the choices for `--target`; `--from FILE` measures
those of such a file, on a machine that needs neither the networks nor their weights.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterator
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any

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
from clopt.dialects import nn
from clopt.dialects.cl import Target, set_target
from clopt.frontends.onnx import import_onnx
from clopt.passes.nn.layout.candidates import is_texture
from clopt.passes.pipelines import run_pipeline
from clopt.targets import load_target
from clopt.weights import Weights

NO_IMAGE = dict.fromkeys(
    (
        "max_image_width",
        "max_image_height",
        "max_image_layers",
        "max_image_buffer_texels",
    ),
    1,
)
FORMS: dict[str, dict[str, Any]] = {
    "image": {"texture": "prefer"},
    # If no image fits, packed values are stored in buffers.
    "packed": {"texture": "prefer", **NO_IMAGE},
    "plain": {"texture": "off"},
}


@dataclass(frozen=True)
class Convolution:
    """The parameters that determine the time of a convolution."""

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
        """Return the convolution with a bias and a rectifier, and a pool that reads the result."""
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
        relu = helper.make_node("Relu", ["y"], ["r"], "relu")
        pool = helper.make_node("GlobalMaxPool", ["r"], ["z"], "pool")
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)
        graph = helper.make_graph(
            [conv, relu, pool],
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
    """One convolution: microseconds in each form, and the choice of `auto`."""

    network: str
    name: str
    macs: int
    times: dict[str, float]
    auto: str

    def loss(self, *forms: str) -> float:
        """Return the time of the chosen form relative to the best of `forms`, minus one."""
        return self.times[self.auto] / min(self.times[form] for form in forms) - 1


def convolutions(module: ModuleOp) -> Iterator[tuple[Convolution, str]]:
    """Return the convolutions of a fused module, each with the form of its result."""
    for op in module.walk():
        if not isinstance(op, nn.ConvOp):
            continue
        fused = op.parent_op()
        layouts = map(nn.layout_of, fused.outputs) if isinstance(fused, nn.FusedOp) else ()
        form = "plain"
        for layout in layouts:
            if layout is not None:
                form = "image" if is_texture(layout) else "packed"
        yield (
            Convolution(
                nn.shape_of(op.x),
                nn.shape_of(op.w),
                nn.ints(op.strides),
                nn.ints(op.pads),
                op.groups.value.data,
            ),
            form,
        )


def chosen_forms(path: Path, target: Target) -> dict[Convolution, str]:
    """Return each different convolution of a network, and its form with `texture=auto`.

    A convolution that became a matrix product has only the plain form.
    """
    found: dict[Convolution, str] = {}
    for texture in ("prefer", "auto"):
        context = CloptContext(weights=Weights())
        module = import_onnx(path, context.weights)
        set_target(module, target.with_facts({"texture": texture}))
        for name in ("simplify", "fuse"):
            run_pipeline(context, module, name)
        for convolution, form in convolutions(module):
            if texture == "prefer":
                found[convolution] = "plain"
            elif form != "plain":
                found[convolution] = form
    return found


def listed(networks: list[str], target: Target) -> list[tuple[str, list[Any], str]]:
    """Return the network, fields and chosen form of each convolution to measure."""
    return [
        (path.stem, list(astuple(convolution)), form)
        for path in (models.export(n) if n in models.NAMES else Path(n) for n in networks)
        for convolution, form in chosen_forms(path, target).items()
    ]


def launches(compiled: clopt.CompiledModel) -> list:
    """Return the launches of the convolution, without packing before it and the pool after it."""
    return [
        launch
        for launch in compiled.executable.launches
        if not launch.kernel.function_name.startswith(("relayout", "pool", "reduce"))
    ]


def microseconds(queue: cl.CommandQueue, commands: list, repeats: int) -> float:
    """Return the device time of one pass over the commands."""
    queue.finish()
    start = time.perf_counter()
    for _ in range(repeats):
        for c in commands:
            cl.enqueue_nd_range_kernel(queue, c.kernel, c.global_size, c.local_size)
    queue.finish()
    return 1e6 * (time.perf_counter() - start) / repeats


def measure(convolution: Convolution, device: Device, rounds: int) -> dict[str, float]:
    """Return the median microseconds of each form."""
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context, device.handle)
    target = target_for(device)
    model = convolution.model()
    x = np.random.default_rng(1).standard_normal(convolution.shape).astype(np.float32)
    commands: dict[str, list] = {}
    results: dict[str, np.ndarray] = {}
    kept = []
    for form in FORMS:
        facts = target.with_facts(FORMS[form])
        compiled = clopt.compile(
            model, target=facts, device=clopt.Place(context=context, queue=queue)
        )
        results[form] = compiled.run({"x": x})[0]
        commands[form] = launches(compiled)
        kept.append(compiled)
    plain = results["plain"]
    worst = max(np.abs(result - plain).max() / np.abs(plain).max() for result in results.values())
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
    """Print the rows, and how often the choice was good."""
    console = Console(width=120)
    table = Table()
    for heading in ("network", "convolution", "MMAC", *(f"{form} us" for form in FORMS), "auto"):
        table.add_column(heading, no_wrap=True)
    for row in rows:
        table.add_row(
            row.network,
            row.name,
            f"{row.macs / 1e6:.1f}",
            *(f"{row.times[form]:.1f}" for form in FORMS),
            row.auto,
        )
    console.print(table)
    for form in FORMS:
        total = sum(row.times[form] for row in rows)
        console.print(f"all from {form}: {total / 1e3:.2f} ms")
    for forms in (("image", "plain"), tuple(FORMS)):
        good = sum(row.loss(*forms) <= 0.05 for row in rows)
        names = ", ".join(forms)
        console.print(f"auto within 5 % of the best of {names}: {good} of {len(rows)}")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("networks", nargs="*", help="names from models.py, or paths of ONNX files")
    parser.add_argument("--device", default="nvidia")
    parser.add_argument("--target", default="nvidia", help="for whom --list chooses")
    parser.add_argument("--list", type=Path, help="write what there is to measure to this file")
    parser.add_argument("--from", type=Path, dest="source", help="a file that --list wrote")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write all rows to this file")
    args = parser.parse_args()
    if args.list is not None:
        args.list.write_text(json.dumps(listed(args.networks, load_target(args.target))) + "\n")
        return
    device = find_device(args.device)
    work = (
        json.loads(args.source.read_text())
        if args.source
        else listed(args.networks, target_for(device))
    )
    rows: list[Row] = []
    for network, fields, auto in work:
        convolution = Convolution(*(tuple(f) if isinstance(f, list) else f for f in fields))
        times = measure(convolution, device, args.rounds)
        rows.append(Row(network, str(convolution), convolution.macs, times, auto))
    show(rows)
    if args.json is not None:
        args.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")


if __name__ == "__main__":
    main()
