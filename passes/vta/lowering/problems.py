"""Layers with products as tiling problems, and a check of which layers fit the scratchpads."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ....dialects.vta import (
    ConcatOp,
    Config,
    ConvolutionOp,
    ConvTransposeOp,
    DenseOp,
    LayerOp,
    Memory,
    PoolOp,
    UpsampleOp,
)
from ....dialects.vta.layers import shape_of
from .channelwise import channelwise_fits
from .packing import block_groups, blocks
from .steps import AddBias, AddTensor, Step
from .tiling import TilingProblem, fits
from .windows import AxisWindow

_MOST_OPERANDS = 2
"""Tensors of an elementwise layer in the accumulator at once."""


def merged_groups(layer: ConvolutionOp | DenseOp, config: Config) -> int:
    """Return the number of groups of a layer after merging to whole blocks."""
    if isinstance(layer, DenseOp):
        return 1
    channels = shape_of(layer.x)[1], shape_of(layer.result)[1]
    return block_groups(layer.groups, *channels, config.block_in)


def problem_of(
    layer: ConvolutionOp | DenseOp, steps: Sequence[Step], config: Config
) -> TilingProblem:
    """Return the tiling problem of a layer whose sums go through `steps`."""
    kinds = [isinstance(step, AddTensor) for step in steps]
    alu_steps, residuals = len(steps) - sum(kinds), min(1, sum(kinds))
    vectors = int(any(isinstance(step, AddBias) for step in steps))
    return _problem(layer, config, alu_steps, residuals, vectors)


def _problem(
    layer: ConvolutionOp | DenseOp, config: Config, alu_steps: int, residuals: int, vectors: int
) -> TilingProblem:
    x, y = shape_of(layer.x), shape_of(layer.result)
    block, groups = config.block_in, merged_groups(layer, config)
    images = blocks(x[0], config.batch)
    inner, outer = blocks(x[1] // groups, block), blocks(y[1] // groups, block)
    if isinstance(layer, DenseOp):
        inner *= prod(x[2:])
        rows, columns = AxisWindow(images, images, skips=True), AxisWindow(1, 1)
        return TilingProblem(1, 1, inner, outer, rows, columns, True, alu_steps, residuals, vectors)
    window = shape_of(layer.weight)[2:]
    is_transposed = isinstance(layer, ConvTransposeOp)
    rows, columns = (
        AxisWindow(
            x[2 + i], y[2 + i], window[i], layer.strides[i], layer.dilations[i], layer.pads[i],
            transposed=is_transposed, skips=i == 0,
        )
        for i in range(2)
    )  # fmt: skip
    return TilingProblem(
        images, groups, inner, outer, rows, columns, False, alu_steps, residuals, vectors
    )


def why_not(layer: LayerOp, config: Config, threads: int = 2) -> str:
    """Return why a core cannot tile a layer, or "".

    The smallest tile needs room for one sum and the operands of its steps.
    """
    if isinstance(layer, ConvolutionOp | DenseOp):
        has_room = fits(_problem(layer, config, 0, 1, 1), config, threads)
    elif isinstance(layer, PoolOp | UpsampleOp):
        has_room = channelwise_fits(layer, config, threads)
    else:
        has_room = threads * _MOST_OPERANDS <= config.depth(Memory.ACC)
    if isinstance(layer, ConcatOp) and (sentence := layer.why_not(config)):
        return sentence
    if has_room:
        return ""
    return f"{threads} of its smallest tiles do not fit the scratchpads of VTA {config.name}"
