"""Analysis of the bodies of linalg operations: what they read and how they reduce."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import arith
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.tensor import ExtractOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from .views import NotNamedError, Operand, TensorView

_FOLDS: dict[type[Operation], str] = {
    arith.AddfOp: "sum",
    arith.AddiOp: "sum",
    arith.MulfOp: "prod",
    arith.MuliOp: "prod",
    arith.MaximumfOp: "max",
    arith.MaxnumfOp: "max",
    arith.MaxSIOp: "max",
    arith.MinimumfOp: "min",
    arith.MinnumfOp: "min",
    arith.MinSIOp: "min",
    arith.OrIOp: "max",
    arith.AndIOp: "min",
}
"""Combining operation to the kind of `nn.reduce`; OrI and AndI apply to booleans."""

_CASTS = (arith.ExtFOp, arith.ExtSIOp)
_PRODUCTS = (arith.MulfOp, arith.MuliOp, arith.AndIOp)


@dataclass(frozen=True)
class Fold:
    """A reduction of `term`, a scalar of the body, by a kind of `nn.reduce`."""

    kind: str
    term: SSAValue

    @property
    def factors(self) -> tuple[BlockArgument, BlockArgument] | None:
        """Return the two elements whose products are summed, or None for other reductions."""
        owner = self.term.owner
        if self.kind != "sum" or not isinstance(owner, _PRODUCTS):
            return None
        a, b = (_uncast(value) for value in owner.operands)
        if isinstance(a, BlockArgument) and isinstance(b, BlockArgument) and a is not b:
            return a, b
        return None


def _uncast(value: SSAValue) -> SSAValue:
    owner = value.owner
    return owner.operands[0] if isinstance(owner, _CASTS) else value


def fold_of(yielded: SSAValue, so_far: BlockArgument) -> Fold:
    """Return the reduction that a body computes; raise NotNamedError if nn.reduce lacks it."""
    owner = yielded.owner
    kind = _FOLDS.get(type(owner)) if isinstance(owner, Operation) else None
    if kind is None or not isinstance(owner, Operation):
        raise NotNamedError
    first, second = owner.operands
    if second is so_far:
        first, second = second, first
    if first is not so_far or _reads(second, so_far):
        raise NotNamedError
    return Fold(kind, second)


def _reads(value: SSAValue, argument: BlockArgument) -> bool:
    """Return whether a scalar depends on an argument of the body."""
    if value is argument:
        return True
    op = value.owner
    if not isinstance(op, Operation) or op.parent is not argument.owner:
        return False
    return any(_reads(operand, argument) for operand in op.operands)


@dataclass(frozen=True)
class Read:
    """A tensor that a structured operation reads, with its index over the loops."""

    view: TensorView
    index: tuple[AffineExpr, ...]

    @property
    def operand(self) -> Operand:
        """Return the tensor with the loop of each axis; raise NotNamedError for other indices."""
        return Operand.of(self.view, self.index)


@dataclass(frozen=True)
class Structured:
    """A structured operation on tensors, named or generic."""

    inputs: Sequence[Read]
    outputs: Sequence[Read]
    block: Block
    extents: Sequence[int]
    chosen: int | None = None
    """The index of the selected output, if the operation has others; see `only`."""

    @property
    def arguments(self) -> Sequence[BlockArgument]:
        """Return the elements of the inputs in the body."""
        return self.block.args[: len(self.inputs)]

    @property
    def accumulators(self) -> Sequence[BlockArgument]:
        """Return the elements of the outputs in the body."""
        accumulators = self.block.args[len(self.inputs) :]
        return accumulators if self.chosen is None else (accumulators[self.chosen],)

    @property
    def yielded(self) -> Sequence[SSAValue]:
        """Return the scalars that the body yields."""
        last = self.block.last_op
        scalars = () if last is None else tuple(last.operands)
        return scalars if self.chosen is None else (scalars[self.chosen],)

    @property
    def gathers(self) -> int:
        """Return the number of elements that the body reads at computed indices."""
        return sum(isinstance(op, ExtractOp) for op in self.block.ops)

    @property
    def written_loops(self) -> Sequence[int]:
        """Return the loops that index the outputs."""
        index = self.outputs[0].index
        return [i.position for i in index if isinstance(i, AffineDimExpr)]

    @property
    def reduced_loops(self) -> Sequence[int]:
        """Return the loops that index no output."""
        written = self.written_loops
        return [loop for loop in range(len(self.extents)) if loop not in written]

    def only(self, output: int) -> Structured:
        """Return the operation restricted to one of its outputs."""
        if len(self.outputs) == 1:
            return self
        return replace(self, outputs=[self.outputs[output]], chosen=output)

    @classmethod
    def of(
        cls, op: LinalgStructuredOperation, view_of: Callable[[SSAValue], TensorView]
    ) -> Structured:
        """Return the tensors, maps and body of a linalg operation."""
        maps = [attr.data for attr in op.get_indexing_maps()]
        reads = [
            Read(view_of(value), map_.results)
            for value, map_ in zip(op.operands, maps, strict=True)
        ]
        count = len(op.inputs)
        extents = loop_extents(reads, maps[0].num_dims)
        return cls(reads[:count], reads[count:], op.body.block, extents)


def loop_extents(reads: Sequence[Read], loops: int) -> list[int]:
    """Return the iterations of each loop; raise NotNamedError if no axis determines one."""
    extents: dict[int, int] = {}
    for read in reads:
        for index, size in zip(read.index, read.view.shape, strict=True):
            if isinstance(index, AffineDimExpr):
                extents[index.position] = size
    if len(extents) < loops:
        raise NotNamedError
    return [extents[loop] for loop in range(loops)]
