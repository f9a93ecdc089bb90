"""Winograd's transforms for 3x3 convolutions, where the cost model predicts a gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, prod
from typing import ClassVar, Self

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f16, f32
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ...context import weights_of
from ...dialects import cl, nn
from ...dialects.nn import Array, ints, shape_of
from ...dialects.nn.winograd import KERNEL, TRANSFORMS, tile_counts
from ...dialects.tir import TEXEL
from ...machine.policy import AMOUNTS
from ...weights import Weights
from .rewriting import in_kernel, replace, rewrite_networks
from .winograd_costs import Costs, ElementCounts, TexelCosts

# Error of halves, relative to the largest result: F(4x4, 3x3) 1.5e-3, F(2x2, 3x3) 4e-4, the direct
# form 3e-4.
TILES: dict[Attribute, tuple[int, ...]] = {f32: (4, 2), f16: (2,)}
"""The m of the allowed F(m x m, 3 x 3), by element type."""
_WEIGHT_BYTES = 4
_MORE_LAUNCHES = 2
"""Launches beyond the one of the direct form: the kernels of both transforms."""
_SLOTS = 1.2
"""Issue slots of a multiply-add on texels, as Mesa's ir3 compiles it for Adreno."""

# So few that their transforms stay in the caches and BLAS does not split the product into threads.
_FILTERS_AT_ONCE = 1024


