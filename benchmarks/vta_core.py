"""Speed of VTA's OpenCL core: tiles and instructions per second, by form.

    python benchmarks/vta_core.py [--device pocl] [--config 1x16_i8w8a32_15_15_18_17]
        [--lanes 512 --vector 1] [--cores 132] [--seconds 1]

The stream is a convolution of ResNet's fourth stage, 14 x 14 x 256 to 256 channels with 3 x 3
weights: two virtual threads of output channels, loads of the next block of input channels beside
the products of this one. With several cores each has the same stream and results of its own. It
needs pyopencl, numpy and xdsl alone. The first result is compared with numpy.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pyopencl as cl

from clopt.backends.pyopencl_runtime.devices import Device, find_device
from clopt.backends.pyopencl_runtime.vta import DramRegion, VTADevice, form_for
from clopt.backends.vta.core import CoreForm
from clopt.backends.vta.implementation import Implementation
from clopt.backends.vta.machine_model import time_stream
from clopt.backends.vta.simulator import make_dram
from clopt.dialects.vta.config import Config
from clopt.dialects.vta.encoding import encode, encode_uops
from clopt.dialects.vta.isa import (
    Alu,
    AluOpcode,
    Finish,
    Gemm,
    Instruction,
    Load,
    Memory,
    Queue,
    Stage,
    Store,
    Uop,
    nop,
    token_bits,
)

SIZE, CHANNELS, KERNEL = 14, 256, 3
ROWS = 7  # of outputs that a thread computes at once
SHIFT = 8


class Convolution:
    """The stream of the convolution, its micro-ops, and its expected result.

    Each thread uses half of ACC, INP and WGT. Its tile is ROWS x SIZE pixels of one block of output
    channels; it accumulates over blocks of input channels.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self.blocks = CHANNELS // config.block_in
        self.width = SIZE + KERNEL - 1
        self.inp_half = (ROWS + KERNEL - 1) * self.width
        self.uops = self._micro_ops()
        self.instructions = list(self._stream())

    def _micro_ops(self) -> list[Uop]:
        """Return the products of all taps for each thread, and one micro-op for elements of ACC."""
        taps = list(product(range(KERNEL), repeat=2))
        return [
            uop
            for thread in range(2)
            for uop in (
                Uop(thread * ROWS * SIZE),
                *(
                    Uop(
                        thread * ROWS * SIZE,
                        thread * self.inp_half + y * self.width + x,
                        thread * len(taps) + tap,
                    )
                    for tap, (y, x) in enumerate(taps)
                ),
            )
        ]

    def _stream(self) -> Iterator[Instruction]:
        yield Load(memory=Memory.UOP, x_size=len(self.uops), x_stride=len(self.uops))
        tiles = list(product(range(SIZE // ROWS), range(self.blocks)))
        for number in range(0, len(tiles), 2):
            yield from self._two_tiles(tiles[number : number + 2], number == 0)
        yield nop(Stage.COMPUTE, waits=[Queue.S2C])
        yield nop(Stage.COMPUTE, waits=[Queue.S2C])
        yield nop(Stage.LOAD, waits=[Queue.C2L])
        yield nop(Stage.LOAD, waits=[Queue.C2L], signals=[Queue.L2C])
        yield nop(Stage.COMPUTE, waits=[Queue.L2C])
        yield Finish()

    def _two_tiles(self, tiles: Sequence[tuple[int, int]], first: bool) -> Iterator[Instruction]:
        for thread in range(2):
            yield self._reset(thread, [] if first else [Queue.S2C])
        for block, thread in product(range(self.blocks), range(2)):
            fresh = first and block == 0
            yield from self._loads(*tiles[thread], block, thread, [] if fresh else [Queue.C2L])
            yield self._products(thread)
        for thread in range(2):
            yield from self._epilogue(*tiles[thread], thread)

    def _reset(self, thread: int, waits: Sequence[Queue]) -> Gemm:
        bits = token_bits(waits, [])
        return replace(self._products(thread), **self._all(thread), reset=True, **bits)

    def _all(self, thread: int) -> dict[str, int]:
        first = thread * len(self.uops) // 2
        return {"uop_bgn": first, "uop_end": first + 1}

    def _loads(
        self, row: int, out: int, block: int, thread: int, waits: Sequence[Queue]
    ) -> Iterator[Load]:
        top = int(row == 0)
        yield Load(
            memory=Memory.INP,
            sram_base=thread * self.inp_half,
            dram_base=(block * SIZE + row * ROWS - 1 + top) * SIZE,
            y_size=ROWS + 1,
            x_size=SIZE,
            x_stride=SIZE,
            y_pad_0=top,
            y_pad_1=1 - top,
            x_pad_0=1,
            x_pad_1=1,
            **token_bits(waits, []),
        )
        taps = KERNEL**2
        yield Load(
            memory=Memory.WGT,
            sram_base=thread * taps,
            dram_base=(out * self.blocks + block) * taps,
            x_size=taps,
            x_stride=taps,
            **token_bits([], [Queue.L2C]),
        )

    def _products(self, thread: int) -> Gemm:
        first = thread * len(self.uops) // 2
        return Gemm(
            uop_bgn=first + 1,
            uop_end=first + 1 + KERNEL**2,
            iter_out=ROWS,
            iter_in=SIZE,
            dst_factor_out=SIZE,
            dst_factor_in=1,
            src_factor_out=self.width,
            src_factor_in=1,
            **token_bits([Queue.L2C], [Queue.C2L]),
        )

    def _epilogue(self, row: int, out: int, thread: int) -> Iterator[Instruction]:
        steps = ((AluOpcode.SHR, SHIFT), (AluOpcode.MAX, 0), (AluOpcode.MIN, 127))
        for opcode, imm in steps:
            yield Alu(
                opcode=opcode,
                use_imm=True,
                imm=imm,
                iter_out=ROWS,
                iter_in=SIZE,
                dst_factor_out=SIZE,
                dst_factor_in=1,
                **self._all(thread),
                **token_bits([], [Queue.C2S] if opcode is AluOpcode.MIN else []),
            )
        yield Store(
            sram_base=thread * ROWS * SIZE,
            dram_base=(out * SIZE + row * ROWS) * SIZE,
            x_size=ROWS * SIZE,
            x_stride=ROWS * SIZE,
            **token_bits([Queue.C2S], [Queue.S2C]),
        )

    @property
    def gemm_tiles(self) -> int:
        """All multiply-adds of the convolution, in units of a tile."""
        return self.blocks**2 * SIZE**2 * KERNEL**2

    @property
    def outputs(self) -> int:
        """Elements of OUT."""
        return self.blocks * SIZE**2

    def of_core(self, core: int) -> list[Instruction]:
        """Return the stream with separate results for a core."""
        skip = core * self.outputs
        return [
            replace(one, dram_base=one.dram_base + skip) if isinstance(one, Store) else one
            for one in self.instructions
        ]

    def expected(self, inp: np.ndarray, wgt: np.ndarray) -> np.ndarray:
        """Return the result: [channel block][y][x][batch][channel], of the memories' elements."""
        blocks, config = self.blocks, self.config
        image = inp.reshape(blocks, SIZE, SIZE, config.batch, config.block_in)
        image = np.pad(image, [(0, 0), (1, 1), (1, 1), (0, 0), (0, 0)]).astype(np.float64)
        taps = wgt.reshape(blocks, blocks, KERNEL**2, config.block_out, config.block_in)
        total = np.zeros((blocks, SIZE, SIZE, config.batch, config.block_out))
        for tap, (y, x) in enumerate(product(range(KERNEL), repeat=2)):
            window = image[:, y : y + SIZE, x : x + SIZE]
            weights = taps[:, :, tap].astype(np.float64)
            total += np.einsum("kyxbi,nkoi->nyxbo", window, weights, optimize=True)
        return np.clip(total.astype(np.int64) >> SHIFT, 0, 127).astype(np.int8)


def measure(
    device: Device, convolution: Convolution, form: CoreForm, cores: int, seconds: float
) -> tuple[float, bool]:
    """Return the seconds of one stream on every core, and whether the results match numpy's."""
    config = convolution.config
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    vta = VTADevice(context, device, Implementation(config=config, form=form, cores=cores))
    rng = np.random.default_rng(0)
    inputs = (convolution.outputs, *config.element_shape(Memory.INP))
    weights = (convolution.blocks**2 * KERNEL**2, *config.element_shape(Memory.WGT))
    inp = rng.integers(-128, 128, inputs, np.int8)
    wgt = rng.integers(-128, 128, weights, np.int8)
    out = np.zeros((cores * convolution.outputs, *config.element_shape(Memory.OUT)), np.int8)
    dram = make_dram(config, {Memory.INP: inp, Memory.WGT: wgt, Memory.OUT: out})
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    regions = {
        memory: DramRegion(cl.Buffer(context, flags, hostbuf=array))
        for memory, array in dram.items()
        if array.size
    }
    streams = [encode(convolution.of_core(core), config) for core in range(cores)]
    micro_ops = encode_uops(convolution.uops, config)
    bound = vta.bind(vta.load(streams, micro_ops), regions)
    bound.enqueue(queue)
    cl.enqueue_copy(queue, out, regions[Memory.OUT].buffer)
    expected = convolution.expected(inp, wgt)
    right = all(np.array_equal(one.ravel(), expected.ravel()) for one in np.split(out, cores))
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        bound.enqueue(queue)
        queue.finish()
        times.append(time.perf_counter() - start)
    return float(np.median(times)), right


def main() -> None:
    """Print a row for each form."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", help="an index or a part of a name")
    parser.add_argument("--config", default=Config().name)
    parser.add_argument("--lanes", type=int, nargs="+", help="work-items of a core")
    parser.add_argument("--vector", type=int, choices=(1, 16))
    parser.add_argument("--cores", type=int, nargs="+", help="1 and the device's units")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each row")
    arguments = parser.parse_args()
    device = find_device(arguments.device)
    convolution = Convolution(Config.parse(arguments.config))
    model = time_stream(convolution.instructions, convolution.config)
    count, tiles = len(convolution.instructions), convolution.gemm_tiles
    print(f"{device}, {convolution.config.name}: {count} instructions, {tiles} GEMM tiles")
    print(f"on the default machine model: {model.cycles:.0f} cycles")
    fast = form_for(device)
    print("lanes vector cores    ms of all  Mtiles/s   GMAC/s  instructions/s  as numpy")
    for lanes in arguments.lanes or [fast.lanes]:
        form = CoreForm(lanes, arguments.vector or fast.vector)
        for cores in arguments.cores or sorted({1, device.compute_units}):
            seconds, right = measure(device, convolution, form, cores, arguments.seconds)
            rate = tiles * cores / seconds
            macs = rate * np.prod(convolution.config.element_shape(Memory.WGT))
            macs *= convolution.config.batch
            print(
                f"{lanes:5} {form.vector:6} {cores:5} {seconds * 1e3:12.2f} {rate / 1e6:9.1f} "
                f"{macs / 1e9:8.1f} {count * cores / seconds:15.0f}  {right}",
                flush=True,
            )


if __name__ == "__main__":
    main()
