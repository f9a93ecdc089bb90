"""The comparison of the naive loop nests of an operation at two sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, cast

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ....dialects import tir
from .parts import Axis, axis_of, beginnings, extents_of, keeps_indices

_Access: TypeAlias = "memref.LoadOp | memref.StoreOp"


def result_parts(
    small: Block, large: Block, operands: Sequence[Sequence[Axis]], results: int
) -> list[tuple[Axis, ...]] | None:
    """Return the parts of the larger results that the smaller ones are.

    The blocks are the bodies of kernels whose parameters are the operands, with these axes, and
    then the `results`. Return None unless the kernels differ only in the extents of spatial loops
    and buffers, and each element of the smaller results is computed as in the larger ones.
    """
    texts = _Texts()
    if not texts.agree(small, large):
        return None
    axes = _PartsOfKernel(texts)
    for value, given in zip(small.args, operands, strict=False):
        axes.of_buffers[value] = [*given]
    axes.infer()
    if not axes.hold():
        return None
    return [tuple(axes.all_of(value)) for value in small.args[len(small.args) - results :]]


class _Texts:
    """Two kernels with the same text, except for the extents of spatial loops and buffers."""

    def __init__(self) -> None:
        self.counterpart: dict[SSAValue, SSAValue] = {}
        self.blocks: list[tuple[tir.BlockOp, tir.BlockOp]] = []
        self.accesses: list[_Access] = []
        """The accesses of the smaller kernel."""
        self._units: dict[SSAValue, SSAValue] = {}
        """The variables of loops that run once in the smaller kernel, by those of the larger."""

    def agree(self, small: Block, large: Block) -> bool:
        """Return whether two blocks have the same text."""
        # Operands that are constant indices are compared instead.
        ops = [[op for op in block.ops if _index(op) is None] for block in (small, large)]
        if len(small.args) != len(large.args) or len(ops[0]) != len(ops[1]):
            return False
        return self._match(small.args, large.args) and all(map(self._same, *ops))

    def _match(self, small: Sequence[SSAValue], large: Sequence[SSAValue]) -> bool:
        """Pair values of the same type, or buffers where one is within the other."""
        self.counterpart |= zip(small, large, strict=True)
        return all(_fits(a.type, b.type) for a, b in zip(small, large, strict=True))

    def _same(self, small: Operation, large: Operation) -> bool:
        if (
            type(small) is not type(large)
            or not self._match_operands(small, large)
            or len(small.results) != len(large.results)
            or len(small.regions) != len(large.regions)
            or not _properties_agree(small, large)
            or not self._match(small.results, large.results)
        ):
            return False
        if isinstance(small, tir.BlockOp):
            other = cast("tir.BlockOp", large)
            self.blocks.append((small, other))
            loops = zip(small.iter_vars, other.iter_vars, small.iter_extents, strict=True)
            self._units |= {b: a for a, b, extent in loops if extent == 1}
        elif isinstance(small, memref.LoadOp | memref.StoreOp):
            self.accesses.append(small)
        return all(
            len(a.blocks) == len(b.blocks) == 1 and self.agree(a.block, b.block)
            for a, b in zip(small.regions, large.regions, strict=True)
        )

    def _match_operands(self, small: Operation, large: Operation) -> bool:
        """Return whether operands correspond.

        Lowerings fold the variable of a loop that runs once to 0; it takes its place again here.
        """
        if len(small.operands) != len(large.operands):
            return False
        for position, (a, b) in enumerate(zip(small.operands, large.operands, strict=True)):
            index = _index(a.owner)
            if index == 0 and b in self._units:
                small.operands[position] = self._units[b]
            elif self.counterpart.get(a) is not b if index is None else index != _index(b.owner):
                return False
        return True


def _index(op: Operation | Block) -> int | None:
    """Return the value of a constant index; None for other operations."""
    if isinstance(op, arith.ConstantOp) and isinstance(op.result.type, IndexType):
        return cast("IntegerAttr[IndexType]", op.value).value.data
    return None


def _fits(small: Attribute, large: Attribute) -> bool:
    """Return whether two types are equal, or those of buffers with one inside of the other."""
    if not all(isinstance(each, MemRefType) for each in (small, large)):
        return small == large
    (element, inner), (other, outer) = _form(small), _form(large)
    is_inside = len(inner) == len(outer) and all(a <= b for a, b in zip(inner, outer, strict=True))
    return element == other and is_inside


def _form(type_: Attribute) -> tuple[Attribute, Sequence[int]]:
    """Return the element type and the extents of a buffer."""
    buffer = cast("MemRefType[Attribute]", type_)
    return buffer.element_type, buffer.get_shape()


def _properties_agree(small: Operation, large: Operation) -> bool:
    """Return whether two operations differ at most in the extents of loops."""
    extent = "extent" if isinstance(small, tir.ForOp) else "extents"
    if not isinstance(small, tir.ForOp | tir.BlockOp):
        return small.properties == large.properties
    a, b = (
        {name: value for name, value in op.properties.items() if name != extent}
        for op in (small, large)
    )
    return a == b


class _PartsOfKernel:
    """The parts that buffers and loops of a smaller kernel are of those of a larger one."""

    def __init__(self, texts: _Texts) -> None:
        self._texts = texts
        self.of_buffers: dict[SSAValue, list[Axis | None]] = {}
        self._of_loops: dict[SSAValue, Axis | None] = {
            variable: None for block, _ in texts.blocks for variable in block.iter_vars
        }
        for access in texts.accesses:
            self.of_buffers.setdefault(access.memref, [None] * len(access.indices))

    def all_of(self, buffer: SSAValue) -> tuple[Axis, ...]:
        """Return the axes of a buffer; those that are not known are beginnings."""
        shapes = (_form(each.type)[1] for each in (buffer, self._texts.counterpart[buffer]))
        default = beginnings(*shapes)
        known = self.of_buffers.get(buffer, default)
        return tuple(a if k is None else k for k, a in zip(known, default, strict=True))

    def infer(self) -> None:
        """Find the axes of loops from operands that they index, and of buffers from such loops."""
        self._propagate()
        for small, large in self._texts.blocks:
            extents = zip(small.iter_extents, large.iter_extents, strict=True)
            for variable, pair in zip(small.iter_vars, extents, strict=True):
                if self._of_loops[variable] is None:
                    self._of_loops[variable] = axis_of([pair])

    def _propagate(self) -> None:
        """Make each loop and each axis that it alone indexes equal, where indices differ."""
        is_changed = True
        while is_changed:
            is_changed = False
            for access in self._texts.accesses:
                axes = self.of_buffers[access.memref]
                for position, index in enumerate(access.indices):
                    if index not in self._of_loops:
                        continue
                    loop, axis = self._of_loops[index], axes[position]
                    if loop is None and axis is not None and not keeps_indices(axis):
                        self._of_loops[index], is_changed = axis, True
                    elif axis is None and loop is not None and not keeps_indices(loop):
                        axes[position], is_changed = loop, True

    def hold(self) -> bool:
        """Return whether corresponding iterations access corresponding elements, and no others."""
        return (
            all(map(self._has_extents, self.of_buffers))
            and all(map(self._is_same_element, self._texts.accesses))
            and all(
                self._is_used_well(variable, extents, block)
                for block, other in self._texts.blocks
                for variable, *extents in zip(
                    block.iter_vars, block.iter_extents, other.iter_extents, strict=True
                )
            )
        )

    def _has_extents(self, buffer: SSAValue) -> bool:
        """Return whether the digits of each axis have the extents of the buffers."""
        shapes = (_form(each.type)[1] for each in (buffer, self._texts.counterpart[buffer]))
        axes = zip(self.all_of(buffer), *shapes, strict=True)
        return all(extents_of(axis) == (small, large) for axis, small, large in axes)

    def _is_same_element(self, access: _Access) -> bool:
        axes = self.all_of(access.memref)
        return all(
            axis == self._of_loops.get(index)
            or (keeps_indices(axis) and keeps_indices(self._of_loops.get(index) or ()))
            for index, axis in zip(access.indices, axes, strict=True)
        )

    def _is_used_well(self, variable: SSAValue, extents: Sequence[int], block: tir.BlockOp) -> bool:
        """Check a loop whose index differs or that runs longer in the larger kernel."""
        axis = self._of_loops[variable]
        assert axis is not None
        uses = [use.operation for use in variable.uses]
        if not keeps_indices(axis):
            is_plain = all(isinstance(op, memref.LoadOp | memref.StoreOp) for op in uses)
            if not is_plain or extents_of(axis) != tuple(extents):
                return False
        if extents[0] == extents[1]:
            return True
        stores = [op for op in block.body.walk() if isinstance(op, memref.StoreOp)]
        return bool(stores) and all(self._is_apart(op, variable, extents[0]) for op in stores)

    def _is_apart(self, store: memref.StoreOp, variable: SSAValue, extent: int) -> bool:
        """Return whether the further iterations of a loop store outside of the smaller result."""
        axes, shape = self.all_of(store.memref), _form(store.memref.type)[1]
        return any(
            index is variable
            and (extent >= size if keeps_indices(axis) else axis == self._of_loops[variable])
            for index, size, axis in zip(store.indices, shape, axes, strict=True)
        )
