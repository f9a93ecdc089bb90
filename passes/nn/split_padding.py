"""Padding of the inputs of convolutions and pools in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from math import inf, prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ...decisions import Choices, Site, SiteKind, deciding
from ...decisions.alternatives import Saving
from ...dialects import cl, nn
from ...dialects.nn.winograd import KERNEL
from ...messages.explanations import Reason, Why
from ..locations import node_name
from .rewriting import in_kernel, replace, rewrite_networks
from .structure import structure_digest

_MEMORY, _LOOPS = "memory", "loops"


def _pad(x: SSAValue, low: tuple[int, ...], high: tuple[int, ...], value: float) -> nn.PadOp:
    """Pad the spatial dimensions of `x`."""
    pad = nn.PadOp(x, (0, 0, *low), (0, 0, *high), value=value)
    pad.result.name_hint = "padded"
    return pad


@dataclass(frozen=True)
class _Borders:
    """Decides whether borders are padded in memory or tested in the loops of a kernel."""

    target: cl.Target
    choices: Choices | None
    _decided: dict[Operation, bool] = field(default_factory=dict[Operation, bool])

    def are_tested(self, op: nn.ConvOp | nn.PoolOp, terms: int) -> bool:
        """Return whether the loops of an operation with `terms` reads per result test its border.

        They do if a choice demands it.
        """
        if self.choices is None:
            return False
        if op not in self._decided:
            site = self.choices.next_site(SiteKind.BORDER, structure_digest(op.operands, [op]))
            words, node = (_MEMORY, _LOOPS), node_name(op)
            chosen = self.choices.decide(site, _MEMORY, words, node, partial(Reason, Why.RULE))
            self._decided[op] = chosen == _LOOPS
            if self.choices.wants_alternatives and chosen == _MEMORY:
                self._offer_tests(site, op, terms, self.choices)
        return self._decided[op]

    def _offer_tests(
        self, site: Site, op: nn.ConvOp | nn.PoolOp, terms: int, choices: Choices
    ) -> None:
        """Offer to test the border, without a padded copy of the operand."""
        type_ = nn.tensor_type(op.x)
        size = nn.count(type_.get_shape()) * nn.numpy_dtype(type_.element_type).itemsize
        reads = nn.count(nn.shape_of(op.result)) * terms
        rate = 1e3 * self.target.machine.mads_per_nanosecond * self.target.device.compute_units
        # A test for each read takes about as long as its multiply-add.
        time = reads * self.target.machine.access_cost / rate
        choices.offer(site, StringAttr(_LOOPS), Saving(size, time), [op], node_name(op))


@dataclass
class SplitConvPadding(RewritePattern):
    """conv with pads -> pad, conv without."""

    borders: _Borders

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.ConvOp, rewriter: PatternRewriter, /) -> None:
        pads = nn.ints(op.pads)
        if in_kernel(op) or not any(pads):
            return
        if self.borders.are_tested(op, prod(nn.shape_of(op.w)[1:])):
            return
        rank = len(pads) // 2
        pad = _pad(op.x, pads[:rank], pads[rank:], 0)
        conv = nn.ConvOp(
            pad.result,
            op.w,
            op.b,
            strides=nn.ints(op.strides),
            dilations=nn.ints(op.dilations),
            groups=op.groups.value.data,
            accumulate_half=op.accumulate is not None,
        )
        replace(rewriter, op, pad, conv)


class SplitWinogradPadding(RewritePattern):
    """winograd_input with pads or partial tiles -> pad, winograd_input of whole tiles."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.WinogradInputOp, rewriter: PatternRewriter, /) -> None:
        tile, pads, sizes = op.tile.value.data, nn.ints(op.pads), nn.shape_of(op.x)[2:]
        low, high = pads[:2], list(pads[2:])
        for i, size in enumerate(sizes):
            beyond = size + low[i] + high[i] - KERNEL + 1
            high[i] += -beyond % tile
        if in_kernel(op) or not any((*low, *high)):
            return
        pad = _pad(op.x, low, tuple(high), 0)
        in_steps = op.in_steps is not None
        replace(rewriter, op, pad, nn.WinogradInputOp(pad.result, tile, in_steps=in_steps))


@dataclass
class SplitPoolPadding(RewritePattern):
    """max pool, or average pool that counts its padding, with pads -> pad, pool without."""

    borders: _Borders

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.PoolOp, rewriter: PatternRewriter, /) -> None:
        pads, strides, kernel = nn.ints(op.pads), nn.ints(op.strides), nn.ints(op.kernel)
        is_max = op.kind.data is nn.PoolKind.MAX
        counted = op.count_include_pad is not None and op.ceil_mode is None
        if in_kernel(op) or not any(pads):
            return
        if not nn.is_float(nn.tensor_type(op.x).element_type):
            return
        if not is_max and not (op.kind.data is nn.PoolKind.AVERAGE and counted):
            return
        if self.borders.are_tested(op, prod(kernel)):
            return
        rank = len(kernel)
        sizes = zip(
            nn.shape_of(op.x)[2:],
            nn.shape_of(op.result)[2:],
            kernel,
            strides,
            nn.ints(op.dilations),
            pads[:rank],
            strict=True,
        )
        high = tuple(
            max(0, (count - 1) * stride + nn.extent(window, dilation) - size - before)
            for size, count, window, stride, dilation, before in sizes
        )
        pad = _pad(op.x, pads[:rank], high, -inf if is_max else 0)
        pool = nn.PoolOp(
            pad.result, op.kind.data, kernel, strides=strides, dilations=nn.ints(op.dilations)
        )
        replace(rewriter, op, pad, pool)


class NNSplitPaddingPass(ModulePass):
    """Move the padding of convolutions and pools into `nn.pad`.

    A vector load cannot test for each lane whether it is inside. With a border in memory the inner
    loops need no test and are several times as fast.
    """

    name = "nn-split-padding"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        with deciding(op, ctx) as choices:
            borders = _Borders(cl.target_of(op), choices)
            patterns: list[RewritePattern] = [
                SplitConvPadding(borders),
                SplitWinogradPadding(),
                SplitPoolPadding(borders),
            ]
            applier = GreedyRewritePatternApplier(patterns, dce_enabled=False)
            rewrite_networks(op, applier)
