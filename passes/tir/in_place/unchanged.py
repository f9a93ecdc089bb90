"""Kernels that store an element unchanged, or a value that does not depend on it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import BlockArgument, Operation, SSAValue, Use

from .accesses import ParameterAccess, ParameterAccesses
from .injective import is_injective


def keeps_elements(
    kernel: ParameterAccesses, source: SSAValue, result: SSAValue, inputs: Collection[SSAValue]
) -> bool:
    """Return whether elements of `source` are at most stored, to the same element of `result`.

    `inputs` are the parameters that the kernel does not write.

    Several work-items may then compute an element in place, as overlapping tiles do. Each of them
    stores what the element was, or else a value that depends on the element's indices alone, so all
    of them store the same.
    """
    stores = [use.operation for use in result.uses]
    written = kernel.of[result]
    if not written or len(stores) != 1 or not isinstance(store := stores[0], memref.StoreOp):
        return False
    chain = _Chain(kernel, store, written[0], source, inputs)
    return all(chain.starts_at(use.operation) for use in source.uses) and chain.is_function()


@dataclass(frozen=True)
class _Chain:
    """The only store to a result, and the choices between loads that lead to its value."""

    kernel: ParameterAccesses
    store: memref.StoreOp
    access: ParameterAccess
    """That of the store."""
    source: SSAValue
    inputs: Collection[SSAValue]

    @cached_property
    def _known(self) -> frozenset[int]:
        """The dimensions that one index of the element determines."""
        ranges = self.access.place.ranges
        alone = [
            expr.used_dims()
            for expr in self.access.indices
            if expr.used_dims()
            and is_injective([expr], {dim: ranges[dim][1] for dim in sorted(expr.used_dims())})
        ]
        return frozenset[int]().union(*alone)

    def starts_at(self, load: Operation) -> bool:
        """Return whether a load is of the element that is stored, and has no other use."""
        if (
            not isinstance(load, memref.LoadOp)
            or self.kernel.exprs(load.indices) != self.access.indices
        ):
            return False
        return all(map(self._leads_to_store, load.res.uses))

    def _leads_to_store(self, use: Use) -> bool:
        match use.operation:
            case memref.StoreOp() as store:
                return store is self.store and use.index == 0
            case arith.SelectOp() as select:
                return use.index > 0 and all(map(self._leads_to_store, select.result.uses))
            case scf.YieldOp() as end if isinstance(branch := end.parent_op(), scf.IfOp):
                return all(map(self._leads_to_store, branch.results[use.index].uses))
            case _:
                return False

    def is_function(self) -> bool:
        """Return whether the stored value depends on the indices of the element alone."""
        return self._is_determined(self.store.value)

    def _is_determined(self, value: SSAValue) -> bool:
        """Return whether a value is determined by the element, or is the element itself."""
        if isinstance(value.type, IndexType) and (found := self.kernel.exprs([value])) is not None:
            return found[0] in self.access.indices or found[0].used_dims() <= self._known
        if isinstance(value, BlockArgument):
            return value in self.inputs
        op = value.owner
        if not isinstance(op, Operation) or isinstance(op, memref.AllocaOp):
            return False
        if isinstance(op, memref.LoadOp) and op.memref is self.source:
            return True  # the element itself
        if isinstance(op, scf.IfOp):
            ends = [block.last_op for region in op.regions for block in region.blocks]
            number = op.results.index(value)
            values = [end.operands[number] for end in ends if end is not None]
            return all(map(self._is_determined, (op.cond, *values)))
        return not op.regions and all(map(self._is_determined, op.operands))
