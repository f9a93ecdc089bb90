"""Layouts of networks: how many values lie in images, and which copies remain.

`python benchmarks/layouts.py [name ...] [--target "adreno-740 texture=prefer"]`: for each network
the kernels, the values between them by memory, the remaining layout transforms, their bytes and the
seconds of the choice. No kernel is built. `--json FILE` keeps the figures.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

import models
from rich.console import Console
from rich.table import Table

from clopt.context import CloptContext
from clopt.dialects import nn
from clopt.dialects.cl import Target, set_target
from clopt.frontends.onnx import import_onnx
from clopt.passes.nn.choose import NNChoosePass
from clopt.passes.nn.layout.explain import layout_text, layout_transforms
from clopt.passes.pipelines import FUSE, SIMPLIFY
from clopt.targets import TargetChoice

NAMES = (
    "mobilenet_v1",
    "mobilenet_v2",
    "resnet18",
    "resnet50",
    "squeezenet1_1",
    "unet",
    "yolo",
)


@dataclass(frozen=True)
class Row:
    """One network; sizes in bytes, times in seconds."""

    network: str
    target: str
    kernels: int
    images: int
    packed_buffers: int
    plain_buffers: int
    transforms: int
    transform_bytes: int
    ports: int
    seconds: float


def measure(name: str, target: Target, label: str, size: int) -> Row:
    """Return the layouts of one network on a target."""
    ctx = CloptContext()
    module = import_onnx(models.export(name, size), ctx.weights)
    set_target(module, target)
    seconds = 0.0
    for pass_ in (*SIMPLIFY, *FUSE):
        start = time.perf_counter()
        pass_.apply(ctx, module)
        if isinstance(pass_, NNChoosePass):
            seconds += time.perf_counter() - start
    (function,) = module.ops
    regions = [op for op in function.walk() if isinstance(op, nn.FusedOp)]
    memory = Counter(_memory(value) for op in regions for value in op.outputs)
    transforms = layout_transforms(module)
    returned = function.body.block.last_op
    return Row(
        network=name,
        target=label,
        kernels=len(regions),
        images=memory["image"],
        packed_buffers=memory["buffer"],
        plain_buffers=memory["plain"],
        transforms=len(transforms),
        transform_bytes=sum(transform.bytes for transform in transforms),
        ports=len(function.body.block.args) + len(returned.operands),
        seconds=seconds,
    )


def _memory(value) -> str:
    text = layout_text(nn.layout_of(value))
    return "image" if "image" in text else text.split(", ")[-1]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(NAMES), metavar="name")
    parser.add_argument(
        "--target", nargs="+", action="append", help='default: adreno-740, then with "prefer"'
    )
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    labels = args.target or [["adreno-740"], ["adreno-740", "texture=prefer"]]
    rows: list[Row] = []
    for label in map(" ".join, labels):
        target = TargetChoice.parse(label).load()
        assert target is not None, f"{label}: name a target"
        rows += [measure(name, target, label, args.size) for name in args.names]
    table = Table("network", "target", "kernels", "images", "packed", "plain")
    for column in ("transforms", "MB moved", "inputs + outputs", "seconds"):
        table.add_column(column, justify="right")
    for row in rows:
        table.add_row(
            row.network,
            row.target,
            *map(str, (row.kernels, row.images, row.packed_buffers, row.plain_buffers)),
            str(row.transforms),
            f"{row.transform_bytes / 1e6:.2f}",
            str(row.ports),
            f"{row.seconds:.2f}",
        )
    Console(width=None if Console().is_terminal else 120).print(table)
    if args.json:
        args.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")


if __name__ == "__main__":
    main()
