"""Fast constructors for the operations that kernels consist of.

The constructors of xDSL match arguments to the definition of an operation, which takes longer than
the rest of the construction: 54 us for an addition instead of 25 (EPYC). A kernel has thousands of
such operations, whose form is known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import cast

from xdsl.dialects import affine, arith, memref
from xdsl.dialects.builtin import AffineMapAttr, FloatAttr, IndexType, IntegerAttr, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import IRDLOperation

_INDEX = IndexType()


def constant(value: IntegerAttr | FloatAttr) -> arith.ConstantOp:
    """Return `arith.constant`."""
    return arith.ConstantOp.create(result_types=[value.type], properties={"value": value})


def index_constant(value: int) -> arith.ConstantOp:
    """Return `arith.constant` of an index."""
    return constant(index_attribute(value))


@lru_cache(maxsize=4096)
def index_attribute(value: int) -> IntegerAttr[IndexType]:
    """Return a number of type index."""
    return IntegerAttr(value, _INDEX)


def apply(operands: Sequence[SSAValue], expr: AffineExpr) -> affine.ApplyOp:
    """Return `affine.apply` of an expression whose dimensions are the operands."""
    map_ = AffineMapAttr(AffineMap(len(operands), 0, (expr,)))
    return affine.ApplyOp.create(operands=operands, result_types=[_INDEX], properties={"map": map_})


def load(buffer: SSAValue, indices: Sequence[SSAValue]) -> memref.LoadOp:
    """Return `memref.load`."""
    element = cast("MemRefType[Attribute]", buffer.type).element_type
    return memref.LoadOp.create(operands=[buffer, *indices], result_types=[element])


def store(value: SSAValue, buffer: SSAValue, indices: Sequence[SSAValue]) -> memref.StoreOp:
    """Return `memref.store`."""
    return memref.StoreOp.create(operands=[value, buffer, *indices])


def binary(kind: type[IRDLOperation], lhs: SSAValue, rhs: SSAValue) -> Operation:
    """Return a binary operation of `arith` or `math` with the type of its operands."""
    return kind.create(operands=[lhs, rhs], result_types=[lhs.type])
