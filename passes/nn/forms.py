"""The forms in which our kernels compute some operations of a model.

A form reads its operands in the order of the operation that it stands for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriterListener, PatternRewriteWalker, RewritePattern

from ...dialects import cl, nn
from .conv_transpose_to_conv import ConvTransposeToConv
from .split_concats import SplitConcat
from .tuned_forms import ConvolutionSite, TunedForms, convolutions
from .winograd import ConvByTransforms


@dataclass
class Forms:
    """What became of the operations of a function."""

    remarks: Sequence[str] = ()
    _source: dict[Operation, Operation] = field(default_factory=dict[Operation, Operation])
    _made: list[Operation] = field(default_factory=list[Operation])

    def of(self, function: func.FuncOp) -> dict[Operation, list[Operation]]:
        """The operations of the function, without constants, by the one that they stand for."""
        found: dict[Operation, list[Operation]] = {}
        for op in function.body.block.ops:
            if not isinstance(op, nn.ConstantOp):
                found.setdefault(self._source.get(op, op), []).append(op)
        return found

    def apply(self, function: func.FuncOp, patterns: Iterable[RewritePattern]) -> None:
        """Apply patterns to the operations of a function, one pattern after the other."""
        for pattern in patterns:
            walker = PatternRewriteWalker(
                pattern, apply_recursively=False, listener=self.listener()
            )
            walker.rewrite_region(function.body)

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


def rewrite(
    function: func.FuncOp, target: cl.Target, ctx: Context, tuned: TunedForms | None = None
) -> Forms:
    """Bring each operation into the form in which our kernels compute it.

    Where `tuned` knows faster forms of convolutions than the model chooses, they get these.
    """
    forms = Forms()
    forms.apply(function, _simplest(function, target, ctx))
    # Where it pays, 3x3 convolutions become batches of matrix products between two transforms.
    transforms = ConvByTransforms.on(target, ctx, function)
    if transforms is not None:
        if tuned is not None:
            choice = tuned.choose(convolutions(function, transforms))
            transforms, forms.remarks = replace(transforms, chosen=choice.tiles), choice.remarks
        forms.apply(function, [transforms])
    return forms


def open_convolutions(
    function: func.FuncOp, target: cl.Target, ctx: Context
) -> list[ConvolutionSite]:
    """The convolutions of a function whose form is a choice; all other operations get theirs."""
    Forms().apply(function, _simplest(function, target, ctx))
    transforms = ConvByTransforms.on(target, ctx, function)
    return [] if transforms is None else convolutions(function, transforms)


def _simplest(function: func.FuncOp, target: cl.Target, ctx: Context) -> Iterator[RewritePattern]:
    """The forms that are no choice."""
    # OpenCL limits the parameters of a kernel, and a concatenation has any number of operands.
    yield SplitConcat()
    # A transposed convolution becomes an ordinary one with interleaved outputs, which saves a kind
    # of kernel. First, so that Winograd's transforms see the ordinary one.
    yield ConvTransposeToConv.on(target, ctx, function)
