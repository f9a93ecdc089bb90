"""Graphs of layers as streams, and what they have to compute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType, i8
from xdsl.ir import Block, Region, SSAValue

from clopt.backends.vta.event_simulator import run_stages
from clopt.backends.vta.simulator import Counters, Simulator, make_dram
from clopt.context import CloptContext
from clopt.dialects import nn
from clopt.dialects.vta import (
    Config,
    DramKind,
    GraphOp,
    LayerOp,
    Memory,
    ReturnOp,
    StreamOp,
    encode_uops,
)
from clopt.dialects.vta.stream_file import side_by_side, stream_file
from clopt.passes.vta.assign_tokens import VTAAssignTokensPass
from clopt.passes.vta.emit_instructions import VTAEmitInstructionsPass
from clopt.passes.vta.lower_layers import VTALowerLayersPass
from clopt.passes.vta.lowering.packing import pack_activations, unpack_activations
from clopt.passes.vta.place_uops import VTAPlaceUopsPass

Array = np.ndarray


@dataclass
class Network:
    """A graph while it is built."""

    config: Config
    context: CloptContext = field(default_factory=CloptContext)
    block: Block = field(default_factory=Block)

    def input(self, shape: Sequence[int]) -> SSAValue:
        return self.block.insert_arg(TensorType(i8, shape), len(self.block.args))

    def constant(self, array: Array) -> SSAValue:
        op = nn.ConstantOp.from_array(array, self.context.weights)
        self.block.add_op(op)
        return op.result

    def add(self, layer: LayerOp) -> SSAValue:
        self.block.add_op(layer)
        return layer.result

    def stream(self, *outputs: SSAValue, threads: int = 2, write_to_read: int = 4) -> StreamOp:
        """The verified stream."""
        self.block.add_op(ReturnOp(outputs))
        module = ModuleOp([GraphOp("g", self.config, Region(self.block))])
        module.verify()
        for each in (
            VTALowerLayersPass(threads, write_to_read),
            VTAAssignTokensPass(),
            VTAPlaceUopsPass(),
            VTAEmitInstructionsPass(),
        ):
            each.apply(self.context, module)
            module.verify()
        stream = module.body.block.first_op
        assert isinstance(stream, StreamOp)
        return stream


def check(
    network: Network,
    op: StreamOp,
    inputs: Sequence[Array],
    expected: Sequence[Array],
    *,
    seeds: Sequence[int] = (0, 1),
) -> Counters:
    """Run a stream in its order and in random legal ones; every result has to be the expected.

    Returns what was counted.
    """
    config, file = op.config, stream_file(op)
    places = side_by_side(file.symbols)
    instructions = file.linked(places)
    arrays: dict[Memory, Array] = {Memory.UOP: encode_uops(file.uops, config)}
    for kind, memory in ((DramKind.WGT, Memory.WGT), (DramKind.ACC, Memory.ACC)):
        constants = [
            network.context.weights.get(symbol.key)
            for symbol in op.symbols
            if symbol.type.kind is kind
        ]
        if constants:
            arrays[memory] = np.concatenate(constants)
    count = sum(each.elements for each in file.symbols if each.kind is DramKind.ACT)
    first = np.full((count, *config.element_shape(Memory.INP)), 55, np.int8)
    for i, x in enumerate(inputs):
        tiles = pack_activations(x, config)
        start = places[f"input{i}"]
        first[start : start + len(tiles)] = tiles
    counters = Counters()
    for seed in (None, *seeds):
        activations = first.copy()
        shared = dict.fromkeys((Memory.INP, Memory.ACC_8BIT, Memory.OUT), activations)
        dram, simulator = make_dram(config, arrays | shared), Simulator(config)
        if seed is None:
            simulator.run(instructions, dram)
            counters = simulator.counters
        else:
            run_stages(instructions, simulator, dram, seed)
        for i, result in enumerate(expected):
            start = places[f"output{i}"]
            tiles = activations[start : start + len(pack_activations(result, config))]
            actual = unpack_activations(tiles, result.shape, config)
            np.testing.assert_array_equal(actual, result)
    return counters


def requantized(sums: Array, shift: int, low: int = -128, high: int = 127) -> Array:
    """Sums as the layers round, shift and clip them."""
    half = 1 << shift - 1 if shift else 0
    return np.clip(sums + half >> shift, low, high).astype(np.int8)


def convolution(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    strides: Sequence[int] = (1, 1),
    pads: Sequence[int] = (0, 0, 0, 0),
    dilations: Sequence[int] = (1, 1),
    groups: int = 1,
) -> Array:
    """The sums of a convolution, in 64 bits."""
    padded = np.pad(x.astype(np.int64), ((0, 0), (0, 0), *zip(pads[:2], pads[2:], strict=True)))
    sizes = [
        (padded.shape[2 + i] - (weight.shape[2 + i] - 1) * dilations[i] - 1) // strides[i] + 1
        for i in range(2)
    ]
    outputs, inputs = weight.shape[0] // groups, weight.shape[1]
    sums = np.zeros((x.shape[0], weight.shape[0], *sizes), np.int64)
    for group in range(groups):
        rows = slice(group * outputs, (group + 1) * outputs)
        for ky, kx in np.ndindex(*weight.shape[2:]):
            piece = padded[
                :,
                group * inputs : (group + 1) * inputs,
                ky * dilations[0] :: strides[0],
                kx * dilations[1] :: strides[1],
            ][:, :, : sizes[0], : sizes[1]]
            # A double is exact up to 2^53.
            taps = weight[rows, :, ky, kx].astype(np.float64)
            sums[:, rows] += np.einsum("nchw,oc->nohw", piece.astype(np.float64), taps).astype(
                np.int64
            )
    return sums if bias is None else sums + bias[:, None, None]


def transposed_convolution(
    x: Array,
    weight: Array,
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int] = (1, 1),
    groups: int = 1,
) -> Array:
    """The sums of a transposed convolution, each input's products where they belong."""
    n, channels, h, w = x.shape
    inputs, outputs = channels // groups, weight.shape[1]
    window = weight.shape[2:]
    spread = [
        (size - 1) * strides[i] + (window[i] - 1) * dilations[i] + 1
        for i, size in enumerate((h, w))
    ]
    longer = [max(0, -pad) for pad in pads[2:]]
    sums = np.zeros((n, outputs * groups, spread[0] + longer[0], spread[1] + longer[1]), np.int64)
    for group in range(groups):
        members = slice(group * inputs, (group + 1) * inputs)
        rows = slice(group * outputs, (group + 1) * outputs)
        for ky, kx in np.ndindex(*window):
            products = np.einsum(
                "nchw,co->nohw",
                x[:, members].astype(np.int64),
                weight[members, :, ky, kx].astype(np.int64),
            )
            y, z = ky * dilations[0], kx * dilations[1]
            sums[
                :,
                rows,
                y : y + (h - 1) * strides[0] + 1 : strides[0],
                z : z + (w - 1) * strides[1] + 1 : strides[1],
            ] += products
    ends = [size + min(0, -pad) for size, pad in zip(spread, pads[2:], strict=True)]
    return sums[:, :, pads[0] : ends[0] + longer[0], pads[1] : ends[1] + longer[1]]
