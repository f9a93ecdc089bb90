"""The forms in which our kernels compute some operations of a model.

A form reads its operands in the order of the operation that it stands for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriterListener, PatternRewriteWalker, RewritePattern

from ...dialects import cl, nn
from .conv_transpose_to_conv import ConvTransposeToConv
from .split_concats import SplitConcat
from .winograd import ConvByTransforms


@dataclass
class Forms:
    """What became of the operations of a function."""

    _source: dict[Operation, Operation] = field(default_factory=dict[Operation, Operation])
    _made: list[Operation] = field(default_factory=list[Operation])

    def of(self, function: func.FuncOp) -> dict[Operation, list[Operation]]:
        """The operations of the function, without constants, by the one that they stand for."""
        found: dict[Operation, list[Operation]] = {}
        for op in function.body.block.ops:
            if not isinstance(op, nn.ConstantOp):
                found.setdefault(self._source.get(op, op), []).append(op)
        return found

    def listener(self) -> PatternRewriterListener:
        """Records each replacement of an operation by new ones."""
        return PatternRewriterListener(
            operation_insertion_handler=[self._made.append],
            operation_replacement_handler=[self._replaced],
        )

    def _replaced(self, op: Operation, results: Sequence[SSAValue | None]) -> None:
        source = self._source.pop(op, op)
        self._source |= dict.fromkeys(self._made, source)
        self._made.clear()


def rewrite(function: func.FuncOp, target: cl.Target, ctx: Context) -> Forms:
    """Bring each operation into the form in which our kernels compute it."""
    forms = Forms()
    for pattern in _patterns(target, ctx):
        walker = PatternRewriteWalker(pattern, apply_recursively=False, listener=forms.listener())
        walker.rewrite_region(function.body)
    return forms


def _patterns(target: cl.Target, ctx: Context) -> Iterator[RewritePattern]:
    # OpenCL limits the parameters of a kernel, and a concatenation has any number of operands.
    yield SplitConcat()
    # A transposed convolution becomes an ordinary one with interleaved outputs, which saves a kind
    # of kernel. First, so that Winograd's transforms see the ordinary one.
    yield ConvTransposeToConv.on(target, ctx)
    # Where it pays, 3x3 convolutions become batches of matrix products between two transforms.
    transforms = ConvByTransforms.on(target, ctx)
    if transforms is not None:
        yield transforms
