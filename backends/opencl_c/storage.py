"""The C form of each buffer of a kernel, decided before any code is built.

A private memref becomes variables if every index into it is constant once unrolled loops are
expanded; the variables are vectors along the dimension of the vectorized loops. Otherwise it
becomes an array.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import cast

from xdsl.dialects import affine, arith, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IntegerType,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
)
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue
from xdsl.ir.affine import AffineDimExpr

from ...dialects import tir
from ...dialects.tir.affine import linear
from ...dialects.walking import operations_in, operations_of
from ...errors import CloptError
from .types import CType
from .values import Register

VECTOR_WIDTHS = (2, 3, 4, 8, 16)


@dataclass(eq=False)
class RegisterFile:
    """A private memref in registers: `width` elements along dimension `axis` share a variable."""

    hint: str
    shape: tuple[int, ...]
    ctype: CType
    """The type of one register."""
    axis: int
    width: int
    registers: dict[tuple[int, ...], Register]

    @classmethod
    def of(
        cls, hint: str, shape: tuple[int, ...], ctype: CType, axis: int, width: int
    ) -> RegisterFile:
        """Create one register per position; names contain only the indices that vary."""
        counts = [-(-n // width) if d == axis else n for d, n in enumerate(shape)]
        positions = [()]
        for count in counts:
            positions = [(*p, i) for p in positions for i in range(count)]
        registers = {
            position: Register(
                "_".join([hint, *(str(i) for i, n in zip(position, counts, strict=True) if n > 1)]),
                ctype,
            )
            for position in positions
        }
        return cls(hint, shape, ctype, axis, width, registers)

    def find(self, index: Sequence[int]) -> tuple[Register, int]:
        """Return the register that holds an element, and the element's lane in it."""
        for i, n in zip(index, self.shape, strict=True):
            if not 0 <= i < n:
                raise CloptError(
                    f"the kernel accesses {self.hint} at {list(index)}, outside its shape"
                )
        if self.width == 1:
            return self.registers[tuple(index)], 0
        position = list(index)
        position[self.axis], lane = divmod(index[self.axis], self.width)
        return self.registers[tuple(position)], lane


@dataclass(frozen=True)
class PrivateAccess:
    """A load or store of a private memref, described by its indices."""

    loops: frozenset[tir.ForOp]
    """The loops on whose variables the indices depend."""
    lanes: tuple[int, int] | None
    """Dimension and width, if the access is one aligned vector of a vectorized loop."""


class Storages:
    """The uses of the buffers of one kernel, and the C forms that follow from them."""

    def __init__(self, func: tir.FuncOp):
        self._depends: dict[SSAValue, frozenset[tir.ForOp]] = {}
        self._expanded: dict[tir.ForOp, bool] = {}
        self._written: dict[Operation, frozenset[SSAValue]] = {}
        self.written = self.written_in(func)

    def written_in(self, op: Operation) -> frozenset[SSAValue]:
        """Return the memrefs to which `op` and the operations inside it store."""
        if op not in self._written:
            written: set[SSAValue] = set()
            if isinstance(op, memref.StoreOp):
                written.add(op.memref)
            elif isinstance(op, tir.TexelWriteOp):
                written.add(op.destination)
            for region in op.regions:
                for block in region.blocks:
                    for inner in block.ops:
                        if inner.regions or not inner.results:
                            written |= self.written_in(inner)
            self._written[op] = frozenset(written)
        return self._written[op]

    def depends(self, value: SSAValue) -> frozenset[tir.ForOp]:
        """Return the loops in which a value changes, ignoring stores to buffers it loads from."""
        if (cached := self._depends.get(value)) is not None:
            return cached
        result: frozenset[tir.ForOp] = frozenset()
        if isinstance(value, BlockArgument):
            loop = value.block.parent_op()
            if isinstance(loop, tir.ForOp):
                result = frozenset((loop,))
        elif isinstance(value, OpResult):
            op = value.op
            if isinstance(op, memref.AllocaOp):
                result = frozenset(tir.enclosing_loops(op))
            else:
                operands = [*op.operands]
                for region in op.regions:
                    operands += [
                        operand for inner in operations_in(region) for operand in inner.operands
                    ]
                result = frozenset[tir.ForOp]().union(*map(self.depends, operands))
        self._depends[value] = result
        return result

    def is_vector_loop(self, loop: tir.ForOp) -> bool:
        """Return whether the loop becomes vector code; other vectorized loops are expanded.

        A loop is expanded if its lanes depend on each other: if all lanes store to one element, if
        it contains another vectorized loop, or if it allocates local memory.
        """
        if loop.kind.data is not tir.LoopKind.Vectorized or loop.size not in VECTOR_WIDTHS:
            return False
        if loop not in self._expanded:
            self._expanded[loop] = any(
                self._needs_expansion(op, loop) for op in operations_in(loop.body)
            )
        return not self._expanded[loop]

    def _needs_expansion(self, op: Operation, loop: tir.ForOp) -> bool:
        match op:
            case tir.ForOp():
                return op.kind.data is tir.LoopKind.Vectorized and op.size > 1
            case memref.StoreOp() | memref.LoadOp():
                varies = any(loop in self.depends(index) for index in op.indices)
                if _is_inside(op.memref, loop):
                    return varies
                return isinstance(op, memref.StoreOp) and not varies
            case tir.TexelWriteOp():
                return not any(loop in self.depends(at) for at in (*op.coords, op.lane))
            case memref.AllocaOp():
                return scope_of(op.memref.type) is not tir.Scope.Private
            case _:
                return False

    def lane_loop(self, buffer: SSAValue) -> tir.ForOp | None:
        """Return the vector loop in which a private memref is allocated per lane, or None."""
        if not isinstance(buffer, OpResult):
            return None
        for loop in tir.enclosing_loops(buffer.op):
            if self.is_vector_loop(loop):
                return loop
        return None

    def register_layout(self, buffer: SSAValue) -> tuple[int, int] | None:
        """Return vector dimension and width of a private memref that fits registers, or None."""
        accesses: list[PrivateAccess] = []
        for use in buffer.uses:
            op = use.operation
            if not isinstance(op, memref.LoadOp | memref.StoreOp):
                raise CloptError(
                    f"a kernel may only load from and store to a buffer, not {op.name} it"
                )
            access = self._access(op)
            if any(not self._is_constant(loop) for loop in access.loops):
                return None
            if not all(_is_affine(index) for index in op.indices):
                return None
            accesses.append(access)
        vectors = [access.lanes for access in accesses if access.lanes is not None]
        return max(vectors, key=lambda lanes: (lanes[1], lanes[0]), default=(0, 1))

    def _is_constant(self, loop: tir.ForOp) -> bool:
        kinds = (tir.LoopKind.Unrolled, tir.LoopKind.Vectorized)
        return loop.kind.data in kinds or (loop.size == 1 and not loop.kind.data.is_bound)

    def _access(self, op: memref.LoadOp | memref.StoreOp) -> PrivateAccess:
        loops = frozenset[tir.ForOp]().union(*map(self.depends, op.indices))
        lanes: tuple[int, int] | None = None
        vector = [loop for loop in loops if self.is_vector_loop(loop)]
        if len(vector) == 1:
            (loop,) = vector
            axes = [d for d, index in enumerate(op.indices) if loop in self.depends(index)]
            if len(axes) == 1 and _is_aligned(op.indices[axes[0]], loop):
                lanes = axes[0], loop.size
        return PrivateAccess(loops, lanes)


