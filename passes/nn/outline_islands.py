"""Outlining of nn operations from functions that mix them with other dialects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue, Use
from xdsl.passes import ModulePass

from ...dialects import nn
from ..free_names import free_name
from .embedding.contents import checked_contents, symbol_name
from .embedding.islands import Island, islands_between


class NNOutlineIslandsPass(ModulePass):
    """Move nn operations between operations of other dialects to networks of their own.

    Each island, connected nn operations that can run without a foreign operation in between,
    becomes a function with the attribute `nn.network`, and a `func.call` of it. Foreign operations
    keep their order, and functions of nn operations alone are left unchanged. Modules with networks
    that cannot be lowered are refused before anything changes.
    """

    name = "nn-outline-islands"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        contents = checked_contents(op)
        for mixed in contents.mixed:
            for network in _Outliner(mixed, contents.names).networks():
                op.body.block.insert_op_before(network, mixed)


class _Outliner:
    """Moves the islands of an operation to functions."""

    def __init__(self, mixed: Operation, names: set[str]) -> None:
        """Outline from one operation; `names` are the module's symbols, and new ones join them."""
        self.mixed, self.names = mixed, names

    def networks(self) -> Iterator[func.FuncOp]:
        """Replace the islands by calls; yield the called functions."""
        constants: list[nn.ConstantOp] = []
        for block in list(_blocks(self.mixed)):
            if not any(map(nn.is_operation, block.ops)):
                continue
            items = islands_between(block)
            constants += (op for op in block.ops if isinstance(op, nn.ConstantOp))
            for op in list(block.ops):
                op.detach()
            for item in items:
                if isinstance(item, Operation):
                    block.add_op(item)
                elif outputs := _outputs(item):
                    function, call = self._outline(item, outputs)
                    block.add_op(call)
                    yield function
                else:  # dead code
                    for op in reversed(item.ops):
                        op.erase()
        for constant in constants:
            if constant.parent is None and constant.result.first_use is None:
                constant.erase()

    def _outline(
        self, island: Island, outputs: Sequence[SSAValue]
    ) -> tuple[func.FuncOp, func.CallOp]:
        """Move an island to a function; return the function and its call."""
        name = free_name(f"{symbol_name(self.mixed) or 'network'}_nn", self.names)
        self.names.add(name)
        inputs = _inputs(island)
        call = func.CallOp(name, inputs, [value.type for value in outputs])
        call.location = island.ops[-1].location
        for result, value in zip(call.results, outputs, strict=True):
            result.name_hint = value.name_hint
            value.replace_uses_with_if(result, lambda use: _leaves(use, island))
        type_ = [value.type for value in inputs], [value.type for value in outputs]
        function = func.FuncOp(name, type_, Region(_body(island, inputs, outputs)), "private")
        function.location = call.location
        nn.mark_network(function)
        return function, call


def _body(island: Island, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Block:
    """Return the body of the function that an island moves to."""
    block = Block(arg_types=[value.type for value in inputs])
    inner: dict[SSAValue, SSAValue] = dict(zip(inputs, block.args, strict=True))
    for value, argument in zip(inputs, block.args, strict=True):
        argument.name_hint = value.name_hint
    inside = set(island.ops)
    for op in island.ops:
        for i, value in enumerate(op.operands):
            source = value.owner
            if isinstance(source, nn.ConstantOp) and source not in inside and value not in inner:
                constant = source.clone()
                constant.location = source.location
                constant.result.name_hint = value.name_hint
                block.add_op(constant)
                inner[value] = constant.result
            op.operands[i] = inner.get(value, value)
        block.add_op(op)
    block.add_op(func.ReturnOp(*outputs))
    return block


def _inputs(island: Island) -> list[SSAValue]:
    """Return the values that an island reads, without its own and constants."""
    inside = set(island.ops)
    read = (value for op in island.ops for value in op.operands)
    return [
        value
        for value in dict.fromkeys(read)
        if value.owner not in inside and not isinstance(value.owner, nn.ConstantOp)
    ]


def _outputs(island: Island) -> list[SSAValue]:
    """Return the values of an island that something outside reads."""
    values = (value for op in island.ops for value in op.results)
    return [value for value in values if any(_leaves(use, island) for use in value.uses)]


def _leaves(use: Use, island: Island) -> bool:
    """Return whether a value of an island leaves it for this use; islands copy constants."""
    is_copied = isinstance(island.ops[0], nn.ConstantOp) and nn.is_operation(use.operation)
    return use.operation not in island.ops and not is_copied


def _blocks(op: Operation) -> Iterator[Block]:
    """Yield the blocks inside of a foreign operation, but not those of nn operations."""
    for region in op.regions:
        for block in region.blocks:
            yield block
            for inner in block.ops:
                if not nn.is_operation(inner):
                    yield from _blocks(inner)
