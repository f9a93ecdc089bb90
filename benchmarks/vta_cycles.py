"""Cycles of layers on VTA with and without virtual threads, by a machine model.

    python benchmarks/vta_cycles.py

The layers are those of VTA's published benchmarks: convolutions of ResNet-18, with a bias, a shift
and relu; dense layers; grouped convolutions of MobileNet; transposed ones of DCGAN; and the body of
ResNet-18, with its residual additions, as one program. It writes results/vta_cycles.md. The cycles
are those of `backends/vta/machine_model.py` for the streams that clopt compiles; no figure depends
on the machine that computes them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from provenance import measured
from xdsl.dialects.builtin import ModuleOp, TensorType, i8
from xdsl.ir import Block, Region, SSAValue

from clopt.backends.vta.machine_model import time_stream
from clopt.context import CloptContext
from clopt.dialects import nn, vta
from clopt.dialects.vta import BLOCK_16, Gemm, GraphOp, LayerOp, ReturnOp, StreamOp
from clopt.dialects.vta.stream_file import side_by_side, stream_file
from clopt.passes.vta.assign_tokens import VTAAssignTokensPass
from clopt.passes.vta.emit_instructions import VTAEmitInstructionsPass
from clopt.passes.vta.lower_layers import VTALowerLayersPass
from clopt.passes.vta.place_uops import VTAPlaceUopsPass

RESULT = Path(__file__).parent / "results" / "vta_cycles.md"


@dataclass
class Builder:
    """A graph of layers, with zero weights because cycles do not depend on them."""

    context: CloptContext = field(default_factory=CloptContext)
    block: Block = field(default_factory=Block)

    def input(self, *shape: int) -> SSAValue:
        """Return an argument."""
        return self.block.insert_arg(TensorType(i8, shape), len(self.block.args))

    def zeros(self, *shape: int, dtype: type = np.int8) -> SSAValue:
        """Return a constant."""
        op = nn.ConstantOp.from_array(np.zeros(shape, dtype), self.context.weights)
        self.block.add_op(op)
        return op.result

    def add(self, layer: LayerOp) -> SSAValue:
        """Return a layer."""
        self.block.add_op(layer)
        return layer.result

    def conv(
        self, x: SSAValue, outputs: int, kernel: int, stride: int, *, groups: int = 1, low: int = 0
    ) -> SSAValue:
        """Return a convolution whose padding keeps the size, with a bias."""
        inputs = vta.layers.shape_of(x)[1]
        weight = self.zeros(outputs, inputs // groups, kernel, kernel)
        bias = self.zeros(outputs, dtype=np.int32)
        pads, strides = (kernel // 2,) * 4, (stride, stride)
        return self.add(
            vta.ConvOp(x, weight, bias, strides=strides, pads=pads, groups=groups, shift=8, low=low)
        )

    def stream(self, result: SSAValue, threads: int) -> StreamOp:
        """Return the compiled stream."""
        self.block.add_op(ReturnOp([result]))
        module = ModuleOp([GraphOp("g", BLOCK_16, Region(self.block))])
        for each in (
            VTALowerLayersPass(threads),
            VTAAssignTokensPass(),
            VTAPlaceUopsPass(),
            VTAEmitInstructionsPass(),
        ):
            each.apply(self.context, module)
        stream = module.body.block.first_op
        assert isinstance(stream, StreamOp)
        return stream


def conv(
    size: int, inputs: int, outputs: int, kernel: int, stride: int, groups: int = 1
) -> Callable[[Builder], SSAValue]:
    """Return a convolution alone."""
    return lambda b: b.conv(b.input(1, inputs, size, size), outputs, kernel, stride, groups=groups)


def dense(rows: int, inputs: int, outputs: int) -> Callable[[Builder], SSAValue]:
    """Return a dense layer alone."""
    return lambda b: b.add(vta.DenseOp(b.input(rows, inputs), b.zeros(outputs, inputs), shift=8))


def transposed(size: int, inputs: int, outputs: int) -> Callable[[Builder], SSAValue]:
    """Return a transposed convolution of 4 x 4 with stride 2 alone."""
    return lambda b: b.add(
        vta.ConvTransposeOp(
            b.input(1, inputs, size, size), b.zeros(inputs, outputs, 4, 4), strides=(2, 2),
            pads=(1,) * 4, shift=8, low=0,
        )
    )  # fmt: skip


def resnet_18(b: Builder) -> SSAValue:
    """Return the layers between the first pooling and the last."""
    x = b.input(1, 64, 56, 56)
    for stage, channels in enumerate((64, 128, 256, 512)):
        for block in range(2):
            stride = 2 if stage and not block else 1
            y = b.conv(x, channels, 3, stride)
            y = b.conv(y, channels, 3, 1, low=-128)
            short = b.conv(x, channels, 1, 2, low=-128) if stride == 2 else x
            x = b.add(vta.AddOp(y, short, low=0))
    return x


ROWS: dict[str, Callable[[Builder], SSAValue]] = {
    "C2": conv(56, 64, 64, 3, 1),
    "C3": conv(56, 64, 128, 3, 2),
    "C4": conv(56, 64, 128, 1, 2),
    "C5": conv(28, 128, 128, 3, 1),
    "C6": conv(28, 128, 256, 3, 2),
    "C7": conv(28, 128, 256, 1, 2),
    "C8": conv(14, 256, 256, 3, 1),
    "C9": conv(14, 256, 512, 3, 2),
    "C10": conv(14, 256, 512, 1, 2),
    "C11": conv(7, 512, 512, 3, 1),
    "dense 16x512x1008": dense(16, 512, 1008),
    "dense 128x128x128": dense(128, 128, 128),
    "dense 4x256x128": dense(4, 256, 128),
    "grouped 112x32, 2 groups": conv(112, 32, 32, 3, 1, 2),
    "grouped 28x256, 16 groups": conv(28, 256, 256, 3, 1, 16),
    "grouped 7x1024, 64 groups": conv(7, 1024, 1024, 3, 1, 64),
    "transposed 4x1024 to 512": transposed(4, 1024, 512),
    "transposed 8x512 to 256": transposed(8, 512, 256),
    "transposed 16x256 to 128": transposed(16, 256, 128),
    "ResNet-18, body": resnet_18,
}

HEAD = """\
# Cycles of layers on VTA

