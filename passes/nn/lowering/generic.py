"""Lowering of generic loop nests: their bodies, with explicit indices and casts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    Signedness,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from ....dialects import nn
from ....dialects.tir.expressions import with_dims
from .body import Body, Index
from .kernel import Accumulator, Element, KernelBuilder
from .scalar import ScalarValue, compute_type

ZERO = AffineExpr.constant(0)


def lower_generic(kernel: KernelBuilder, op: nn.GenericOp) -> None:
    """Evaluate the body for an element of the result, or fold it over the reduced loops."""
    if op.init is None:
        for i, (map_, value) in enumerate(zip(op.result_maps, op.outputs, strict=True)):
            kernel.define(value, _element(op, map_, i))
        return
    extents, written, reduced = op.loop_extents, op.written_loops, op.reduced_loops

    def update(
        body: Body, index: Sequence[Index], steps: Sequence[Index], so_far: Sequence[ScalarValue]
    ) -> list[ScalarValue]:
        loops = dict(zip((*written, *reduced), (*index, *steps), strict=True))
        return _evaluate(op, body, [loops[loop] for loop in range(len(extents))], so_far)

    elements = kernel.reduction(
        "generic",
        [extents[loop] for loop in written],
        [extents[loop] for loop in reduced],
        [
            Accumulator(nn.tensor_type(value).element_type, start)
            for value, start in zip(op.outputs, op.starts, strict=True)
        ],
        update,
    )
    for map_, value, element in zip(op.result_maps, op.outputs, elements, strict=True):
        kernel.define(value, _placed(element, map_, written))


def _element(op: nn.GenericOp, map_: AffineMap, number: int) -> Element:
    def element(body: Body, index: Sequence[Index]) -> ScalarValue:
        loops = [ZERO] * len(op.loop_extents)
        for loop, position in zip(map_.results, index, strict=True):
            if isinstance(loop, AffineDimExpr):
                loops[loop.position] = position
        return _evaluate(op, body, loops, ())[number]

    return element


def _placed(element: Element, map_: AffineMap, written: Sequence[int]) -> Element:
    """Return an element by the axes of a result, whose stage orders them as in `written`."""

    def placed(body: Body, index: Sequence[Index]) -> ScalarValue:
        at = {
            loop.position: position
            for loop, position in zip(map_.results, index, strict=True)
            if isinstance(loop, AffineDimExpr)
        }
        return element(body, [at[loop] for loop in written])

    return placed


def _evaluate(
    op: nn.GenericOp, body: Body, loops: Sequence[Index], so_far: Sequence[ScalarValue]
) -> list[ScalarValue]:
    """Return the scalars that the body yields in one iteration."""
    block = op.body.block
    values: dict[SSAValue, ScalarValue] = {}
    tables: dict[SSAValue, SSAValue] = {}
    for argument, map_, operand in zip(block.args, op.operand_maps, op.inputs, strict=False):
        if map_ is None:
            tables[argument] = operand
        else:
            values[argument] = body.read(operand, [with_dims(i, loops) for i in map_.results])
    values.update(zip(block.args[len(op.inputs) :], so_far, strict=True))
    for inner in block.ops:
        if isinstance(inner, nn.YieldOp):
            break
        if isinstance(inner, nn.IndexOp):
            value = body.index_scalar(loops[nn.ints(inner.loop)[0]], i64)
        elif isinstance(inner, tensor.ExtractOp):
            table = tables[inner.tensor]
            position = _position(op, loops, values)
            pairs = zip(inner.indices, nn.shape_of(table), strict=True)
            value = body.read(table, [position(index, size) for index, size in pairs])
        else:
            value = _scalar(body, inner, [values[v] for v in inner.operands])
        values[inner.results[0]] = value
    last = block.last_op
    assert last is not None
    return [values[v] for v in last.operands]


def _position(
    op: nn.GenericOp, loops: Sequence[Index], values: Mapping[SSAValue, ScalarValue]
) -> Callable[[SSAValue, int], Index]:
    """Return a function from an index to the nearest position in an axis of a table.

    A loop within the axis stays a loop.
    """

    def position(index: SSAValue, size: int) -> Index:
        if isinstance(index.owner, nn.IndexOp):
            (loop,) = nn.ints(index.owner.loop)
            if op.loop_extents[loop] <= size:
                return loops[loop]
        scalar = _narrow(values[index])
        return scalar.body.dynamic_index(scalar.max(0).min(size - 1).cast(i32), size)

    return position


def _narrow(index: ScalarValue) -> ScalarValue:
    """Return the 32-bit number that was extended to an index, else the index."""
    owner = index.ssa.owner
    if isinstance(owner, arith.ExtSIOp) and owner.input.type == i32:
        return ScalarValue(index.body, owner.input, i32)
    return index


def _element_type(type: Attribute) -> Attribute:
    return i64 if isinstance(type, IndexType) else type


def _unsigned(x: ScalarValue) -> ScalarValue:
    """Return the same bits as an unsigned number; booleans have no sign."""
    if x.element_type == i1:
        return x
    width = cast("IntegerType", x.element_type).bitwidth
    return ScalarValue(x.body, x.ssa, IntegerType(width, Signedness.UNSIGNED))


def _signless(x: ScalarValue, to: Attribute) -> ScalarValue:
    return ScalarValue(x.body, x.ssa, to)


def _floor_quotient(a: ScalarValue, b: ScalarValue) -> ScalarValue:
    quotient, rest = a / b, a.binary("rem", b)
    opposite = rest.compare("lt", 0).cast(i32).compare("ne", b.compare("lt", 0).cast(i32))
    return (rest.compare("ne", 0) & opposite).select(quotient - 1, quotient)


def _extended(x: ScalarValue, to: Attribute) -> ScalarValue:
    # A boolean is an integer of one bit, its sign.
    return -x.cast(to) if x.element_type == i1 else x.cast(to)


def _truncated(x: ScalarValue, to: Attribute) -> ScalarValue:
    return x.binary("and", 1).cast(i1) if to == i1 else x.cast(to)


_CASTS: dict[type[Operation], Callable[[ScalarValue, Attribute], ScalarValue]] = {
    arith.ExtFOp: ScalarValue.cast,
    arith.TruncFOp: ScalarValue.cast,
    arith.SIToFPOp: ScalarValue.cast,
    arith.FPToSIOp: ScalarValue.cast,
    arith.IndexCastOp: ScalarValue.cast,
    arith.ExtSIOp: _extended,
    arith.TruncIOp: _truncated,
    arith.ExtUIOp: lambda x, to: _signless(_unsigned(x).cast(to), to),
    arith.UIToFPOp: lambda x, to: _unsigned(x).cast(to),
    arith.FPToUIOp: lambda x, to: _signless(
        x.cast(IntegerType(cast("IntegerType", to).bitwidth, Signedness.UNSIGNED)), to
    ),
}

_DIVISIONS: dict[type[Operation], Callable[[ScalarValue, ScalarValue], ScalarValue]] = {
    arith.DivSIOp: lambda a, b: a / b,
    arith.RemSIOp: lambda a, b: a.binary("rem", b),
    arith.FloorDivSIOp: _floor_quotient,
    arith.DivUIOp: lambda a, b: _signless(_unsigned(a) / _unsigned(b), a.element_type),
    arith.RemUIOp: lambda a, b: _signless(_unsigned(a).binary("rem", _unsigned(b)), a.element_type),
}
"""Integer divisions, which must not trap."""


def _scalar(body: Body, op: Operation, x: Sequence[ScalarValue]) -> ScalarValue:
    """Return the result of a scalar operation."""
    to = _element_type(op.results[0].type)
    if isinstance(op, arith.ConstantOp):
        value = cast("IntegerAttr | FloatAttr", op.value).value.data
        return body.constant(value, to)
    if type(op) in _CASTS:
        return _CASTS[type(op)](x[0], to)
    if type(op) in _DIVISIONS:
        return _DIVISIONS[type(op)](*x)
    made = type(op).create(
        operands=[scalar.ssa for scalar in x],
        properties=op.properties,
        result_types=[compute_type(to)],
    )
    return ScalarValue(body, body.add(made).results[0], to)
