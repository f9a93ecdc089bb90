"""The forms in which OpenCL kernels compute some operations of a model.

A form reads its operands in the order of the operation that it replaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriterListener, PatternRewriteWalker, RewritePattern

from ...decisions import Choices
from ...dialects import cl, nn
from .conv_transpose_to_conv import ConvTransposeToConv
from .form_sites import convolutions, decide_forms
from .split_concats import SplitConcat
from .winograd import ConvByTransforms


@dataclass
class Forms:
    """A record of the operations that replaced a function's original ones."""

    _source: dict[Operation, Operation] = field(default_factory=dict[Operation, Operation])
    _made: list[Operation] = field(default_factory=list[Operation])

    def of(self, function: func.FuncOp) -> dict[Operation, list[Operation]]:
        """Return the operations of the function, without constants, by the one they replaced."""
        replacements: dict[Operation, list[Operation]] = {}
        for op in function.body.block.ops:
            if not isinstance(op, nn.ConstantOp):
                replacements.setdefault(self._source.get(op, op), []).append(op)
        return replacements

    def apply(self, function: func.FuncOp, patterns: Iterable[RewritePattern]) -> None:
        """Apply patterns to the operations of a function, one pattern after the other."""
        for pattern in patterns:
            walker = PatternRewriteWalker(
                pattern, apply_recursively=False, listener=self.listener()
            )
            walker.rewrite_region(function.body)

    def listener(self) -> PatternRewriterListener:
        """Return a listener that records each replacement of an operation by new ones."""
        return PatternRewriterListener(
            operation_insertion_handler=[self._made.append],
            operation_replacement_handler=[self._replaced],
        )

    def _replaced(self, op: Operation, results: Sequence[SSAValue | None]) -> None:
        source = self._source.pop(op, op)
        self._source |= dict.fromkeys(self._made, source)
        self._made.clear()


def rewrite(
    function: func.FuncOp,
    target: cl.Target,
    ctx: Context,
    choices: Choices | None = None,
) -> Forms:
    """Rewrite each operation to the form in which OpenCL kernels compute it.

    `choices` decide the forms of convolutions, and else the target's model.
    """
    forms = Forms()
    forms.apply(function, _simplest(function, target, ctx))
    # Winograd: 3x3 convolutions may become batches of matrix products between two transforms.
    transforms = ConvByTransforms.on(target, ctx, function)
    if transforms is not None:
        if choices is not None:
            tiles = decide_forms(convolutions(function, transforms), choices)
            transforms = replace(transforms, chosen=tiles)
        forms.apply(function, [transforms])
    return forms


def _simplest(function: func.FuncOp, target: cl.Target, ctx: Context) -> Iterator[RewritePattern]:
    """Yield the patterns of forms that are not a choice."""
    # OpenCL limits the parameters of a kernel, and a concatenation has any number of operands.
    yield SplitConcat()
    # A transposed convolution becomes an ordinary one with interleaved outputs, so that it needs no
    # schedules of its own. Before Winograd's transforms, which apply to the ordinary one.
    yield ConvTransposeToConv.on(target, ctx, function)
