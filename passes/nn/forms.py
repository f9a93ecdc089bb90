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
from .split_concats import SplitConcat
from .tuned_forms import (
    ConvolutionSite,
    FormChoice,
    TunedForms,
    convolutions,
    demanded_forms,
)
from .winograd import ConvByTransforms


@dataclass
class Forms:
    """A record of the operations that replaced a function's original ones."""

    remarks: Sequence[str] = ()
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
    tuned: TunedForms | None = None,
    choices: Choices | None = None,
) -> Forms:
    """Rewrite each operation to the form in which OpenCL kernels compute it.

    `choices` decide the forms of convolutions, then `tuned` if it has faster ones than the model's.
    """
    forms = Forms()
    forms.apply(function, _simplest(function, target, ctx))
    # Winograd: 3x3 convolutions may become batches of matrix products between two transforms.
    transforms = ConvByTransforms.on(target, ctx, function)
    if transforms is not None:
        if tuned is not None or choices is not None:
            found = convolutions(function, transforms)
            choice = FormChoice() if tuned is None else tuned.choose(found)
            if choices is not None:
                choice = demanded_forms(found, choice, choices)
            transforms, forms.remarks = replace(transforms, chosen=choice.tiles), choice.remarks
        forms.apply(function, [transforms])
    return forms


def open_convolutions(
    function: func.FuncOp, target: cl.Target, ctx: Context
) -> list[ConvolutionSite]:
    """Return the convolutions whose form is a choice; rewrite all other operations."""
    Forms().apply(function, _simplest(function, target, ctx))
    transforms = ConvByTransforms.on(target, ctx, function)
    return [] if transforms is None else convolutions(function, transforms)


def _simplest(function: func.FuncOp, target: cl.Target, ctx: Context) -> Iterator[RewritePattern]:
    """Yield the patterns of forms that are not a choice."""
    # OpenCL limits the parameters of a kernel, and a concatenation has any number of operands.
    yield SplitConcat()
    # A transposed convolution becomes an ordinary one with interleaved outputs, so that it needs no
    # schedules of its own. Before Winograd's transforms, which apply to the ordinary one.
    yield ConvTransposeToConv.on(target, ctx, function)
