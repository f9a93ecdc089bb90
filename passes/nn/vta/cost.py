"""Cost model of VTA layers, in microseconds.

    max(products, transfers) + ALU

As in the published core, a product of two tiles takes one cycle, an ALU operation on a tile two,
and the bus moves eight bytes per cycle. The fact `vta_megahertz` is the clock frequency.
"""

from __future__ import annotations

import math

import numpy as np

from ....dialects import cl, nn
from ....dialects.vta import Config, ConvTransposeOp
from ....dialects.vta.facts import VTAFacts
from .layers import Layer

BYTES_PER_CYCLE = 8
ALU_CYCLES = 2
_STEPS = 4
"""ALU operations on each sum: round, shift, and the two bounds."""


def layer_microseconds(layer: Layer, facts: VTAFacts) -> float:
    """Return the time of one layer that reads its activations from DRAM and writes them back."""
    config = facts.config
    sizes = [_bytes(nn.shape_of(value), config) for value in (*layer.inputs, layer.result)]
    weights = sum(array.nbytes for array in layer.constants)
    transfers = (sum(sizes) + weights) / BYTES_PER_CYCLE
    results = sizes[-1] / (config.batch * config.block_out)
    window = math.prod(layer.options.get("kernel", (1,)))
    alu = ALU_CYCLES * (_STEPS + len(layer.inputs) + window - 1) * results
    return (max(_products(layer, config), transfers) + alu) / facts.vta_megahertz


def copy_microseconds(size: int, target: cl.Target) -> float:
    """Return the time of a kernel that packs or unpacks activations of `size` bytes."""
    return target.machine.launch_microseconds + 2 * size / (1e3 * target.machine.bandwidth)


def _bytes(shape: tuple[int, ...], config: Config) -> int:
    """Return the bytes of activations in tiles."""
    images, channels, *space = shape
    padded = _up(images, config.batch) * _up(channels, config.block_in)
    return padded * math.prod(space)


def _products(layer: Layer, config: Config) -> float:
    """Return the number of tile products: each weight tile times the positions it multiplies."""
    if not layer.constants:
        return 0.0
    weight = layer.constants[0]
    outputs, inputs, *window = weight.shape
    tiles = _up(outputs, config.block_out) * _up(inputs, config.block_in) * math.prod(window)
    of_positions = layer.inputs[0] if layer.kind is ConvTransposeOp else layer.result
    images, _, *space = nn.shape_of(of_positions)
    positions = np.prod(space, dtype=np.int64) * -(-images // config.batch)
    return float(tiles / (config.block_in * config.block_out) * positions)


def _up(size: int, block: int) -> int:
    return -(-size // block) * block
