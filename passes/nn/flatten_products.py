"""Products of stacked matrices with one matrix as one product, on GPUs that multiply panels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ...decisions import Choices, SiteKind, deciding
from ...dialects import cl, nn
from ...dialects.nn import shape_of
from ..locations import node_name
from .rewriting import in_kernel, replace, rewrite_networks
from .structure import structure_digest

_STACKED, _FLAT = "stacked", "flat"


class NNFlattenProductsPass(ModulePass):
    """Turn a [..., M, K] times b [K, N] into one product with the rows of all matrices.

    No element moves: the surrounding reshapes are views of plain memory. A work-group multiplies a
    panel of rows (`gpu-matmul`). Part of it would idle for matrices with fewer rows than a panel,
    or slightly more than whole panels. On targets without panels, products stay stacked unless a
    choice demands otherwise.
    """

    name: ClassVar[str] = "nn-flatten-products"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        usual = _FLAT if cl.target_of(op).machine.prefetched_panels else _STACKED
        with deciding(op, ctx) as choices:
            if usual == _FLAT or choices is not None:
                rewrite_networks(op, StackedProduct(usual, choices))


@dataclass
class StackedProduct(RewritePattern):
    """matmul -> reshape, matmul, reshape."""

    usual: str
    choices: Choices | None

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.MatmulOp, rewriter: PatternRewriter, /) -> None:
        *stack, rows, depth = shape_of(op.a)
        is_stacked = nn.count(stack) > 1 and op.transpose_a is None and len(shape_of(op.b)) == 2
        if not is_stacked or in_kernel(op) or self._form(op) == _STACKED:
            return
        flat = nn.ReshapeOp(op.a, (nn.count(stack) * rows, depth))
        product = nn.MatmulOp(
            flat.result,
            op.b,
            transpose_b=op.transpose_b is not None,
            accumulate_half=op.accumulate is not None,
        )
        replace(rewriter, op, flat, product, nn.ReshapeOp(product.result, shape_of(op.result)))

    def _form(self, op: nn.MatmulOp) -> str:
        if self.choices is None:
            return self.usual
        site = self.choices.next_site(SiteKind.FORM, structure_digest(op.operands, [op]))
        return self.choices.decide(site, self.usual, (_STACKED, _FLAT), node_name(op))
