"""Conversion of a region to a graph of layers, with packing into VTA's tiles at its border."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType, i8
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir import Region as IRRegion

from ....dialects import nn
from ....dialects.nn import Array, shape_of
from ....dialects.vta import BinaryOp, CallOp, Config, GraphOp, ReturnOp
from ....weights import Weights
from ...vta.compiling import compile_graph
from ..offload.calls import replace_region
from ..offload.matches import inputs_of
from ..offload.regions import Region
from .matching import VTAMatch


@dataclass(frozen=True)
class Outlined:
    """The graph of a region, with the region's inputs and outputs in the graph's order."""

    graph: GraphOp
    inputs: tuple[SSAValue, ...]
    outputs: tuple[SSAValue, ...]


def graph_of(region: Region, name: str, config: Config, weights: Weights) -> Outlined:
    """Return the graph `@name` of a region, which is not changed; constants join `weights`."""
    block = Block()
    inside: dict[SSAValue, SSAValue] = {}
    arguments: list[SSAValue] = []
    for match in region.matches:
        assert isinstance(match, VTAMatch)
        outside = inputs_of(match.ops)
        inputs = [outside[place] for place in match.places]
        for value in inputs:
            if value not in inside:
                argument = block.insert_arg(value.type, len(block.args))
                argument.name_hint = value.name_hint
                inside[value] = argument
                arguments.append(value)

        def constant(array: Array) -> SSAValue:
            op = nn.ConstantOp.from_array(array, weights)
            block.add_op(op)
            return op.result

        layer = match.layer.build([inside[value] for value in inputs], constant)
        layer.location = match.model[0].location
        layer.result.name_hint = match.model[-1].results[0].name_hint
        block.add_op(layer)
        inside[match.result] = layer.result
    block.add_op(ReturnOp([inside[value] for value in region.outputs]))
    graph = GraphOp(name, config, IRRegion(block))
    graph.location = region.matches[0].model[0].location
    return Outlined(graph, tuple(arguments), region.outputs)


def packed(value: SSAValue, config: Config) -> list[Operation]:
    """Return the operations that pack int8 activations into tiles, padded with zeros."""
    shape = shape_of(value)
    images, channels = _up(shape[0], config.batch), _up(shape[1], config.block_in)
    ops: list[nn.NNOp] = []

    def last() -> SSAValue:
        return ops[-1].results[0] if ops else value

    if (images, channels) != shape[:2]:
        missing = [images - shape[0], channels - shape[1], *[0] * len(shape[2:])]
        ops.append(nn.PadOp(last(), [0] * len(shape), missing))
    split = _split(images, channels, shape[2:], config)
    ops.append(nn.ReshapeOp(last(), split))
    ops.append(nn.TransposeOp(last(), (0, 2, *range(4, len(split)), 1, 3)))
    return [*ops]


def unpacked(tiles: SSAValue, shape: tuple[int, ...], config: Config) -> list[Operation]:
    """Return the operations that unpack tiles into activations of `shape`."""
    images, channels = _up(shape[0], config.batch), _up(shape[1], config.block_out)
    space = shape[2:]
    rank = 4 + len(space)
    order = (0, rank - 2, 1, rank - 1, *range(2, rank - 2))
    ops: list[nn.NNOp] = [nn.TransposeOp(tiles, order)]
    ops.append(nn.ReshapeOp(ops[-1].results[0], (images, channels, *space)))
    if (images, channels) != shape[:2]:
        whole = ops[-1].results[0]
        ops.append(nn.SliceOp(whole, [0] * len(shape), shape))
    return [*ops]


def _up(size: int, block: int) -> int:
    return -(-size // block) * block


def _split(images: int, channels: int, space: tuple[int, ...], config: Config) -> tuple[int, ...]:
    """Return N/batch, batch, C/block, block, and the spatial sizes."""
    batch, block = config.batch, config.block_in
    return (images // batch, batch, channels // block, block, *space)


def outline(region: Region, name: str, config: Config, weights: Weights) -> tuple[BinaryOp, CallOp]:
    """Compile a region and replace it by a call; return the binary and the call.

    Kernels before the call pack the inputs, and kernels after it unpack the outputs.
    """
    outlined = graph_of(region, name, config, weights)
    binary = compile_graph(outlined.graph, weights)
    last = region.matches[-1].ops[-1]
    block = last.parent
    assert block is not None
    before: list[Operation] = []
    operands: list[SSAValue] = []
    for value in outlined.inputs:
        ops = packed(value, config)
        before += ops
        operands.append(ops[-1].results[0])
    types = [TensorType(i8, _tiles_shape(shape_of(v), config)) for v in outlined.outputs]
    call = CallOp(name, operands, types)
    after: list[Operation] = []
    for value, result in zip(outlined.outputs, call.results, strict=True):
        ops = unpacked(result, shape_of(value), config)
        after += ops
        ops[-1].results[0].name_hint = value.name_hint
        value.replace_all_uses_with(ops[-1].results[0])
    call.location = region.matches[0].model[0].location
    for op in (*before, *after):
        op.location = call.location
    block.insert_ops_before(before, last)
    block.insert_ops_after(after, last)
    replace_region(region, call, ())
    return binary, call


def _tiles_shape(shape: tuple[int, ...], config: Config) -> tuple[int, ...]:
    images, channels = _up(shape[0], config.batch), _up(shape[1], config.block_out)
    n, batch, c, block, *space = _split(images, channels, shape[2:], config)
    return (n, c, *space, batch, block)
