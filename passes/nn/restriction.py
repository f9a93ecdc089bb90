"""A proof that a network for larger sizes also computes the results for smaller ones.

A network imported at batch 8 computes the results for batch 5 in its first rows if no row depends
on others. The proof compares both imports, operation by operation. Each value of the smaller
network must be the leading box of its counterpart: their elements at equal indices are equal. This
holds for the results of an operation if it holds for the operands, and its naive loop nests at both
sizes differ only in the extents of spatial loops and buffers. Then the same text computes each
element of the smaller result from the same elements of the operands, in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects import nn, tir
from ...weights import Weights
from ..locations import node_name
from .lowering import KernelBuilder, lowering_of
from .structure import structure


class DifferentElementsError(Exception):
    """A network for larger sizes does not compute the results for smaller ones.

    The message names the node where this begins.
    """


def check_restriction(
    smaller: ModuleOp, larger: ModuleOp, weights: tuple[Weights, Weights]
) -> list[tuple[int, ...]]:
    """Return the shapes of the results of `smaller`, each the leading box of one of `larger`.

    This is proved for inputs that are leading boxes of each other, with any other elements in the
    larger ones. `weights` are those of the two modules. Raises DifferentElementsError if there is
    no proof.
    """
    (small,), (large,) = nn.networks_of(smaller), nn.networks_of(larger)
    _Proof(weights).check(small, large)
    last = small.body.block.last_op
    assert last is not None
    return [nn.shape_of(value) for value in last.operands]


class _Proof:
    def __init__(self, weights: tuple[Weights, Weights]) -> None:
        self._weights = weights
        self._checked: set[tuple[object, object]] = set()
        """The pairs of operations that were compared, as `structure` keys."""
        self._counterpart: dict[SSAValue, SSAValue] = {}

    def check(self, small: func.FuncOp, large: func.FuncOp) -> None:
        """Compare two networks."""
        needed = _needed(small.body.block)
        pairs = zip(_ops(small.body.block), _ops(large.body.block), strict=False)
        self._counterpart |= zip(small.body.block.args, large.body.block.args, strict=True)
        for a, b in pairs:
            if a not in needed:
                self._counterpart |= zip(a.results, b.results, strict=False)
                continue
            if not self._corresponds(a, b) or not self._agrees(a, b):
                raise DifferentElementsError(node_name(a))
            self._counterpart |= zip(a.results, b.results, strict=True)

    def _corresponds(self, small: Operation, large: Operation) -> bool:
        """Return whether two operations have the same name and operands."""
        return (
            type(small) is type(large)
            and [self._counterpart.get(value) for value in small.operands] == [*large.operands]
            and len(small.results) == len(large.results)
        )

    def _agrees(self, small: Operation, large: Operation) -> bool:
        """Return whether the results agree if the operands do."""
        if isinstance(small, func.ReturnOp):
            return True
        if isinstance(small, nn.ConstantOp):
            return self._constants_agree(small, cast("nn.ConstantOp", large))
        key = _key(small), _key(large)
        if key not in self._checked and key[0] != key[1]:
            kernels = _kernel(small), _kernel(large)
            if not all(kernels) or not _Nests().agree(*cast("tuple[Block, Block]", kernels)):
                return False
            self._checked.add(key)
        return True

    def _constants_agree(self, small: nn.ConstantOp, large: nn.ConstantOp) -> bool:
        if small.value == large.value:
            return True
        a, b = (
            nn.constant_value(op.result, weights)
            for op, weights in zip((small, large), self._weights, strict=True)
        )
        if a is None or b is None or a.ndim != b.ndim or a.dtype != b.dtype:
            return False
        box = b[tuple(map(slice, a.shape))]
        return box.shape == a.shape and a.tobytes() == box.tobytes()


def _ops(block: Block) -> list[Operation]:
    return [*block.ops]


def _needed(block: Block) -> set[Operation]:
    """Return the operations on which the results of a network depend."""
    needed: set[Operation] = set()
    for op in reversed(block.ops):
        if op is block.last_op or any(
            use.operation in needed for v in op.results for use in v.uses
        ):
            needed.add(op)
    return needed


def _key(op: Operation) -> object:
    return structure((), [op])[0]


def _kernel(op: Operation) -> Block | None:
    """Return the naive loop nests of an operation; None if it has no lowering."""
    if (lower := lowering_of(op)) is None:
        return None
    builder = KernelBuilder("kernel", op.operands, op.results)
    lower(builder, op)
    return builder.finish().body.block


class _Nests:
    """The comparison of two kernels of naive loop nests."""

    def __init__(self) -> None:
        self._counterpart: dict[SSAValue, SSAValue] = {}

    def agree(self, small: Block, large: Block) -> bool:
        """Return whether two blocks differ only in the extents of spatial loops and buffers."""
        if len(small.args) != len(large.args) or len(small.ops) != len(large.ops):
            return False
        return self._match(small.args, large.args) and all(
            self._same(a, b) for a, b in zip(small.ops, large.ops, strict=True)
        )

    def _match(self, small: Sequence[SSAValue], large: Sequence[SSAValue]) -> bool:
        """Pair values of the same type, or buffers where one is within the other."""
        self._counterpart |= zip(small, large, strict=True)
        return all(_fits(a.type, b.type) for a, b in zip(small, large, strict=True))

    def _same(self, small: Operation, large: Operation) -> bool:
        if (
            type(small) is not type(large)
            or [self._counterpart.get(value) for value in small.operands] != [*large.operands]
            or len(small.results) != len(large.results)
            or len(small.regions) != len(large.regions)
            or not _properties_agree(small, large)
            or not self._match(small.results, large.results)
        ):
            return False
        return all(
            len(a.blocks) == len(b.blocks) == 1 and self.agree(a.block, b.block)
            for a, b in zip(small.regions, large.regions, strict=True)
        )


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
    """Return whether two operations differ at most in the extents of spatial loops.

    All stores in such a loop must be outside the smaller buffer in its further iterations.
    """
    if small.properties == large.properties:
        return True
    if isinstance(small, tir.ForOp):
        loops = small, cast("tir.ForOp", large)
        return small.kind == loops[1].kind
    if not isinstance(small, tir.BlockOp):
        return False
    block = cast("tir.BlockOp", large)
    others = [
        {name: value for name, value in op.properties.items() if name != "extents"}
        for op in (small, block)
    ]
    return others[0] == others[1] and all(
        a == b or (a < b and _stores_apart(small, axis))
        for axis, (a, b) in enumerate(zip(small.iter_extents, block.iter_extents, strict=True))
    )


def _stores_apart(block: tir.BlockOp, axis: int) -> bool:
    """Return whether iterations beyond an extent store only beyond the ends of the buffers."""
    variable, extent = block.iter_vars[axis], block.iter_extents[axis]
    stores = [op for op in block.body.walk() if isinstance(op, memref.StoreOp)]
    return bool(stores) and all(_is_apart(store, variable, extent) for store in stores)


def _is_apart(store: memref.StoreOp, variable: SSAValue, extent: int) -> bool:
    shape = cast("MemRefType[Attribute]", store.memref.type).get_shape()
    return any(
        index is variable and extent >= size
        for index, size in zip(store.indices, shape, strict=True)
    )
