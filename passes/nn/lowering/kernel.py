"""Construction of one kernel from the operations of a fused region.

Each operation of the region defines an element of its result as a function from an index to a
scalar (`KernelBuilder.define`). Elementwise and index-changing operations need nothing else: their
consumers call that function, which fuses by inlining. Reductions first emit a stage, a loop nest
that fills a temporary buffer, and define their result as a load from it. Finally
`KernelBuilder.finish` emits the stages that write the results of the region.

The loop nests are naive and the temporaries are whole tensors. The schedule moves each stage to its
consumers and shrinks the temporary (`compute_at`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.arith import ExtFOp
from xdsl.dialects.builtin import DictionaryAttr, StringAttr, f32
from xdsl.dialects.memref import AllocaOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.rewriter import Rewriter

from ....dialects import nn, tir
from ....dialects.walking import operations_in
from .body import Body, Index
from .memory import TensorBuffer, whole_blocks
from .scalar import Number, ScalarValue, compute_type, constant_attr
from .tails import Tails

Element = Callable[[Body, Sequence[Index]], ScalarValue]
"""Returns the value of a tensor's element at an index."""


@dataclass(frozen=True)
class Accumulator:
    """A value that a reduction stage updates, starting from `start`."""

    element_type: Attribute
    start: Number
    half: Attribute = f32
    """The type in which a sum of halves is kept and its terms are computed."""

    @property
    def type(self) -> Attribute:
        """Return the type of the accumulator's buffer."""
        return compute_type(self.element_type, self.half)


Place = Callable[[Sequence[Index]], list[Index]]
"""Returns the index in a result at which an element is stored."""


@dataclass(frozen=True)
class TensorPiece:
    """A piece of a tensor: for each index of `shape`, an element and its position."""

    shape: tuple[int, ...]
    element: Element
    place: Place = list
    others: Sequence[tuple[Element, Place]] = ()
    """Further elements that the same iteration computes and stores."""


@dataclass(frozen=True)
class JointElements:
    """Elements that one iteration computes together: at each index of `grid`, all `places`."""

    grid: tuple[int, ...]
    places: Sequence[Place]


@dataclass(frozen=True)
class OutputPlacement:
    """A tensor stored at other positions: `y[place(i)] = x[i]`, with `borders` around it.

    This is the inverse view of an index operation. It keeps the loops of the kernel that computes
    x.
    """

    source: SSAValue
    place: Place
    borders: Sequence[TensorPiece] = ()


