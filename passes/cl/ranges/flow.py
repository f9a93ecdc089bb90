"""The stores of a scheduled kernel, and the loads on which each of them depends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple, TypeAlias

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ....dialects import tir
from ....dialects.properties import ints
from ....dialects.walking import operations_in
from ...tir.schedule.analysis import index_expr, memref_of
from .borders import inside_of

_MAY_TRAP = (
    arith.DivSIOp,
    arith.DivUIOp,
    arith.RemSIOp,
    arith.RemUIOp,
    arith.FloorDivSIOp,
    arith.CeilDivSIOp,
    arith.CeilDivUIOp,
)

_Load: TypeAlias = memref.LoadOp | tir.LoadQuadOp | tir.TexelReadOp


@dataclass(frozen=True)
class ElementAccess:
    """A load or store of an element of a parameter, or of private or local memory."""

    memory: SSAValue
    shape: tuple[int, ...]
    indices: tuple[AffineExpr | None, ...]
    """One per axis of `shape`; None if it is not an affine expression over the loops."""
    width: int = 1
    """How many elements, aligned along the last axis, are accessed from the indices on."""


class GuardedLoad(NamedTuple):
    """A load whose value is used only where elements of other memories are true."""

    access: ElementAccess
    guards: tuple[ElementAccess, ...]


@dataclass(frozen=True, eq=False)
class StoreFlow:
    """A store, and the loads on which it depends."""

    access: ElementAccess
    values: tuple[GuardedLoad, ...]
    """Loads that the stored value, or whether it is stored, depends on."""
    addresses: tuple[ElementAccess, ...]
    """Loads whose values select an address, or may be a divisor of integers."""


class UnknownFlowError(Exception):
    """A kernel has an operation whose accesses to memory are unknown."""


class KernelFlow:
    """The flow of elements through a kernel; each loop, and each OpenCL index, is a dimension.

    All loops bound to one index share its dimension, since the index has one value everywhere in a
    work-item.
    """

    def __init__(self, func: tir.FuncOp):
        """Analyse a kernel; raise UnknownFlowError if that is impossible."""
        self.extents: list[int | None] = []
        """The extent of each dimension."""
        self.bound: dict[tir.LoopKind, int] = {}
        """The dimension of each OpenCL index."""
        self.global_size = () if func.global_size is None else ints(func.global_size)
        self.local_size = () if func.local_size is None else ints(func.local_size)
        self.fixed: dict[SSAValue, set[int]] = {param: set() for param in func.params}
        """The dimensions that a memory's loads have in common with the stores that they see."""
        self.stores: defaultdict[SSAValue, list[StoreFlow]] = defaultdict(list)
        self._leaves: dict[SSAValue, AffineExpr] = {}
        self._exprs: dict[SSAValue, AffineExpr | None] = {}
        self._coordinates: dict[SSAValue, AffineExpr | None] = {}
        self._loads: dict[Operation, tuple[ElementAccess, list[SSAValue]]] = {}
        ops = [*operations_in(func.body)]
        for op in ops:
            if isinstance(op, tir.ForOp):
                self._number(op)
        for op in ops:
            self._record(op)

    def _number(self, loop: tir.ForOp) -> None:
        kind, extent = loop.kind.data, loop.size
        dim = self.bound.get(kind, len(self.extents))
        if kind.is_bound and kind not in self.bound:
            self.bound[kind] = dim
            extent = self._index_extent(kind)
        if dim == len(self.extents):
            self.extents.append(extent)
        self._leaves[loop.var] = AffineDimExpr(dim)

    def _index_extent(self, kind: tir.LoopKind) -> int:
        total = self.global_size[kind.axis]
        group = self.local_size[kind.axis] if self.local_size else 1
        if kind.value.startswith("global"):
            return total
        return group if kind.value.startswith("local") else total // group

    def _record(self, op: Operation) -> None:
        """Note the memory that an operation allocates, or its store."""
        if isinstance(op, memref.AllocaOp):
            self.fixed[op.memref] = self._fixed(op)
        elif isinstance(op, memref.StoreOp):
            access = self._access(op.memref, op.indices)
            self._store(op, access, [op.value], op.indices)
        elif isinstance(op, tir.TexelWriteOp):
            self._store(op, self._texel(op.destination, op), [op.value], (*op.coords, op.lane))
        elif not isinstance(op, _Load):
            if any(isinstance(value.type, MemRefType) for value in op.operands):
                raise UnknownFlowError(op.name)

    def _fixed(self, alloca: memref.AllocaOp) -> set[int]:
        """Return the dimensions whose values are equal wherever this memory is accessed."""
        space = memref_of(alloca.memref).memory_space
        is_local = isinstance(space, tir.ScopeAttr) and space.scope is tir.Scope.Local
        around = {loop.var for loop in tir.enclosing_loops(alloca)}
        dims = {dim for var in around for dim in self._leaves[var].used_dims()}
        for kind, dim in self.bound.items():
            if not is_local or kind.value.startswith("group"):
                dims.add(dim)
            else:
                dims.discard(dim)
        return dims

    def _store(
        self,
        op: Operation,
        access: ElementAccess,
        values: Iterable[SSAValue],
        indices: Iterable[SSAValue],
    ) -> None:
        conditions: list[SSAValue] = []
        parent = op.parent_op()
        while parent is not None:
            if isinstance(parent, scf.IfOp):
                conditions.append(parent.cond)
            parent = parent.parent_op()
        loads = _LoadsBehind(self)
        loads.follow([*values, *conditions], is_address=False)
        loads.follow(self._unknown(indices), is_address=True)
        flow = StoreFlow(access, tuple(dict.fromkeys(loads.values)), tuple(loads.addresses))
        self.stores[access.memory].append(flow)

    def _access(self, memory: SSAValue, indices: Iterable[SSAValue]) -> ElementAccess:
        exprs = tuple(map(self._expr, indices))
        return ElementAccess(memory, memref_of(memory).get_shape(), exprs)

    def _texel(self, memory: SSAValue, op: tir.TexelReadOp | tir.TexelWriteOp) -> ElementAccess:
        """Return an access by texel, as one to an array of the image's rows or of all texels."""
        type_ = memref_of(memory)
        extents = (prod(type_.get_shape()) // tir.TEXEL,)
        if tir.is_texture(type_):
            extents = tir.image_of(type_).extents[::-1]
        coords = [self._coordinate(each) for each in reversed([*op.coords])]
        return ElementAccess(memory, (*extents, tir.TEXEL), (*coords, self._expr(op.lane)))

    def _coordinate(self, value: SSAValue) -> AffineExpr | None:
        if value not in self._coordinates:
            self._coordinates[value] = inside_of(value, self._expr, self.extents)
        return self._coordinates[value]

    def _expr(self, index: SSAValue) -> AffineExpr | None:
        if index not in self._exprs:
            self._exprs[index] = index_expr(index, self._leaves)
        return self._exprs[index]

    def _unknown(self, indices: Iterable[SSAValue]) -> list[SSAValue]:
        return [index for index in indices if self._expr(index) is None]

    def load_of(self, op: _Load) -> tuple[ElementAccess, list[SSAValue]]:
        """Return the element that an operation loads, and the values that select it."""
        if op not in self._loads:
            if isinstance(op, tir.TexelReadOp):
                found = self._texel(op.source, op), self._unknown((*op.coords, op.lane))
            else:
                indices = op.indices
                access = self._access(op.memref, indices)
                if isinstance(op, tir.LoadQuadOp):
                    access = replace(access, width=tir.QUAD)
                found = access, self._unknown(indices)
            self._loads[op] = found
        return self._loads[op]


class _LoadsBehind:
    """The loads on which values depend, found backwards."""

    def __init__(self, flow: KernelFlow) -> None:
        self.values: list[GuardedLoad] = []
        self.addresses: list[ElementAccess] = []
        self._flow = flow
        self._seen: set[_UsedValue] = set()

    def follow(self, values: Iterable[SSAValue], *, is_address: bool) -> None:
        pending = [_UsedValue(value, is_address) for value in values]
        while pending:
            found = pending.pop()
            if found not in self._seen and not isinstance(found.value.owner, Block):
                self._seen.add(found)
                pending += self._behind(found)

    def _behind(self, use: _UsedValue) -> list[_UsedValue]:
        """Return the values that a value is computed from; note it if it is loaded."""
        op, is_address = use.value.owner, use.is_address
        assert isinstance(op, Operation)
        if isinstance(op, _Load):
            access, selecting = self._flow.load_of(op)
            if is_address:
                self.addresses.append(access)
            else:
                self.values.append(GuardedLoad(access, use.guards))
            return [_UsedValue(each, True) for each in selecting]
        if isinstance(op, scf.IfOp):
            index = op.results.index(use.value)
            ends = [region.block.last_op for region in op.regions]
            yielded = [end.operands[index] for end in ends if isinstance(end, scf.YieldOp)]
            return [use._replace(value=each) for each in (op.cond, *yielded)]
        if op.regions:
            raise UnknownFlowError(op.name)
        if isinstance(op, arith.SelectOp) and (guard := self._guard(op.cond)) is not None:
            guarded = _UsedValue(op.lhs, is_address, (*use.guards, guard))
            return [guarded, use._replace(value=op.cond), use._replace(value=op.rhs)]
        if isinstance(op, _MAY_TRAP) and not isinstance(op.rhs.owner, arith.ConstantOp):
            use = use._replace(is_address=True)
        return [use._replace(value=each) for each in op.operands]

    def _guard(self, condition: SSAValue) -> ElementAccess | None:
        """Return the loaded element that is a condition."""
        op = condition.owner
        return self._flow.load_of(op)[0] if isinstance(op, memref.LoadOp) else None


class _UsedValue(NamedTuple):
    """A value that a stored value depends on."""

    value: SSAValue
    is_address: bool
    guards: tuple[ElementAccess, ...] = ()
