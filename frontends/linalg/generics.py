"""Bodies that no named operation computes, as they are: `nn.generic`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.linalg.ops import IndexOp, YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from ...dialects import nn
from ...dialects.nn.generic import SCALAR_OPERATIONS
from ..builder import Builder
from .bodies import Read, Structured
from .scalars import element_of
from .views import NotNamedError, View, dense, one_number


def generic(builder: Builder, op: Structured, view_of: Mapping[SSAValue, View]) -> list[View]:
    """The results of an operation. Raises NotNamedError for a body that is more than scalars."""
    reads: dict[SSAValue, Read] = dict(zip(op.arguments, op.inputs, strict=True))
    init: list[Attribute] | None = None
    if op.reduced_loops:
        init = [_start(builder, output.view) for output in op.outputs]
    else:
        reads |= dict(zip(op.accumulators, op.outputs, strict=True))
    reads = {argument: read for argument, read in reads.items() if argument.uses}
    outer = _outer(op.block, view_of)
    values = [dense(builder, read.view) for read in reads.values()]
    values += [dense(builder, view_of[value]) for value in outer]
    loops = len(op.extents)
    maps: list[AffineMap | None] = [_map(loops, read.index) for read in reads.values()]
    maps += [None if _is_tensor(value) else _map(loops, ()) for value in outer]
    maps += [_map(loops, output.index) for output in op.outputs]
    elements = [output.view.element_type for output in op.outputs]
    arguments = [*reads, *outer, *(op.accumulators if init is not None else ())]
    body = _body(op.block, arguments)
    made = nn.GenericOp(values, maps, op.extents, elements, Region(body), init)
    return [View.of(value) for value in builder.add_all(made)]


def _map(loops: int, index: Sequence[AffineExpr]) -> AffineMap:
    return AffineMap(loops, 0, tuple(index))


def _is_tensor(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType)


def _start(builder: Builder, view: View) -> Attribute:
    """The number from which a reduction starts."""
    array = one_number(builder, view)
    if array is None:
        raise NotNamedError
    return nn.scalar(array.item(), view.element_type)


def _outer(block: Block, view_of: Mapping[SSAValue, View]) -> list[SSAValue]:
    """The values from outside that a body reads, each once; constants are copied."""
    found: dict[SSAValue, None] = {}
    for op in block.ops:
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


def _body(block: Block, arguments: Sequence[SSAValue]) -> Block:
    """A copy of a body whose arguments stand for `arguments`, its own and outer values."""
    types = [
        TensorType(element_of(a.type), cast("TensorType[Attribute]", a.type).get_shape())
        if _is_tensor(a)
        else a.type
        for a in arguments
    ]
    made = Block(arg_types=types)
    values: dict[SSAValue, SSAValue] = dict(zip(arguments, made.args, strict=True))
    for op in block.ops:
        for operand in op.operands:
            owner = operand.owner
            if operand not in values and isinstance(owner, arith.ConstantOp):
                constant = owner.clone()
                made.add_op(constant)
                values[operand] = constant.result
        made.add_op(_copy(op, values))
    return made


def _copy(op: Operation, values: dict[SSAValue, SSAValue]) -> Operation:
    """A copy of an operation of a body; its result is added to the values."""
    operands = [values[value] for value in op.operands]
    match op:
        case YieldOp():
            return nn.YieldOp(operands)
        case IndexOp():
            copy = nn.IndexOp(op.dim.value.data)
        case tensor.ExtractOp():
            copy = op.clone(values)
        case _ if isinstance(op, SCALAR_OPERATIONS):
            copy = op.clone(values)
        case _:
            raise NotNamedError
    values[op.results[0]] = copy.results[0]
    return copy