class KernelBuilder:
    """Builds the `tir.func` of one fused region.

    The kernel reads `inputs` and writes `outputs`, both nn values. They become its parameters, in
    this order, with the `layouts` that the values have outside of the kernel.
    """

    def __init__(
        self,
        name: str,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        layouts: Sequence[nn.LayoutAttr | None] | None = None,
    ):
        values = [*inputs, *outputs]
        layouts = layouts or [None] * len(values)
        types = [
            nn.with_layout(nn.tensor_type(value), layout)
            for value, layout in zip(values, layouts, strict=True)
        ]
        self._block = Block(arg_types=[nn.buffer_type(type_) for type_ in types])
        params = [
            _parameter(param, type_) for param, type_ in zip(self._block.args, types, strict=True)
        ]
        self._elements: dict[SSAValue, Element] = {}
        self._parts: dict[SSAValue, Sequence[TensorPiece]] = {}
        self._placements: dict[SSAValue, OutputPlacement] = {}
        self._together: Sequence[JointElements] = ()
        self._outputs = list(zip(outputs, params[len(inputs) :], strict=True))
        self._labels: set[str] = set()
        self._roles: dict[str, str] = {}
        self._last_alloca: AllocaOp | None = None
        for i, (value, param) in enumerate(zip(values, self._block.args, strict=True)):
            param.name_hint = value.name_hint or (f"in{i}" if i < len(inputs) else "out")
        for value, param in zip(inputs, params, strict=False):
            self.define(value, param.load)
        self.tails = Tails(
            {value: param.extents for value, param in zip(inputs, params, strict=False)},
            [(value, param.extents) for value, param in self._outputs],
            [
                (value, axis)
                for value, param in zip(inputs, params, strict=False)
                for axis in param.undefined_axes
            ],
        )
        written = range(len(inputs), len(values))
        self.func = tir.FuncOp(name, Region(self._block), written)

    def define(self, value: SSAValue, element: Element) -> None:
        """Define the elements of `value`."""
        self._elements[value] = element

    def define_parts(self, value: SSAValue, parts: Sequence[TensorPiece]) -> None:
        """Define `value` as disjoint pieces, which an output stores one by one."""
        self._parts[value] = parts

    def define_placement(self, value: SSAValue, placement: OutputPlacement) -> None:
        """Define `value` as the elements of another tensor, stored at other positions."""
        self._placements[value] = placement

    def compute_together(self, pieces: Sequence[JointElements]) -> None:
        """Compute the elements of each piece in one iteration, since they share intermediates."""
        self._together = pieces

    def element(self, body: Body, value: SSAValue, index: tuple[Index, ...]) -> ScalarValue:
        """Return the element of `value` at `index`, computed at the insertion point of `body`."""
        return body.remember(("element", value, index), lambda: self._elements[value](body, index))

    def written_extents(self, value: SSAValue) -> tuple[int, ...]:
        """Return the shape of a value, with the tails of the results into which it is stored."""
        return tuple(self.tails.written(value, axis) for axis in range(len(nn.shape_of(value))))

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
        """Emit a stage that folds `update(body, index, reduce index, so far)` over `reduce`.

        `axes` names the loops, spatial ones first; `extents` are the loops' extents if they run
        over tails. Without reduce extents there is one update, with an empty extent none. `role`
        states what the stage is to schedule rules. Return the results.
        """
        if 0 in reduce:
            return [_constant(a) for a in accumulators]
        loops = [*shape, *(reduce or [1])]
        extents = extents or loops
        suffixes = [""] if len(accumulators) == 1 else [f"_{i}" for i in range(len(accumulators))]
        room = extents[: len(shape)]
        buffers = [
            TensorBuffer(self._temporary(label + suffix, room, a.type), a.element_type, shape, room)
            for suffix, a in zip(suffixes, accumulators, strict=True)
        ]
        kinds = [tir.IterKind.Spatial] * len(shape)
        kinds += [tir.IterKind.Reduce] * (len(loops) - len(shape))
        start = [constant_attr(a.start, a.element_type, a.half) for a in accumulators]
        block = self._nest(label, extents, kinds, start, axes)
        self._state(role, block)
        body = self._body(block, loops, accumulators[0].half)
        dims = [AffineExpr.dimension(i) for i in range(len(block.iter_vars))]
        spatial, reduced = dims[: len(shape)], dims[len(shape) :][: len(reduce)]
        before = [buffer.load(body, spatial) for buffer in buffers]
        after = update(body, spatial, reduced, before)
        for value, buffer in zip(after, buffers, strict=True):
            body.store(value, buffer.buffer, spatial)
        return [buffer.load for buffer in buffers]

    def computed(
        self,
        label: str,
        grid: Sequence[int],
        elements: Sequence[Element],
        element_type: Attribute,
        axes: Sequence[str],
        role: str = "",
    ) -> Element:
        """Emit a stage that computes all `elements` at each index of `grid`, in one iteration.

        `axes` names its loops. Index `[k, *i]` of the returned element is element k at index i.
        """
        shape = (len(elements), *grid)
        buffer = self._temporary(label, shape, compute_type(element_type))
        memory = TensorBuffer(buffer, element_type, shape, shape)
        block = self._nest(label, grid, [tir.IterKind.Spatial] * len(grid), (), axes)
        self._state(role, block)
        body = self._body(block, grid)
        dims = [AffineExpr.dimension(i) for i in range(len(grid))]
        for k, element in enumerate(elements):
            body.store(element(body, dims), buffer, [AffineExpr.constant(k), *dims])
        return memory.load

    def _state(self, role: str, block: tir.BlockOp) -> None:
        """Record the role of a stage; if two stages share a role, neither is recorded."""
        if role:
            self._roles[role] = "" if role in self._roles else block.label.data

    def finish(self) -> tir.FuncOp:
        """Emit the stages that write the outputs, and return the kernel."""
        for value, memory in self._outputs:
            for part, extents in self._stored(value, memory):
                self._store_nest(value, memory, part, extents)
        self._erase_unused_widening()
        if self._roles:
            labels = {role: StringAttr(label) for role, label in self._roles.items()}
            self.func.roles = DictionaryAttr(labels)
        return self.func

    def _erase_unused_widening(self) -> None:
        """Erase the widening of halves that are only moved, which `Body.store` left unused."""
        for op in list(operations_in(self.func.body)):
            if isinstance(op, ExtFOp) and op.result.first_use is None:
                Rewriter.erase_op(op)

    def _stored(
        self, value: SSAValue, memory: TensorBuffer
    ) -> list[tuple[TensorPiece, Sequence[int]]]:
        """Return the pieces of an output with the extents of their loops, in whole blocks."""
        parts = self._pieces(value)
        if memory.layout is None:
            return [(part, part.shape) for part in parts]
        stored: list[tuple[TensorPiece, Sequence[int]]] = []
        for part in parts:
            extents = whole_blocks(part.shape, part.place, memory.layout, memory.shape)
            if extents is None:
                return [(TensorPiece(nn.shape_of(value), self._elements[value]), memory.extents)]
            stored.append((part, extents))
        return stored

    def _pieces(self, value: SSAValue) -> Sequence[TensorPiece]:
        """Return the pieces of an output: as a stage stores them, else in memory order."""
        placement = self._placements.get(value)
        if value in self._parts:
            return self._parts[value]
        in_order = self._last_alloca is None and not self._together
        if placement is None and self._together:
            return [self._shared(value, piece) for piece in self._together]
        if placement is None or (in_order and not placement.borders):
            return [TensorPiece(nn.shape_of(value), self._elements[value])]
        moved = [_moved(part, placement.place) for part in self._pieces(placement.source)]
        return [*moved, *placement.borders]

    def _shared(self, value: SSAValue, piece: JointElements) -> TensorPiece:
        def at(place: Place) -> tuple[Element, Place]:
            return lambda body, index: body.read(value, place(index)), place

        (element, place), *others = map(at, piece.places)
        return TensorPiece(piece.grid, element, place, others)

    def _store_nest(
        self, value: SSAValue, memory: TensorBuffer, part: TensorPiece, extents: Sequence[int]
    ) -> None:
        block = self._nest("out", extents, [tir.IterKind.Spatial] * len(extents), (), ())
        body = self._body(block, part.shape)
        dims = [AffineExpr.dimension(i) for i in range(len(extents))]
        for element, place in ((part.element, part.place), *part.others):
            result = element(body, dims)
            memory.store(body, result, place(dims), lambda axis: self.tails.is_zero(value, axis))

    def _nest(
        self,
        label: str,
        extents: Sequence[int],
        kinds: Sequence[tir.IterKind],
        init: Sequence[Attribute],
        axes: Sequence[str],
    ) -> tir.BlockOp:
        """Emit loops over `extents` around an empty block with a unique label; return the block."""
        loops: list[tir.ForOp] = []
        names = axes or _default_names(kinds)
        for extent, kind, axis in zip(extents, kinds, names, strict=True):
            serial = kind is tir.IterKind.Reduce
            loop_kind = tir.LoopKind.Serial if serial else tir.LoopKind.Parallel
            loops.append(tir.ForOp(loop_kind, extent, hint=axis))
        block = tir.BlockOp(
            self._unique(label), [loop.var for loop in loops], extents, kinds, init=init
        )
        for var, axis in zip(block.iter_vars, names, strict=True):
            var.name_hint = axis
        parent = self._block
        for loop in loops:
            parent.add_op(loop)
            parent = loop.body.block
        parent.add_op(block)
        return block

    def _body(self, block: tir.BlockOp, shape: Sequence[int], half: Attribute = f32) -> Body:
        return Body(self, block.body.block, block.iter_vars, block.iter_extents, shape, half)

    def _temporary(self, label: str, shape: Sequence[int], type_: Attribute) -> SSAValue:
        alloca = AllocaOp.get(type_, shape=shape)
        alloca.memref.name_hint = label
        if self._last_alloca is None:
            if self._block.first_op is None:
                self._block.add_op(alloca)
            else:
                self._block.insert_op_before(alloca, self._block.first_op)
        else:
            self._block.insert_op_after(alloca, self._last_alloca)
        self._last_alloca = alloca
        return alloca.memref

    def _unique(self, label: str) -> str:
        unique, n = label, 1
        while unique in self._labels:
            n += 1
            unique = f"{label}_{n}"
        self._labels.add(unique)
        return unique