def _is_affine(value: SSAValue) -> bool:
    """Return whether an index depends only on loop variables and constants."""
    if isinstance(value, BlockArgument):
        return True
    assert isinstance(value, OpResult)
    if isinstance(value.op, arith.ConstantOp):
        return True
    return isinstance(
        value.op, affine.ApplyOp | arith.AddiOp | arith.MuliOp | arith.SubiOp
    ) and all(map(_is_affine, value.op.operands))


def _is_aligned(index: SSAValue, loop: tir.ForOp) -> bool:
    """Return whether `index` is the loop's variable plus multiples of its extent."""
    if index is loop.var:
        return True
    if not (isinstance(index, OpResult) and isinstance(index.op, affine.ApplyOp)):
        return False
    apply = index.op
    form = linear(apply.map.data.results[0], [None] * len(apply.mapOperands))
    strides: dict[SSAValue, int] = {}
    for atom, coefficient in form.terms.items():
        if not isinstance(atom, AffineDimExpr):
            return False
        strides[apply.mapOperands[atom.position]] = coefficient
    return (
        strides.pop(loop.var, 0) == 1
        and form.constant % loop.size == 0
        and all(stride % loop.size == 0 for stride in strides.values())
    )


def _is_inside(buffer: SSAValue, loop: tir.ForOp) -> bool:
    return isinstance(buffer, OpResult) and loop in tir.enclosing_loops(buffer.op)


def scope_of(type_: Attribute) -> tir.Scope:
    """Return the scope of a memref; global if it has no memory space."""
    assert isinstance(type_, MemRefType)
    space = type_.memory_space
    if isinstance(space, NoneAttr):
        return tir.Scope.Global
    if not isinstance(space, tir.ScopeAttr):
        raise CloptError(f"{space} is not a memory space of kernels: use #tir.scope")
    return space.scope


def memref_type(value: SSAValue) -> MemRefType[Attribute]:
    """Return the type of a buffer."""
    type_: Attribute = value.type
    assert isinstance(type_, MemRefType)
    return cast("MemRefType[Attribute]", type_)


def sizes_of(attr: DenseArrayBase | None) -> list[int]:
    """Return the numbers in an NDRange attribute; an empty list if it is absent."""
    return [] if attr is None else list(cast("DenseArrayBase[IntegerType]", attr).get_values())


def layout_of(type_: MemRefType[Attribute]) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Return the shape, strides and offset of a memref, in elements."""
    shape = type_.get_shape()
    if DYNAMIC_INDEX in shape:
        raise CloptError(f"a kernel's buffers must have static shapes, not {type_}")
    if isinstance(type_.layout, NoneAttr):
        return shape, tuple(prod(shape[i + 1 :]) for i in range(len(shape))), 0
    strides, offset = type_.get_strides(), None
    if isinstance(type_.layout, StridedLayoutAttr):
        offset = type_.layout.get_offset()
    if strides is None or offset is None or None in strides:
        raise CloptError(f"a kernel's buffers must have static strides, not {type_.layout}")
    return shape, tuple(s for s in strides if s is not None), offset


def has_barrier(loop: tir.ForOp) -> bool:
    """Return whether work-items wait at a barrier inside `loop`."""
    return any(True for _ in operations_of(tir.BarrierOp, loop.body))


def needs_long(func: tir.FuncOp) -> bool:
    """Return whether some element number of a parameter does not fit a 32-bit int."""
    for param in func.params:
        if tir.is_texture(param.type):
            continue
        shape, strides, offset = layout_of(memref_type(param))
        if offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) >= 1 << 31:
            return True
    return False
