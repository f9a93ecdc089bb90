"""Recording of an operation's reads by running its lowering alone, on plain tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr
from xdsl.irdl import IRDLOperation

from ....dialects import nn, tir
from ....dialects.tir.affine import linear
from ....dialects.tir.expressions import used_dims, with_dims
from . import lowering_of
from .body import Body, Index
from .kernel import Accumulator, Element, KernelBuilder, TensorPiece
from .reads import OperandRead
from .scalar import Number, ScalarValue


def record(op: Operation) -> list[OperandRead]:
    """Return an operation's reads for its first result; none if it has no lowering."""
    if (lower := lowering_of(op)) is None:
        return []
    recorder = _Recorder(op)
    lower(recorder, op)
    return recorder.reads()


@dataclass
class _Scope:
    """A loop nest: one that writes a part of the result, or a stage with a temporary."""

    shape: Sequence[int]
    loops: Sequence[int] = ()
    """The extents of the reduction loops, after those over `shape`."""
    places: Sequence[Index] | None = None
    """For a part, the index in the result at which an element is stored."""
    users: list[tuple[_Scope, Sequence[Index]]] = field(
        default_factory=list["tuple[_Scope, Sequence[Index]]"]
    )
    """For a stage, the nests that load its results, with the indices of the loads."""
    body: Body | None = None


class _Body(Body):
    """A body that only records reads.

    It skips guards of memory accesses, which would be most of the code. It also skips the sums of a
    stage that computes many elements together, since no index depends on them.
    """

    omits_sums = False

    def combined(
        self, kind: type[IRDLOperation], a: ScalarValue, b: ScalarValue | Number
    ) -> ScalarValue:
        return a if self.omits_sums and a.is_float else super().combined(kind, a, b)

    def within_memory(self, index: Sequence[Index], extents: Sequence[int]) -> ScalarValue | None:
        return None


class _Recorder(KernelBuilder):
    """A kernel of one operation that records the loads of its operands."""

    def __init__(self, op: Operation):
        super().__init__("reads", op.operands, op.results)
        self._result = op.results[0]
        self._scopes: dict[Body, _Scope] = {}
        self._scope = _Scope(())
        self._omits_sums = False
        self._noted: list[tuple[_Scope, int, Sequence[Index], bool]] = []
        for position, value in enumerate(op.operands):
            self.define(value, self._noting(position, self._elements[value]))

    def _noting(self, operand: int, load: Element) -> Element:
        """Return an element that records its loads of an operand."""

        def element(body: Body, index: Sequence[Index]) -> ScalarValue:
            self._noted.append((self._scopes[body], operand, index, body.is_conditional))
            return load(body, index)

        return element

    def reduction(
        self,
        label: str,
        shape: Sequence[int],
        reduce: Sequence[int],
        accumulators: Sequence[Accumulator],
        update: Callable[
            [Body, Sequence[Index], Sequence[Index], Sequence[ScalarValue]], Sequence[ScalarValue]
        ],
        axes: Sequence[str] = (),
        extents: Sequence[int] = (),
        role: str = "",
    ) -> list[Element]:
        self._scope = stage = _Scope(shape, reduce or [1])
        elements = super().reduction(label, shape, reduce, accumulators, update, axes, extents)
        return [self._using(stage, load) for load in elements]

    def computed(
        self,
        label: str,
        grid: Sequence[int],
        elements: Sequence[Element],
        element_type: Attribute,
        axes: Sequence[str],
        role: str = "",
    ) -> Element:
        self._scope = stage = _Scope(grid)
        self._omits_sums = True
        load = super().computed(label, grid, elements, element_type, axes)
        self._omits_sums = False
        return self._using(stage, load, first=1)

    def _using(self, stage: _Scope, load: Element, first: int = 0) -> Element:
        """Return the loads of a stage's results; indices from `first` on are its variables."""

        def element(body: Body, index: Sequence[Index]) -> ScalarValue:
            stage.users.append((self._scopes[body], index[first:]))
            return load(body, index)

        return element

    def _body(self, block: tir.BlockOp, shape: Sequence[int], half: Attribute = f32) -> Body:
        body = _Body(self, block.body.block, block.iter_vars, block.iter_extents, shape, half)
        # The indices must be valid beyond the extents, since a layout may have a tail there.
        body.extents = [None] * len(block.iter_extents)
        body.omits_sums = self._omits_sums
        self._scopes[body], self._scope.body = self._scope, body
        return body

    def reads(self) -> list[OperandRead]:
        """Evaluate the result and return all reads that its elements need.

        Return no reads if the kernel computes whole tiles, whose elements have different
        expressions.
        """
        if self._together:
            return []
        value = self._result
        whole = TensorPiece(nn.shape_of(value), self._elements[value])
        for part in self._parts.get(value, [whole]):
            dims = [AffineExpr.dimension(i) for i in range(len(part.shape))]
            self._scope = _Scope(part.shape, places=part.place(dims))
            kinds = [tir.IterKind.Spatial] * len(dims)
            part.element(self._body(self._nest("out", part.shape, kinds, (), ()), part.shape), dims)
        numbering = _Numbering(len(nn.shape_of(value)))
        return [
            read
            for scope, operand, index, guarded in self._noted
            if (read := numbering.read(scope, operand, index, guarded)) is not None
        ]