@dataclass(frozen=True)
class NNWinogradPass(ModulePass):
    """Turn 3x3 convolutions of stride 1 into input transform, matrix products, output transform.

    With channels in blocks, on a CPU, these are one operation, whose kernel computes a few tiles at
    a time. If activations and weights are texels, the products compute along channels; otherwise
    they are a batch of matrix products.

    `mode` is `off`, `auto` (if there is a gain after the cost of the transforms, a fact of the
    target) or `prefer` (if there are fewer products). By default the target's `winograd` decides.

    In floats, F(4, 3) is less exact than the direct form, and F(2, 3) is more exact; a table lists
    the [errors by channels](layouts.md#blocks-of-channels-on-cpus). Halves use only F(2, 3).
    `winograd=off` on the target keeps the direct form.
    """

    name: ClassVar[str] = "nn-winograd"
    mode: str = ""

    def __post_init__(self) -> None:
        if self.mode not in ("", *AMOUNTS):
            raise ValueError(f"mode is one of {', '.join(AMOUNTS)}, not {self.mode}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pattern = ConvByTransforms.on(cl.target_of(op), ctx, op, self.mode)
        if pattern is not None:
            rewrite_networks(op, pattern)


@dataclass
class ConvByTransforms(RewritePattern):
    """conv -> winograd_input, matmul or winograd_product, winograd_output, bias as a broadcast add.

    With channels in blocks, conv -> winograd_conv.
    """

    weights: Weights | None
    costs: Costs
    rate: float
    """Products per microsecond."""
    lanes: int = 0
    """Channels per block if a kernel transforms a few tiles at a time; 0 for other targets."""
    in_texels: bool = False
    """Whether the products multiply texels of channels."""
    chosen: Mapping[Operation, int | None] = field(default_factory=dict[Operation, int | None])
    """The m of F(m x m, 3 x 3) of some convolutions, None for the direct form.

    All other convolutions use `usual`.
    """
    is_choice: bool = True
    """Whether the costs decide, not the mode."""

    @classmethod
    def on(cls, target: cl.Target, ctx: Context, op: Operation, mode: str = "") -> Self | None:
        """Return the pattern for a module's `op` in a mode (default: the target's), or None."""
        mode, lanes = mode or target.policy.winograd, 0 if target.uses_textures else target.lanes
        machine = target.machine
        is_gpu = target.device.device_type == "gpu"
        in_texels = is_gpu and target.uses_textures and machine.winograd_packed_cost > 0
        transform_cost = machine.winograd_transform_cost
        if lanes or in_texels:
            transform_cost = machine.winograd_packed_cost
        if mode == "off" or (mode == "auto" and not transform_cost):
            return None
        rate = 1e3 * machine.mads_per_nanosecond * target.device.compute_units
        weights = weights_of(ctx, op)
        if in_texels:
            rate /= _SLOTS
        if mode == "prefer":
            costs = Costs()
            return cls(weights, costs, rate, lanes, in_texels, is_choice=False)
        byte = rate / (1e3 * machine.bandwidth)
        launches = 0.0 if lanes else _MORE_LAUNCHES * machine.launch_microseconds * rate
        if in_texels:
            costs = TexelCosts(transform_cost, launches=launches, byte=byte)
        else:
            # A matrix product in a launch of its own reads transformed weights like elements.
            weight = _WEIGHT_BYTES * byte if lanes else transform_cost
            costs = Costs(transform_cost, weight, launches, overlaps=bool(lanes))
        return cls(weights, costs, rate, lanes, in_texels)

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.ConvOp, rewriter: PatternRewriter, /) -> None:
        tile = self.chosen[op] if op in self.chosen else self.usual(op)
        w = None if tile is None else nn.constant_value(op.w, self.weights)
        if w is None or tile is None:
            return
        changed = transformed_weights(w, tile, outputs_first=bool(self.lanes))
        matrices = nn.ConstantOp.from_array(changed, self.weights, nn.hint_of(op.w))
        if self.lanes:
            conv = nn.WinogradConvOp(op.x, matrices.result, op.b, tile, ints(op.pads))
            replace(rewriter, op, matrices, conv)
            return
        tiles = nn.WinogradInputOp(op.x, tile, ints(op.pads), in_steps=self.in_texels)
        half = op.accumulate is not None
        if self.in_texels:
            product = nn.WinogradProductOp(tiles.result, matrices.result, accumulate_half=half)
        else:
            product = nn.MatmulOp(matrices.result, tiles.result, accumulate_half=half)
        n, _, h, width = shape_of(op.result)
        sizes = (n, h, width)
        result = nn.WinogradOutputOp(product.result, tile, sizes, in_steps=self.in_texels)
        replace(rewriter, op, matrices, tiles, product, result, *self._bias(op, result))

    def allowed(self, op: nn.ConvOp) -> list[int]:
        """Return the m of all F(m x m, 3 x 3) that may compute a convolution."""
        if in_kernel(op) or nn.constant_of(op.w) is None or not self._is_eligible(op):
            return []
        # A map of one tile is all border: its transform has a term per element, and Intel's
        # compiler took 90 s for one such kernel.
        sizes = shape_of(op.result)[2:]
        tiles = TILES.get(nn.tensor_type(op.x).element_type, ())
        found = [m for m in tiles if prod(tile_counts(sizes, m)) > 1]
        return [m for m in found if self.costs.gain(op, m) > -inf]

    def usual(self, op: nn.ConvOp) -> int | None:
        """Return the cheapest m of F(m x m, 3 x 3), or None if the direct form is cheaper."""
        best = max(self.allowed(op), key=lambda m: self.costs.gain(op, m), default=None)
        if best is None:
            return None
        return best if self.costs.gain(op, best) > self.costs.launches else None

    def saved(self, op: nn.ConvOp, tile: int | None) -> float:
        """Return the microseconds that F(m x m, 3 x 3) saves; none for the direct form, None."""
        if tile is None:
            return 0.0
        return (self.costs.gain(op, tile) - self.costs.launches) / self.rate

    def _is_eligible(self, op: nn.ConvOp) -> bool:
        steps = {*ints(op.strides), *ints(op.dilations), *ints(op.groups)}
        outputs, inputs, *window = shape_of(op.w)
        lanes = TEXEL if self.in_texels else self.lanes
        is_filled = not lanes or inputs % lanes == 0 == outputs % lanes
        return window == [KERNEL, KERNEL] and steps == {1} and is_filled

    def bytes_between(self, op: nn.ConvOp, tile: int | None) -> int:
        """Return the bytes of the transformed maps in memory; 0 for the direct form."""
        if tile is None or self.lanes:
            return 0
        between = ElementCounts.between(op, tile)
        size = nn.numpy_dtype(nn.tensor_type(op.x).element_type).itemsize
        return (between.operand + between.result) * size

    def _bias(self, op: nn.ConvOp, result: nn.WinogradOutputOp) -> Sequence[Operation]:
        if op.b is None:
            return ()
        shape = (*shape_of(op.b), 1, 1)
        array = nn.constant_value(op.b, self.weights)
        if array is None:
            bias: Operation = nn.ReshapeOp(op.b, shape)
        else:
            hint = nn.hint_of(op.b)
            bias = nn.ConstantOp.from_array(array.reshape(shape), self.weights, hint)
        return bias, nn.BinaryOp(result.result, bias.results[0], nn.BinaryKind.ADD)


def transformed_weights(w: Array, tile: int, *, outputs_first: bool = False) -> Array:
    """Return `G g G^T` of every filter g of w [O, C, 3, 3], computed in double.

    The result is [T * T, O, C], or [O, T * T, C] with `outputs_first`.
    """
    g = np.array(TRANSFORMS[tile].weight, np.float64)
    matrix, (outputs, inputs) = np.kron(g, g), w.shape[:2]
    sizes = (outputs, len(matrix), inputs) if outputs_first else (len(matrix), outputs, inputs)
    changed = np.empty(sizes, w.dtype)
    by_element = changed.transpose(1, 0, 2) if outputs_first else changed
    # One product of all filters takes six times as long; numpy's einsum of all three is slower.
    step = -(-_FILTERS_AT_ONCE // inputs)
    for at in range(0, outputs, step):
        filters = w[at : at + step].reshape(-1, KERNEL * KERNEL).astype(np.float64)
        by_element[:, at : at + step] = (matrix @ filters.T).reshape(len(matrix), -1, inputs)
    return changed