{origin}

The model is that of `backends/vta/machine_model.py` (a bus of 8 bytes a cycle, a product of
tiles in a cycle, a tile of the ALU in two), configuration
{config}. With one thread the stages take turns; with two, a scratchpad
holds two tiles, and one is transferred while the other is computed. *Use* is products of tiles by
cycles; 100 % would leave no time for the ALU.

| layer | tiles | cycles, 1 thread | use | cycles, 2 threads | use | instructions |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
"""


def measure(build: Callable[[Builder], SSAValue], threads: int) -> tuple[int, float, int]:
    """Return products of tiles, cycles and instructions."""
    builder = Builder()
    file = stream_file(builder.stream(build(builder), threads))
    instructions = file.linked(side_by_side(file.symbols))
    tiles = sum(
        each.iter_out * each.iter_in * (each.uop_end - each.uop_bgn)
        for each in instructions
        if isinstance(each, Gemm) and not each.reset
    )
    return tiles, time_stream(instructions, BLOCK_16).cycles, len(instructions)


def line(name: str, build: Callable[[Builder], SSAValue]) -> str:
    """Return the row of a layer."""
    tiles, one, _ = measure(build, 1)
    _, two, instructions = measure(build, 2)
    cells: Sequence[str] = (
        name, f"{tiles:,}", f"{one:,.0f}", f"{tiles / one:.0%}",
        f"{two:,.0f}", f"{tiles / two:.0%}", f"{instructions:,}",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |\n"


def main() -> None:
    """Write the table."""
    text = HEAD.format(origin=measured("a machine model"), config=f"`{BLOCK_16.name}`")
    for name, build in ROWS.items():
        text += line(name, build)
        print(text.splitlines()[-1], flush=True)
    RESULT.write_text(text)


if __name__ == "__main__":
    main()
