"""Carries out the changes by which a network for larger sizes also serves smaller ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    LocationAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    i1,
    i32,
)
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects import nn
from ....dialects.nn import Tensor
from ....restriction import Change, ChangeKind, input_name
from .moves import Moving, by_indices
from .neutral import may_read_border, neutral_elements


def apply_changes(module: ModuleOp, changes: Sequence[Change]) -> None:
    """Change the network of a module, whose inputs are followed by those of the changes."""
    (network,) = nn.entries_of(module)
    ops = [*network.body.block.ops]
    inputs = _add_inputs(network, changes, ops)
    by_operation: dict[int, list[Change]] = {}
    for change in changes:
        by_operation.setdefault(change.operation, []).append(change)
    masks = _Masks(inputs)
    for position, group in by_operation.items():
        _Changed(ops[position], inputs, masks).apply(group)


def _add_inputs(
    network: func.FuncOp, changes: Sequence[Change], ops: Sequence[Operation]
) -> list[SSAValue]:
    """Add the inputs of the changes to a network, and return them."""
    types: dict[int, Tensor] = {}
    for change in changes:
        types.setdefault(change.input, _input_type(change, ops[change.operation]))
    block = network.body.block
    nn.name_parameters(network)
    old = network.arg_attrs
    assert old is not None
    added: list[SSAValue] = []
    for position in range(len(types)):
        added.append(block.insert_arg(types[position], len(block.args)))
        added[-1].name_hint = f"size{position}"
    names = [DictionaryAttr({"nn.name": StringAttr(input_name(i))}) for i in range(len(types))]
    network.arg_attrs = ArrayAttr([*old, *names])
    network.update_function_type()
    return added


def _input_type(change: Change, op: Operation) -> Tensor:
    """Return the type of the input of a change."""
    result = nn.tensor_type(op.results[0])
    if change.kind is ChangeKind.FEED:
        return result
    if change.kind is ChangeKind.MASK:
        return TensorType(i1, [nn.shape_of(op.operands[change.operand])[change.axis]])
    shape = [] if change.axis < 0 else [result.get_shape()[change.axis]]
    return TensorType(i32 if change.kind is ChangeKind.MOVE else result.element_type, shape)


class _Masks:
    """The masks of values, each made once."""

    def __init__(self, inputs: Sequence[SSAValue]) -> None:
        self._inputs = inputs
        self._known: dict[SSAValue, frozenset[object]] = {}
        """The masks of each masked value: inputs, axes and neutral elements."""

    def add(self, op: Operation, change: Change) -> None:
        """Replace the elements of an operand where the mask is false."""
        value, mask = op.operands[change.operand], self._inputs[change.input]
        element = next(
            each
            for each in neutral_elements(op)
            if each.operand == change.operand and change.axis in each.axes
        )
        before = self._known.get(value, frozenset())
        key = change.input, change.axis, element.element
        if key in before:
            return
        dtype = nn.numpy_dtype(nn.tensor_type(value).element_type)
        shaped = _along(mask, change.axis, len(nn.shape_of(value)))
        neutral = nn.ConstantOp.from_array(element.array(dtype))
        where = nn.WhereOp(shaped.result, value, neutral.result)
        self._known[where.result] = before | {key}
        if not may_read_border(op):
            _insert([shaped, neutral, where], InsertPoint.before(op), op.location)
            op.operands[change.operand] = where.result
            return
        # All users read the masked value, so that the kernel that computes it applies the mask.
        owner = value.owner
        place = (
            InsertPoint.at_start(owner) if isinstance(owner, Block) else InsertPoint.after(owner)
        )
        _insert([shaped, neutral, where], place, op.location)
        value.replace_uses_with_if(where.result, lambda use: use.operation is not where)


def _insert(ops: Sequence[Operation], place: InsertPoint, location: LocationAttr) -> None:
    """Insert operations one after another."""
    for op in ops:
        op.location = location
    Rewriter.insert_op(ops, place)


class _Changed:
    """An operation to change."""

    def __init__(self, op: Operation, inputs: Sequence[SSAValue], masks: _Masks) -> None:
        self._op = op
        self._inputs = inputs
        self._masks = masks

    def apply(self, changes: Sequence[Change]) -> None:
        """Carry out all changes of the operation."""
        moved = {
            change.axis: self._inputs[change.input]
            for change in changes
            if change.kind is ChangeKind.MOVE
        }
        if moved:
            assert isinstance(self._op, Moving)
            self._replace(by_indices(self._op, self._op.operands, moved))
            return
        for change in changes:
            given = self._inputs[change.input]
            if change.kind is ChangeKind.FEED:
                self._op.results[0].replace_all_uses_with(given)
                Rewriter.erase_op(self._op)
            elif change.kind is ChangeKind.MASK:
                self._masks.add(self._op, change)
            else:
                self._scale(change, given)

    def _replace(self, ops: Sequence[Operation]) -> None:
        _insert(ops, InsertPoint.before(self._op), self._op.location)
        result = self._op.results[0]
        ops[-1].results[0].name_hint = result.name_hint
        result.replace_all_uses_with(ops[-1].results[0])
        Rewriter.erase_op(self._op)

    def _scale(self, change: Change, factor: SSAValue) -> None:
        """Multiply the result by the factor."""
        result = self._op.results[0]
        rank = len(nn.shape_of(result))
        shaped = _along(factor, change.axis, rank) if change.axis >= 0 else None
        product = nn.BinaryOp(result, factor if shaped is None else shaped.result, "mul")
        made = [product] if shaped is None else [shaped, product]
        _insert(made, InsertPoint.after(self._op), self._op.location)
        result.replace_uses_with_if(product.result, lambda use: use.operation is not product)


def _along(vector: SSAValue, axis: int, rank: int) -> nn.ReshapeOp:
    """Return a vector along one axis of a tensor, ready to be broadcast."""
    shape = np.ones(rank, np.int64)
    shape[axis] = nn.shape_of(vector)[0]
    return nn.ReshapeOp(vector, [*map(int, shape)])