def _default_names(kinds: Sequence[tir.IterKind]) -> list[str]:
    """Return `i0, i1, …` for spatial loops, then `r0, …` for reduce loops, which come last."""
    rank = sum(kind is tir.IterKind.Spatial for kind in kinds)
    return [f"i{n}" if n < rank else f"r{n - rank}" for n in range(len(kinds))]


def _constant(accumulator: Accumulator) -> Element:
    return lambda body, _: body.constant(accumulator.start, accumulator.element_type)


def _moved(part: TensorPiece, place: Place) -> TensorPiece:
    others = [(element, _composed(place, inner)) for element, inner in part.others]
    return replace(part, place=_composed(place, part.place), others=others)


def _composed(outer: Place, inner: Place) -> Place:
    return lambda index: outer(inner(index))


def sum_type(op: nn.ConvolutionOp | nn.MatmulOp | nn.WinogradProductOp) -> Attribute:
    """Return the type in which a contraction of halves accumulates."""
    return f32 if op.accumulate is None else op.accumulate


def _parameter(buffer: SSAValue, type_: nn.Tensor) -> TensorBuffer:
    """Return the buffer of a parameter."""
    shape, layout = type_.get_shape(), type_.encoding
    if not isinstance(layout, nn.LayoutAttr):
        return TensorBuffer(buffer, type_.element_type, shape, shape)
    return TensorBuffer(buffer, type_.element_type, shape, layout.padded_shape(shape), layout)