class _Numbering:
    """Expresses indices of any loop nest by those of the result, which come first."""

    def __init__(self, rank: int):
        self._rank = rank
        self._count = rank
        self._loops: dict[int, int] = {}
        self._depends: dict[int, frozenset[int]] = {}
        self._known: dict[int, list[AffineExpr] | None] = {}

    def read(
        self, scope: _Scope, operand: int, index: Sequence[Index], guarded: bool
    ) -> OperandRead | None:
        """Return the read at an index of a nest; None if no element of the result needs it."""
        values = self._values(scope)
        if values is None:
            return None
        position = tuple(with_dims(i, values) for i in index)
        times = prod(scope.shape) * prod(scope.loops)
        used = {dim for i in position for dim in used_dims(i)}
        return OperandRead(
            operand,
            position,
            times,
            guarded,
            tuple(self._loops.get(dim) for dim in range(self._count)),
            {dim: self._depends[dim] for dim in used if dim in self._depends},
        )

    def _values(self, scope: _Scope) -> list[AffineExpr] | None:
        """Return the values of a nest's variables and of the integers that it loads."""
        if id(scope) not in self._known:
            values = self._variables(scope)
            if values is not None and scope.body is not None:
                for ssa in scope.body.dims[len(values) :]:
                    values.append(self._loaded(ssa, scope.body, values))
            self._known[id(scope)] = values
        return self._known[id(scope)]

    def _variables(self, scope: _Scope) -> list[AffineExpr] | None:
        if scope.places is not None:
            return self._inverse(scope.places, scope.shape)
        for user, index in scope.users:
            outer = self._values(user)
            if outer is not None:
                values = [with_dims(i, outer) for i in index]
                loops = [self._new() for _ in scope.loops]
                extents = zip(loops, scope.loops, strict=True)
                self._loops |= {loop.position: extent for loop, extent in extents}
                return [*values, *loops]
        return None

    def _inverse(self, places: Sequence[Index], shape: Sequence[int]) -> list[AffineExpr] | None:
        """Return the variables of a part as functions of the index in the result."""
        values: list[AffineExpr | None] = [None] * len(shape)
        for axis, place in enumerate(places):
            form = linear(place, [max(extent, 2) for extent in shape])
            match list(form.terms.items()):
                case [(AffineDimExpr(position=dim), 1)]:
                    moved = AffineExpr.dimension(axis)
                    values[dim] = moved - form.constant if form.constant else moved
                case _:
                    pass
        solved = [value for value in values if value is not None]
        return solved if len(solved) == len(values) else None

    def _loaded(self, ssa: SSAValue, body: Body, values: Sequence[AffineExpr]) -> AffineExpr:
        new = self._new()
        value_of = dict(zip(body.dims, values, strict=False))
        dims = {dim for v in _sources(ssa) if v in value_of for dim in used_dims(value_of[v])}
        self._depends[new.position] = frozenset(dims)
        return new

    def _new(self) -> AffineDimExpr:
        self._count += 1
        return AffineDimExpr(self._count - 1)


def _sources(ssa: SSAValue) -> set[SSAValue]:
    """Return the block arguments from which a value is computed."""
    pending, seen, sources = [ssa], set[SSAValue](), set[SSAValue]()
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value, BlockArgument):
            sources.add(value)
        elif isinstance(owner := value.owner, Operation):
            pending += [v for op in owner.walk() for v in op.operands]
        else:
            assert isinstance(owner, Block)
    return sources
