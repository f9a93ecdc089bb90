"""Bodies that no named operation computes, as `nn.generic`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IndexType, TensorType, i32
from xdsl.dialects.linalg.ops import IndexOp, YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from ...dialects import nn
from ...dialects.nn.generic import SCALAR_OPERATIONS
from ...dialects.nn.types import shape_of
from ..builder import Builder
from .bodies import Read, Structured
from .elementwise import ScalarBody
from .scalars import element_of
from .views import NotNamedError, TensorView, dense, one_number


def generic(
    builder: Builder, op: Structured, view_of: Mapping[SSAValue, TensorView]
) -> list[TensorView]:
    """Import an operation as `nn.generic`.

    Raises NotNamedError if the body contains more than scalar operations.
    """
    reads: dict[SSAValue, Read] = dict(zip(op.arguments, op.inputs, strict=True))
    init: list[Attribute] | None = None
    if op.reduced_loops:
        init = [_start(builder, output.view) for output in op.outputs]
    else:
        reads |= dict(zip(op.accumulators, op.outputs, strict=True))
    reads = {argument: read for argument, read in reads.items() if argument.uses}
    computed = _computed(builder, op, view_of)
    outer = _outer(op.block, view_of, computed)
    values = [dense(builder, read.view) for read in reads.values()]
    values += [dense(builder, view_of[value]) for value in outer]
    values += [table.value for table in computed.values()]
    loops = len(op.extents)
    maps: list[AffineMap | None] = [_map(loops, read.index) for read in reads.values()]
    maps += [None if _is_tensor(value) else _map(loops, ()) for value in outer]
    maps += [_map(loops, table.index) for table in computed.values()]
    maps += [_map(loops, output.index) for output in op.outputs]
    elements = [output.view.element_type for output in op.outputs]
    arguments = [*reads, *outer, *computed, *(op.accumulators if init is not None else ())]
    body = _body(op.block, arguments, computed)
    generic_op = nn.GenericOp(values, maps, op.extents, elements, Region(body), init)
    return [TensorView.of(value) for value in builder.add_all(generic_op)]


def _map(loops: int, index: Sequence[AffineExpr]) -> AffineMap:
    return AffineMap(loops, 0, tuple(index))


def _is_tensor(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType)


def _start(builder: Builder, view: TensorView) -> Attribute:
    """Return the initial value of a reduction; raise NotNamedError if it is not one number."""
    array = one_number(builder, view)
    if array is None:
        raise NotNamedError
    return nn.scalar(array.item(), view.element_type)


@dataclass(frozen=True)
class _Table:
    """The values of a scalar that depends only on loops."""

    value: SSAValue
    index: Sequence[AffineExpr]


def _computed(
    builder: Builder, op: Structured, view_of: Mapping[SSAValue, TensorView]
) -> dict[SSAValue, _Table]:
    """Return tables for scalars known at import on which other scalars depend.

    The coordinates of a resize, for example, are computed once, at import.
    """
    known: dict[SSAValue, SSAValue] = {}
    body = ScalarBody(builder, {}, op.extents, view_of)
    for inner in op.block.ops:
        constant = all(v in known or _is_constant(v) for v in inner.operands)
        if not constant or isinstance(inner, tensor.ExtractOp | YieldOp):
            continue
        try:
            value = body.value(inner.results[0])
        except NotNamedError:
            continue
        if builder.known(value) is not None:
            known[inner.results[0]] = value
    found: dict[SSAValue, _Table] = {}
    for scalar, value in known.items():
        if isinstance(scalar.owner, IndexOp):
            continue
        users = (use.operation for use in scalar.uses)
        if all(any(result in known for result in user.results) for user in users):
            continue
        shape = shape_of(value)
        loops = body.frame[len(body.frame) - len(shape) :]
        walked = [i for i, size in enumerate(shape) if size > 1]
        table = builder.reshape(value, [shape[i] for i in walked])
        if isinstance(scalar.type, IndexType):
            table = builder.cast(table, i32)  # tensor indices fit in 32 bits
        index = [AffineExpr.dimension(loop) for i in walked if (loop := loops[i]) is not None]
        found[scalar] = _Table(table, index)
    return found


def _outer(
    block: Block, view_of: Mapping[SSAValue, TensorView], computed: Collection[SSAValue]
) -> list[SSAValue]:
    """Return the outer values that a body reads, each once; constants are copied instead."""
    found: dict[SSAValue, None] = {}
    for op in block.ops:
        if any(result in computed for result in op.results):
            continue
        for value in op.operands:
            if _is_inside(value, block) or _is_constant(value):
                continue
            if value not in view_of:
                raise NotNamedError
            found[value] = None
    return list(found)


def _is_inside(value: SSAValue, block: Block) -> bool:
    owner = value.owner
    return owner is block or (isinstance(owner, Operation) and owner.parent is block)


def _is_constant(value: SSAValue) -> bool:
    return isinstance(value.owner, arith.ConstantOp) and not _is_tensor(value)


def _body(block: Block, arguments: Sequence[SSAValue], computed: Collection[SSAValue]) -> Block:
    """Copy a body; the copy's arguments stand for `arguments`.

    Computed scalars get the element type of their tables, in which an index is an i32.
    """
    made = Block(arg_types=[_argument_type(a) if a in computed else a.type for a in arguments])
    values: dict[SSAValue, SSAValue] = {}
    for value, argument in zip(arguments, made.args, strict=True):
        values[value] = argument
        if argument.type != value.type:
            cast = arith.IndexCastOp(argument, value.type)
            made.add_op(cast)
            values[value] = cast.result
    needed = _needed(block, computed)
    for op in block.ops:
        if op not in needed:
            continue
        for operand in op.operands:
            owner = operand.owner
            if operand not in values and isinstance(owner, arith.ConstantOp):
                constant = owner.clone()
                made.add_op(constant)
                values[operand] = constant.result
        made.add_op(_copy(op, values))
    return made


def _argument_type(value: SSAValue) -> Attribute:
    return i32 if isinstance(value.type, IndexType) else element_of(value.type)


def _needed(block: Block, computed: Collection[SSAValue]) -> set[Operation]:
    """Return the operations of a body whose results are used and not precomputed."""
    last = block.last_op
    pending, found = [last] if last is not None else [], set[Operation]()
    while pending:
        op = pending.pop()
        if op in found or any(result in computed for result in op.results):
            continue
        found.add(op)
        owners = (value.owner for value in op.operands)
        pending += [o for o in owners if isinstance(o, Operation) and o.parent is block]
    return found


def _copy(op: Operation, values: dict[SSAValue, SSAValue]) -> Operation:
    """Copy an operation of a body and record its result in `values`."""
    operands = [values[value] for value in op.operands]
    match op:
        case YieldOp():
            return nn.YieldOp(operands)
        case IndexOp():
            copy = nn.IndexOp(op.dim.value.data)
        case _ if isinstance(op, (tensor.ExtractOp, *SCALAR_OPERATIONS)):
            copy = op.clone(values)
        case _:
            raise NotNamedError
    values[op.results[0]] = copy.results[0]
    return copy
