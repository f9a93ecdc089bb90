"""Split layers into tiles, written as operations of a program without tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...context import weights_of
from ...dialects import nn
from ...dialects.vta import (
    BufferOp,
    ConcatOp,
    Config,
    ConstantOp,
    ConvolutionOp,
    ConvTransposeOp,
    DenseOp,
    DramKind,
    DramType,
    FinishOp,
    GraphOp,
    LayerOp,
    PoolOp,
    ProgramOp,
    SymbolicOp,
    UpsampleOp,
)
from ...dialects.vta.layers import shape_of
from ...errors import CloptError
from ...weights import Array, Weights
from .lowering.channelwise import ChannelwiseLayer
from .lowering.elementwise import write_elementwise
from .lowering.emitter import Emitter, TensorAddress
from .lowering.joining import homes_of, images_of, parts_of, tiles_of_image
from .lowering.packing import (
    activation_tiles,
    merge_groups,
    pack_bias,
    pack_weight,
)
from .lowering.problems import merged_groups, problem_of
from .lowering.products import ProductLayer
from .lowering.steps import COPY, AddBias, Step, behind_window, requantize
from .lowering.tasks import VTATask, tasks_of
from .lowering.tiling import choose_tile


@dataclass(frozen=True)
class VTALowerLayersPass(ModulePass):
    """Turns each `vta.graph` into a `vta.program` with the same name and without tokens.

    Its buffers are `input0`, ... and `output0`, ... for the graph's inputs and outputs, and
    `layer0`, ... for intermediate values. A layer is split into tiles that fit the scratchpads; a
    model of transfers, products and instructions selects the cheapest tile. Weights and biases are
    packed into DRAM order, with zeros for missing channels; a bias includes the rounding constant.
    Elementwise layers run on sums before they are stored. Operands of concatenations are stored
    directly in their result. Pooling windows are ALU operations on pieces of the image.

    With 2 `threads`, each scratchpad holds two tiles, so that one is transferred while the other is
    computed. `write_to_read` is the minimum distance, in micro-ops, from a write of a sum to a read
    of it.
    """

    name: ClassVar[str] = "vta-lower-layers"
    threads: int = 2
    write_to_read: int = 4

    def __post_init__(self) -> None:
        if self.threads not in (1, 2):
            raise CloptError(f"vta-lower-layers: threads must be 1 or 2, not {self.threads}.")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for graph in list(op.ops):
            if isinstance(graph, GraphOp):
                lowering = _GraphLowering(
                    graph, weights_of(ctx, op), self.threads, self.write_to_read
                )
                Rewriter.replace_op(graph, lowering.program())


class _GraphLowering:
    """Builds the program of one graph."""

    def __init__(self, graph: GraphOp, weights: Weights, threads: int, distance: int) -> None:
        self.graph, self.weights, self.threads, self.distance = graph, weights, threads, distance
        self.config: Config = graph.config
        self.symbols: dict[str, SymbolicOp] = {}
        self.places: dict[SSAValue, TensorAddress] = {}
        self.homes: dict[SSAValue, tuple[SSAValue, int]] = {}
        self.emitter = Emitter(self.config, distance)

    def program(self) -> ProgramOp:
        """Return the program of the graph."""
        tasks = tasks_of(self.graph)
        outputs = list(self.graph.outputs)
        for i, value in enumerate(self.graph.inputs):
            self._buffer(f"input{i}", value)
        for i, value in enumerate(outputs):
            self._buffer(f"output{i}", value)
        self.homes = homes_of(tasks, set(outputs), self.config)
        inner = [task.result for task in tasks if task.result not in (*outputs, *self.homes)]
        for i, value in enumerate(inner):
            self._buffer(f"layer{i}", value)
        for value, (home, first) in self.homes.items():
            self.places[value] = self.places[home].shifted(first)
        for task in tasks:
            self._write(task)
        ops: list[Operation] = [*self.symbols.values(), *self.emitter.ops, FinishOp()]
        name = self.graph.sym_name.data
        body = Region(Block(ops))
        return ProgramOp(name, self.config, body, write_to_read=self.distance)

    def _buffer(self, key: str, value: SSAValue) -> None:
        tiles = activation_tiles(shape_of(value), self.config)
        self.places[value] = TensorAddress(
            self._symbol(BufferOp(key, DramType(DramKind.ACT, tiles)))
        )

    def _symbol(self, op: SymbolicOp) -> SSAValue:
        known = self.symbols.setdefault(op.key, op)
        return known.result

    def _constant(self, array: Array, kind: DramKind) -> SSAValue:
        return self._symbol(ConstantOp(self.weights.add(array), DramType(kind, len(array))))

    def _write(self, task: VTATask) -> None:
        match task.root:
            case ConvolutionOp() | DenseOp() as layer:
                self._write_product(task, layer)
            case PoolOp() | UpsampleOp() as layer:
                self._write_channelwise(task, layer)
            case ConcatOp() as layer:
                self._write_concat(layer)
            case _:
                assert task.source is not None
                tiles = activation_tiles(shape_of(task.result), self.config)
                places = self.places[task.source], self.places[task.result]
                self._write_elementwise(*places, tiles, task.steps)

    def _write_elementwise(
        self, source: TensorAddress, result: TensorAddress, tiles: int, steps: Sequence[Step]
    ) -> None:
        write_elementwise(self.emitter, source, steps, result, self.places, tiles, self.threads)

    def _write_concat(self, layer: ConcatOp) -> None:
        """Copy the operands that are not stored in the result."""
        result = self.places[layer.result]
        whole = tiles_of_image(layer.result, self.config)
        for value, first in parts_of(layer, self.config):
            if self.homes.get(value) == (layer.result, first):
                continue
            source, tiles = self.places[value], tiles_of_image(value, self.config)
            for image in range(images_of(value, self.config)):
                places = source.shifted(image * tiles), result.shifted(image * whole + first)
                self._write_elementwise(*places, tiles, COPY)

    def _write_channelwise(self, task: VTATask, layer: PoolOp | UpsampleOp) -> None:
        steps = [*behind_window(layer), *task.steps]
        place = self.places[task.result]
        try:
            writer = ChannelwiseLayer(self.emitter, layer, steps, place, self.places, self.threads)
        except ValueError as error:
            raise self._too_large(layer, error) from error
        writer.write()

    def _too_large(self, layer: LayerOp, error: ValueError) -> CloptError:
        return CloptError(
            f"{layer.name} of {layer.result.type} does not fit the scratchpads of "
            f"{self.config.name}, since {error}; use a configuration with larger scratchpads."
        )

    def _write_product(self, task: VTATask, layer: ConvolutionOp | DenseOp) -> None:
        weight = self._weight(layer)
        bias = self._bias(layer, shape_of(layer.result)[1])
        steps = [*bias, *requantize(layer, rounds=not bias), *task.steps]
        problem = problem_of(layer, steps, self.config)
        try:
            tiling = choose_tile(problem, self.config, self.threads)
        except ValueError as error:
            raise self._too_large(layer, error) from error
        ProductLayer(
            self.emitter,
            problem,
            tiling,
            (layer.x, TensorAddress(self._constant(weight, DramKind.WGT))),
            self.places[task.result],
            steps,
            self.places,
        ).write()

    def _array(self, value: SSAValue) -> Array:
        array = nn.constant_value(value, self.weights)
        if array is None:
            raise CloptError(
                f"The weights of {value.type} are not in the store; pass the store that was filled "
                "together with this module."
            )
        return array

    def _weight(self, layer: ConvolutionOp | DenseOp) -> Array:
        """Return the packed weight of a layer."""
        array = self._array(layer.weight)
        if isinstance(layer, DenseOp):
            return pack_weight(array.reshape(*array.shape[:2], -1, 1), self.config)
        groups = layer.groups
        if isinstance(layer, ConvTransposeOp):
            inputs, outputs, *window = array.shape
            split = array.reshape(groups, inputs // groups, outputs, *window)
            array = split.swapaxes(1, 2).reshape(groups * outputs, inputs // groups, *window)
        merged = merged_groups(layer, self.config)
        return pack_weight(merge_groups(array, groups, merged), self.config)

    def _bias(self, layer: ConvolutionOp | DenseOp, channels: int) -> list[AddBias]:
        """Return the bias with the rounding constant, or nothing if an immediate can round."""
        rounding = 1 << layer.shift - 1 if layer.shift else 0
        if layer.bias is None and rounding < 1 << 15:
            return []
        zeros = np.zeros(channels, np.int32)
        bias = zeros if layer.bias is None else self._array(layer.bias)
        value = self._constant(pack_bias(bias, rounding, self.config), DramKind.ACC)
        self.places[value] = TensorAddress(value)
        return [AddBias(value)]
