"""Fold `lens.levels` of `lens.levels` into one, so that a picture is walked once."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from .dialect import LevelsOp


class FoldLevels(RewritePattern):
    """b (a x + c) + d is (a b) x + (b c + d)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LevelsOp, rewriter: PatternRewriter) -> None:
        inner = op.picture.owner
        if isinstance(inner, LevelsOp):
            gain, offset = op.gain.value.data, op.offset.value.data
            folded = LevelsOp(
                inner.picture,
                gain * inner.gain.value.data,
                gain * inner.offset.value.data + offset,
            )
            rewriter.replace(op, folded)
            if inner.result.first_use is None:
                rewriter.erase(inner)


@dataclass(frozen=True)
class FoldLevelsPass(ModulePass):
    """Make one `lens.levels` of two that follow each other."""

    name = "lens-fold-levels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(FoldLevels()).rewrite_module(op)
