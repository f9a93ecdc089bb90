"""Inlining of networks into networks that call them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...dialects import nn
from ...dialects.nn.limits import MAX_STEPS
from ...errors import CloptError
from .embedding.contents import checked_contents, foreign_part, has_plain_tensors, symbols_in

_Functions = dict[str, func.FuncOp]


class NNInlineCallsPass(ModulePass):
    """Replace calls of networks by their operations, in functions that are otherwise networks.

    A private network without remaining uses is removed. Functions with foreign operations and
    recursive functions keep their calls. Modules with networks that cannot be lowered are refused
    before anything changes.
    """

    name = "nn-inline-calls"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        networks = _networks(op)
        callers = [function for function in networks.values() if _calls(function)]
        if not callers:
            return
        checked_contents(op, callers)
        _check_sizes(networks)
        callees = {_callee(call): None for caller in callers for call in _calls(caller)}
        for caller in callers:
            for call in _calls(caller):
                _inline(call, networks[_callee(call)])
        remove_unused(op, [networks[name] for name in callees])


def _networks(module: ModuleOp) -> _Functions:
    """Return the functions that are networks once calls are inlined, callees before callers."""
    left = [
        op
        for op in module.ops
        if isinstance(op, func.FuncOp)
        and nn.is_network(op)
        and foreign_part(op, with_calls=True) is None
    ]
    networks: _Functions = {}

    def is_known(call: func.CallOp) -> bool:
        callee = networks.get(_callee(call))
        return callee is not None and has_plain_tensors(callee)

    while ready := [function for function in left if all(map(is_known, _calls(function)))]:
        networks |= {function.sym_name.data: function for function in ready}
        left = [function for function in left if function not in ready]
    return networks


def _check_sizes(networks: Mapping[str, func.FuncOp]) -> None:
    """Raise CloptError for a network that is too large when inlined; each call may double it."""
    sizes: dict[str, int] = {}
    for name, function in networks.items():
        sizes[name] = len(function.body.block.ops)
        sizes[name] += sum(sizes[_callee(call)] for call in _calls(function))
        if sizes[name] > MAX_STEPS:
            raise CloptError(
                f"@{name} has more than {MAX_STEPS} operations when its calls are inlined; call "
                "fewer or smaller networks."
            )


def _inline(call: func.CallOp, callee: func.FuncOp) -> None:
    """Replace a call by the operations of its callee, which contains no calls."""
    block = callee.body.block
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, call.arguments, strict=True))
    *ops, end = block.ops
    made = [op.clone(values) for op in ops]
    Rewriter.replace_op(call, made, [values.get(value, value) for value in end.operands])


def remove_unused(module: ModuleOp, callees: Sequence[func.FuncOp]) -> None:
    """Remove the private functions among `callees` that nothing uses."""
    callees = [callee for callee in callees if _is_private(callee)]
    if not callees:
        return
    named = {
        name
        for op in module.walk()
        for name in symbols_in((*op.attributes.values(), *op.properties.values()))
    }
    for callee in callees:
        if callee.sym_name.data not in named and not nn.wants_wrapper(callee):
            Rewriter.erase_op(callee)


def _is_private(function: func.FuncOp) -> bool:
    visibility = function.sym_visibility
    return visibility is not None and visibility.data == "private"


def _calls(function: func.FuncOp) -> list[func.CallOp]:
    return [op for op in function.body.block.ops if isinstance(op, func.CallOp)]


def _callee(call: func.CallOp) -> str:
    return call.callee.root_reference.data
